/**
 * Computes the thresholds: the time in each stage, and the whole age, that only few won leads exceeded. Also
 * counts the open leads that are older than the threshold for the age. Because both tasks read all leads, the
 * results are stored and renewed about once a day.
 */
import type { Instant } from '../../domain/model.ts'
import { insertRows } from '../db/rows.ts'
import type { Db, Store } from '../db/store.ts'
import { runQuery } from '../figures/query.ts'
import type { Row } from '../tables/tables.ts'

/** The threshold of a stage is chosen so that this share of won leads stayed longer in the stage. */
export const STAY_SHARE = 0.05
/** Only this share of won leads were older when won. An older open lead counts as lost. */
export const AGE_SHARE = 0.01
/** The minimum number of stays in a stage that is needed for a threshold of the stage. */
const STAYS_MIN = 60
/** The minimum number of won leads that is needed for a threshold for the age. */
const WINNERS_MIN = 300
/** The first lead must be this many times as old as a threshold, or only quick wins would count. */
const KNOWN_TIMES = 3
/** Only leads that were won within this number of days count. */
const WINNERS_DAYS = 365
const COUNTED_EVERY_MS = 20 * 3_600_000
const DAY_MS = 86_400_000

/** The threshold for the whole age of a lead has this `status` in the table `stall_threshold`. */
const WHOLE_AGE = ''

export interface StallThreshold {
  /** The stays from which the threshold was computed; for the age, the won leads. */
  readonly winners: number
  /** The threshold in days; null if too few leads were won, or if leads are known for too short a time. */
  readonly days: number | null
}

interface OldLeads {
  readonly pipelineId: string
  /** ISO 4217; empty for leads without a value. */
  readonly currency: string
  readonly open: number
  readonly old: number
  /** The total value of these older leads. */
  readonly value: number
}

/** Does nothing if the last count is less than 20 hours old. */
export async function refreshStallThresholds(store: Pick<Store, 'db' | 'write'>, now: Date): Promise<void> {
  const known = await store.db
    .selectFrom('stall_threshold')
    .where('status', '=', WHOLE_AGE)
    .select('counted_at')
    .executeTakeFirst()
  const isFresh = known !== undefined && now.getTime() - Date.parse(known.counted_at) < COUNTED_EVERY_MS
  if (isFresh) return
  const counted_at = now.toISOString()
  const rows = await countThresholds(store.db, now)
  const age = rows.find(({ status }) => status === WHOLE_AGE)?.days ?? null
  const old =
    age === null ? [] : await countOld(store.db, new Date(now.getTime() - age * DAY_MS).toISOString())
  await store.write(async (trx) => {
    await trx.deleteFrom('stall_threshold').execute()
    await trx.deleteFrom('old_lead_count').execute()
    const thresholds = rows.map((row) => ({ ...row, counted_at }))
    await insertRows(trx, 'stall_threshold', thresholds)
    await insertRows(trx, 'old_lead_count', old)
  })
}

interface Threshold extends StallThreshold {
  readonly status: string
}

/** From the leads won within a year before a time. The threshold of the age comes first. */
async function countThresholds(db: Db, at: Date): Promise<Threshold[]> {
  const counted = await runQuery<Threshold>(db, THRESHOLDS, {
    won_since: new Date(at.getTime() - WINNERS_DAYS * DAY_MS).toISOString(),
    won_before: at.toISOString(),
  })
  const { first } = await db
    .selectFrom('lead')
    .select(({ fn }) => fn.min('created_at').as('first'))
    .executeTakeFirstOrThrow()
  const knownDays = first === null ? 0 : (at.getTime() - Date.parse(first)) / DAY_MS
  const rows = counted.map((row) => ({
    ...row,
    days: row.days !== null && knownDays < KNOWN_TIMES * row.days ? null : row.days,
  }))
  const whole = { status: WHOLE_AGE, winners: 0, days: null }
  return rows.some(({ status }) => status === WHOLE_AGE) ? rows : [whole, ...rows]
}

export async function readStallThresholds(db: Db): Promise<ReadonlyMap<string, StallThreshold>> {
  const rows = await db
    .selectFrom('stall_threshold')
    .where('status', '<>', WHOLE_AGE)
    .select(['status', 'winners', 'days'])
    .execute()
  return new Map(rows.map(({ status, ...threshold }) => [status, threshold]))
}

/** Returns null if nothing has been counted yet. */
export async function readOldLeads(
  db: Db,
): Promise<{ age: StallThreshold; countedAt: Instant; leads: OldLeads[] } | null> {
  const whole = await db
    .selectFrom('stall_threshold')
    .where('status', '=', WHOLE_AGE)
    .selectAll()
    .executeTakeFirst()
  if (whole === undefined) return null
  const leads = await db
    .selectFrom('old_lead_count')
    .select(['pipeline_id as pipelineId', 'value_currency as currency', 'open', 'old', 'old_value as value'])
    .orderBy('pipeline_id')
    .orderBy('value_currency')
    .execute()
  const { winners, days, counted_at: countedAt } = whole
  return { age: { winners, days }, countedAt, leads }
}

async function countOld(db: Db, created_before: Instant): Promise<Row<'old_lead_count'>[]> {
  return runQuery(
    db,
    `SELECT pipeline_id, iif(value_amount IS NULL, '', ifnull(value_currency, '')) AS value_currency,
      count(*) AS open, count(*) FILTER (WHERE created_at < :created_before) AS old,
      coalesce(sum(value_amount) FILTER (WHERE created_at < :created_before), 0) AS old_value
    FROM lead LEFT JOIN stage USING (status)
    WHERE deleted_at IS NULL AND coalesce(outcome, 'open') = 'open' GROUP BY 1, 2 ORDER BY 1, 2`,
    { created_before },
  )
}

/** SQL for a position among `rows` sorted values, which at most the given share comes after. */
const placeOf = (share: number): string => `CAST(ceil((1 - ${share}) * rows) AS bigint)`

const STAYS = `WITH winner AS (
    SELECT lead.id, lead.created_at, lead.status_changed_at FROM stage CROSS JOIN lead
    WHERE outcome = 'won' AND lead.status = stage.status AND status_changed_at >= :won_since AND status_changed_at < :won_before
      AND deleted_at IS NULL),
  stay AS (
    SELECT '${WHOLE_AGE}' AS status, julianday(status_changed_at) - julianday(created_at) AS days FROM winner
    WHERE status_changed_at > created_at
    UNION ALL
    SELECT from_status, days_before FROM winner JOIN stage_move ON stage_move.lead_id = winner.id
    LEFT JOIN stage ON stage.status = from_status
    WHERE days_before IS NOT NULL AND coalesce(outcome, 'open') = 'open')`

const THRESHOLDS = `${STAYS},
  placed AS (
    SELECT status, days, row_number() OVER (PARTITION BY status ORDER BY days) AS place,
      count(*) OVER (PARTITION BY status) AS rows FROM stay)
  SELECT status, max(rows) AS winners, round(max(CASE WHEN rows >= iif(status = '', ${WINNERS_MIN}, ${STAYS_MIN})
      AND place = iif(status = '', ${placeOf(AGE_SHARE)}, ${placeOf(STAY_SHARE)}) THEN days END), 2) AS days
  FROM placed GROUP BY status ORDER BY status`
