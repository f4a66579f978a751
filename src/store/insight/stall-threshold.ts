/**
 * Counts how long the won leads stayed in each stage and took in all, and which open leads are older than
 * that. Both counts read all leads, so they are stored, and made anew about once a day.
 */
import type { Instant } from '../../domain/model.ts'
import type { Db, Store } from '../db/store.ts'
import { runQuery } from '../figures/query.ts'

/** The share of later winners that stayed longer in a stage than its threshold. */
export const STAY_SHARE = 0.05
/** The share of winners that were won only after the age from which a lead counts as lost. */
export const AGE_SHARE = 0.01
/** The least number of stays, and of winners, from which a threshold is taken. */
const STAYS_MIN = 60
const WINNERS_MIN = 300
/**
 * The first lead must be at least this many times as old as a threshold, because all leads of a short time are won
 * soon.
 */
const KNOWN_TIMES = 3
/** The number of days back from now in which the counted winners were won. */
const WINNERS_DAYS = 365
const COUNTED_EVERY_MS = 20 * 3_600_000
const DAY_MS = 86_400_000
/** The number of days after a test date whose winners count as its later winners. */
export const NEXT_DAYS = 30

/** The row of `stall_threshold` for the age of a lead instead of its stay in a stage. */
export const WHOLE_AGE = ''

export interface StallThreshold {
  /** The number of stays of later winners, or of winners, that it was taken from. */
  readonly winners: number
  /** Days; null where there are too few winners, or where leads are known for too short a time. */
  readonly days: number | null
}

interface OldLeads {
  readonly pipelineId: string
  /** ISO 4217; empty for leads without a value. */
  readonly currency: string
  /** All open leads, and the open leads that are older than the age, with their value. */
  readonly open: number
  readonly old: number
  readonly value: number
}

/**
 * Counts the thresholds and the old leads again if the last count is more than about a day old.
 * @param findDistrusted finds the stages whose thresholds came true too rarely, and the empty text for the age
 */
export async function refreshStallThresholds(
  store: Pick<Store, 'db' | 'write'>,
  now: Date,
  findDistrusted: () => Promise<ReadonlySet<string>>,
): Promise<void> {
  const known = await store.db
    .selectFrom('stall_threshold')
    .where('status', '=', WHOLE_AGE)
    .select('counted_at')
    .executeTakeFirst()
  const isFresh = known !== undefined && now.getTime() - Date.parse(known.counted_at) < COUNTED_EVERY_MS
  if (isFresh) return
  const counted_at = now.toISOString()
  const distrusted = await findDistrusted()
  const rows = (await countThresholds(store.db, now)).map((row) =>
    distrusted.has(row.status) ? { ...row, days: null } : row,
  )
  const age = rows.find(({ status }) => status === WHOLE_AGE)?.days ?? null
  const old =
    age === null ? [] : await countOld(store.db, new Date(now.getTime() - age * DAY_MS).toISOString())
  await store.write(async (trx) => {
    await trx.deleteFrom('stall_threshold').execute()
    await trx.deleteFrom('old_lead_count').execute()
    await trx
      .insertInto('stall_threshold')
      .values(rows.map((row) => ({ ...row, counted_at })))
      .execute()
    const counts = old.map(({ pipelineId, currency, ...row }) => ({
      pipeline_id: pipelineId,
      value_currency: currency,
      open: row.open,
      old: row.old,
      old_value: row.value,
    }))
    if (counts.length > 0) await trx.insertInto('old_lead_count').values(counts).execute()
  })
}

/** A threshold of a stage, or of the age. */
interface Threshold extends StallThreshold {
  readonly status: string
}

/** Counts the thresholds of the leads that were won within a year before a time, first that of the age. */
export async function countThresholds(db: Db, at: Date): Promise<Threshold[]> {
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

/** Counts how many of the leads that were won in the days after a time exceeded the thresholds. */
export async function countLonger(
  db: Db,
  at: Date,
  thresholds: readonly Threshold[],
): Promise<{ status: string; winners: number; longer: number }[]> {
  return runQuery(db, LONGER, {
    won_since: at.toISOString(),
    won_before: new Date(at.getTime() + NEXT_DAYS * DAY_MS).toISOString(),
    limits: JSON.stringify(thresholds.map(({ status, days }) => [status, days])),
  })
}

/** Reads the threshold of each stage. */
export async function readStallThresholds(db: Db): Promise<ReadonlyMap<string, StallThreshold>> {
  const rows = await db
    .selectFrom('stall_threshold')
    .where('status', '<>', WHOLE_AGE)
    .select(['status', 'winners', 'days'])
    .execute()
  return new Map(rows.map(({ status, ...threshold }) => [status, threshold]))
}

/** Reads the age above which an open lead counts as lost, and how many open leads are older. */
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

async function countOld(db: Db, created_before: Instant): Promise<OldLeads[]> {
  return runQuery<OldLeads>(
    db,
    `SELECT pipeline_id AS "pipelineId", iif(value_amount IS NULL, '', ifnull(value_currency, '')) AS currency,
      count(*) AS open, count(*) FILTER (WHERE created_at < :created_before) AS old,
      coalesce(sum(value_amount) FILTER (WHERE created_at < :created_before), 0) AS value
    FROM lead LEFT JOIN stage USING (status)
    WHERE deleted_at IS NULL AND coalesce(outcome, 'open') = 'open' GROUP BY 1, 2 ORDER BY 1, 2`,
    { created_before },
  )
}

/** The SQL of the place, among `rows` values in order, of the smallest value that at most the given share exceed. */
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

const LONGER = `${STAYS}
  SELECT stay.status, count(*) AS winners, count(*) FILTER (WHERE stay.days > stage_limit.days) AS longer
  FROM (SELECT value ->> 0 AS status, CAST(value ->> 1 AS double precision) AS days FROM json_each(:limits)) AS stage_limit
  JOIN stay ON stay.status = stage_limit.status GROUP BY stay.status`
