/** The letters of editions, by who got them, without what they say. */
import { sql } from 'kysely'
import type { Instant, Period } from '../../model.ts'
import type { Db } from '../db/store.ts'
import { type Delivery, type DeliveryRowState, listDeliveries } from './delivery.ts'

export interface KeptLetter {
  readonly messageId: string
  readonly recipient: string
  readonly state: DeliveryRowState
  /** When the state was entered. */
  readonly stateAt: Instant
  /** What the mail server said last. */
  readonly response: string | null
}

/** In order of the recipients, of each the last one first; of all editions of a report and period. */
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

export interface EditionLetter extends Delivery {
  /** Of its words (BCP 47); null where the letter is no longer there. */
  readonly lang: string | null
}

/** In order of the recipients, of each the first one first. */
export async function listEditionLetters(db: Db, editionId: string): Promise<EditionLetter[]> {
  const { rows } = await sql<{ messageId: string; lang: string | null }>`
    SELECT message_id AS "messageId", head ->> '$.lang' AS lang
    FROM delivery JOIN letter USING (message_id) WHERE edition_id = ${editionId}`.execute(db)
  const langs = new Map(rows.map(({ messageId, lang }) => [messageId, lang]))
  const letters = await listDeliveries(db, editionId)
  return letters.map((letter) => ({ ...letter, lang: langs.get(letter.messageId) ?? null }))
}
