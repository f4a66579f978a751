/** The letters of a report and period, of all its editions, by who got them. */
import { sql } from 'kysely'
import type { Instant, Period } from '../model.ts'
import type { DeliveryRowState } from './delivery.ts'
import type { Db } from './open.ts'

export interface KeptLetter {
  readonly messageId: string
  readonly recipient: string
  readonly state: DeliveryRowState
  /** When the state was entered. */
  readonly stateAt: Instant
  /** What the mail server said last. */
  readonly response: string | null
}

/** In order of the recipients, of each the last one first. */
export async function listKeptLetters(
  db: Db,
  report: string,
  { from, to }: Pick<Period, 'from' | 'to'>,
): Promise<KeptLetter[]> {
  const { rows } = await sql<KeptLetter>`
    SELECT message_id AS "messageId", recipient, state, state_at AS "stateAt", response
    FROM report_edition JOIN delivery ON edition_id = id
    WHERE report = ${report} AND period_from = ${from} AND period_to = ${to}
    ORDER BY recipient, revision DESC, message_id`.execute(db)
  return rows
}
