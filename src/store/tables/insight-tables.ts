/** The tables of annotations, counts by day, thresholds and published ranges, as Kysely types. */
import type { Generated } from 'kysely'

export interface InsightTables {
  daily_count: {
    time_zone: string
    figure: string
    dimension: string
    day: string
    member: string
    currency: string
    value: number
  }
  stall_threshold: { status: string; winners: number; days: number | null; counted_at: string }
  old_lead_count: {
    pipeline_id: string
    value_currency: string
    open: number
    old: number
    old_value: number
  }
  published_range: {
    time_zone: string
    kind: string
    figure: string
    pipelines: string
    currency: string
    time_window: string
    as_of_day: string
    first_day: string
    last_day: string
    low: number
    high: number
    actual: number | null
    issue_id: string
  }
  annotation: {
    id: Generated<number>
    first_day: string
    last_day: string
    text: string
    pipeline_id: string | null
    is_left_out: number
    written_at: string
    written_by: string
  }
  daily_count_span: { time_zone: string; first_day: string; last_day: string; counted_at: string }
}
