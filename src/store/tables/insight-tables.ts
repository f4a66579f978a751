/** The tables of what reports expect and claim, as Kysely types. */

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
  daily_count_span: { time_zone: string; first_day: string; last_day: string; counted_at: string }
}
