/** Editions: what a report of a period said, kept for ever. One edition a report and period. */
import { randomUUID } from 'node:crypto'
import type { DailyFigures, Instant, Period, Rendered } from '../model.ts'
import type { Db, Trx } from './open.ts'

export interface Edition extends Rendered {
  readonly id: string
  readonly report: string
  readonly period: Period
  readonly renderedAt: Instant
  readonly figures: DailyFigures
  /** Letters of it exist, so it stays as it is. */
  readonly isMailed: boolean
}

export async function findEdition(db: Db, report: string, period: Period): Promise<Edition | undefined> {
  const row = await db
    .selectFrom('report_edition')
    .where('report', '=', report)
    .where('period_from', '=', period.from)
    .where('period_to', '=', period.to)
    .selectAll()
    .executeTakeFirst()
  return (
    row && {
      id: row.id,
      report: row.report,
      period: { from: row.period_from, to: row.period_to, timeZone: row.time_zone },
      renderedAt: row.rendered_at,
      figures: JSON.parse(row.figures),
      subject: row.subject,
      html: row.html,
      text: row.text,
      isMailed: await hasLetters(db, row.id),
    }
  )
}

/**
 * Keeps an edition. An earlier one of the same period is replaced, unless a letter of it exists: what was
 * sent stays as it was sent, and the earlier one comes back.
 */
export async function saveEdition(trx: Trx, edition: Omit<Edition, 'id'>): Promise<Edition> {
  const earlier = await findEdition(trx, edition.report, edition.period)
  if (earlier?.isMailed) return earlier
  if (earlier) await trx.deleteFrom('report_edition').where('id', '=', earlier.id).execute()
  const id = earlier?.id ?? randomUUID()
  await trx
    .insertInto('report_edition')
    .values({
      id,
      report: edition.report,
      period_from: edition.period.from,
      period_to: edition.period.to,
      time_zone: edition.period.timeZone,
      rendered_at: edition.renderedAt,
      run_id: edition.figures.freshness.runId,
      figures: JSON.stringify(edition.figures),
      subject: edition.subject,
      html: edition.html,
      text: edition.text,
    })
    .execute()
  return { id, ...edition }
}

async function hasLetters(trx: Db, editionId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('delivery')
    .where('edition_id', '=', editionId)
    .select('message_id')
    .executeTakeFirst()
  return row !== undefined
}
