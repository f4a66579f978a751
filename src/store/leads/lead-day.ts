/**
 * Keeps `lead_day`: how many leads entered and left each state on each day. Whatever changes the states of leads
 * takes them out before the change and adds them again after it, in the same transaction.
 */
import { sql } from 'kysely'
import { isAmong } from '../db/rows.ts'
import { statement } from '../db/statement.ts'
import type { Trx } from '../db/store.ts'
import { STATES_READ } from './level-change.ts'
import { setReached } from './reached.ts'

const KEY = 'pipeline_id, status, value_currency, is_known, reached, day'

const COLUMNS = 'day, pipeline_id, status, value_currency, is_known, reached, leads, entered, value_amount'
const COUNT_ENTERED = 'count(*) FILTER (WHERE leads > 0)'
const ENTERED = sql.raw(COUNT_ENTERED)
const CHANGES_BY_DAY = 'SELECT substr(at, 1, 10), pipeline_id, status, value_currency, is_known, reached,'

/**
 * Runs a change of the states of leads, and counts these leads anew.
 * @param ids the leads whose states may change; those that are not stored yet too
 */
export async function withLeadDays<T>(
  trx: Trx,
  ids: readonly string[],
  change: () => Promise<T>,
): Promise<T> {
  const wanted = JSON.stringify(ids)
  if (ids.length > 0) await addChanges(trx, { ids: wanted, sign: -1 })
  const result = await change()
  await setReached(trx, ids)
  if (ids.length > 0) await addChanges(trx, { ids: wanted, sign: 1 })
  return result
}

const addChanges = statement((db, { ids, sign }: { ids: string; sign: number }) =>
  sql`INSERT INTO lead_day (${sql.raw(COLUMNS)})
    ${sql.raw(CHANGES_BY_DAY)} ${sign} * sum(leads), ${sign} * ${ENTERED}, ${sign} * sum(value_amount)
    FROM (WITH read_state AS MATERIALIZED (
      ${sql.raw(STATES_READ.stored)} AND ${isAmong(db, 'state.lead_id', ids)}
      UNION ALL ${sql.raw(STATES_READ.only)} AND ${isAmong(db, 'state.id', ids)})
      ${sql.raw(STATES_READ.changes)}) AS level_change WHERE true GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (${sql.raw(KEY)}) DO UPDATE
      SET leads = lead_day.leads + excluded.leads, entered = lead_day.entered + excluded.entered,
        value_amount = lead_day.value_amount + excluded.value_amount`.compile(db),
)

/**
 * Counts all leads anew in one statement. A first load runs it at its end, and a change of the stages of the
 * funnel, because `reached` follows from them.
 */
export const COUNT_ALL_DAYS = `INSERT INTO lead_day (${COLUMNS})
  ${CHANGES_BY_DAY} sum(leads), ${COUNT_ENTERED}, sum(value_amount)
  FROM (WITH read_state AS MATERIALIZED (${STATES_READ.stored} UNION ALL ${STATES_READ.only})
    ${STATES_READ.changes}) AS level_change WHERE true GROUP BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (${KEY}) DO UPDATE SET leads = excluded.leads, entered = excluded.entered,
    value_amount = excluded.value_amount`
