/** Counts the statistics of a pipeline anew on every request, and stores pipelines. */
import { sql } from 'kysely'
import type { LeadStatus } from '../../contract/lead.ts'
import { FUNNEL_STATUSES, STAGES } from '../../contract/lead.ts'
import type { WirePipeline, WirePipelineStats } from '../../contract/pipeline.ts'
import { criteriaSchema } from '../../contract/pipeline.ts'
import { HOUR_MS } from '../simulation/calendar.ts'
import type { PipelineRow, ServiceDatabase } from './database.ts'
import { instantOf } from './database.ts'

type Figures = Pick<WirePipelineStats, 'totals' | 'stages' | 'open_value' | 'won_value' | 'win_rate'>

/**
 * Counts the statistics of a pipeline.
 * @param from only leads created at or after this instant are counted; null for no limit
 * @param to only leads created before this instant are counted; null for no limit
 */
export async function readPipelineStats(
  db: ServiceDatabase,
  pipelineId: string,
  from: number | null,
  to: number | null,
): Promise<Figures> {
  const cohort = sql`
    select id, status, value_amount from lead where pipeline_id = ${pipelineId}
    and (${from} is null or created_at >= ${from}) and (${to} is null or created_at < ${to})`
  const current = await readCurrent(db, cohort)
  const reached = await readReached(db, cohort)
  const medians = await readMedianHours(db, cohort)
  const count = (status: LeadStatus): number => current.get(status)?.leads ?? 0
  const open = STAGES.filter((stage) => stage.outcome === 'open').map((stage) => stage.status)
  const decided = count('won') + count('lost')
  return {
    totals: {
      leads: sum([...current.values()].map((row) => row.leads)),
      open: sum(open.map(count)),
      won: count('won'),
      lost: count('lost'),
      disqualified: count('disqualified'),
    },
    stages: FUNNEL_STATUSES.map((stage, index) => ({
      stage,
      current: count(stage),
      reached: reached[index] ?? 0,
      conversion: index === 0 ? null : ratio(reached[index] ?? 0, reached[index - 1] ?? 0),
      median_hours: medians.get(stage) ?? null,
    })),
    open_value: usd(sum(open.map((status) => current.get(status)?.amount ?? 0))),
    won_value: usd(current.get('won')?.amount ?? 0),
    win_rate: ratio(count('won'), decided),
  }
}

type Cohort = ReturnType<typeof sql>

async function readCurrent(
  db: ServiceDatabase,
  cohort: Cohort,
): Promise<ReadonlyMap<LeadStatus, { readonly leads: number; readonly amount: number }>> {
  const { rows } = await sql<{ status: LeadStatus; leads: number; amount: number }>`
    select status, count(*) as leads, sum(ifnull(value_amount, 0)) as amount from (${cohort}) group by status
  `.execute(db)
  return new Map(rows.map((row) => [row.status, row]))
}

/** Counts, for each stage of the funnel, the leads that ever reached the stage or a later stage. */
async function readReached(db: ServiceDatabase, cohort: Cohort): Promise<readonly number[]> {
  const positions = JSON.stringify(FUNNEL_STATUSES)
  const { rows } = await sql<{ furthest: number; leads: number }>`
    select furthest, count(*) as leads from (
      select max(funnel.key) as furthest
      from (${cohort}) cohort
      join activity on activity.lead_id = cohort.id
      join json_each(${positions}) funnel on funnel.value = activity.to_status
      group by cohort.id
    ) group by furthest
  `.execute(db)
  return FUNNEL_STATUSES.map((_, index) =>
    sum(rows.filter((row) => row.furthest >= index).map((row) => row.leads)),
  )
}

/** Reads the median time, in hours, that leads spend in each stage. Leads still in the stage are left out. */
async function readMedianHours(
  db: ServiceDatabase,
  cohort: Cohort,
): Promise<ReadonlyMap<LeadStatus, number>> {
  const { rows } = await sql<{ stage: LeadStatus; median: number }>`
    with passage as (
      select to_status as stage, lead(at) over (partition by lead_id order by activity.id) - at as duration
      from activity join (${cohort}) cohort on cohort.id = lead_id
      where to_status is not null
    ), ranked as (
      select stage, duration,
        row_number() over (partition by stage order by duration) as position,
        count(*) over (partition by stage) as passages
      from passage where duration is not null
    )
    select stage, avg(duration) as median from ranked
    where position in ((passages + 1) / 2, (passages + 2) / 2)
    group by stage
  `.execute(db)
  return new Map(rows.map((row) => [row.stage, Math.round((row.median / HOUR_MS) * 100) / 100]))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000
}

function usd(amount: number): Figures['open_value'] {
  return { amount, currency: 'USD' }
}

export function listPipelines(db: ServiceDatabase, status: PipelineRow['status']): Promise<PipelineRow[]> {
  return db.selectFrom('pipeline').selectAll().where('status', '=', status).orderBy('id').execute()
}

export function findPipeline(db: ServiceDatabase, id: string): Promise<PipelineRow | undefined> {
  return db.selectFrom('pipeline').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function insertPipeline(db: ServiceDatabase, pipeline: PipelineRow): Promise<void> {
  await db.insertInto('pipeline').values(pipeline).execute()
}

export function toWirePipeline(row: PipelineRow): WirePipeline {
  return {
    id: row.id,
    name: row.name,
    criteria: criteriaSchema.parse(JSON.parse(row.criteria)),
    status: row.status,
    created_at: instantOf(row.created_at),
    updated_at: instantOf(row.updated_at),
  }
}
