/**
 * Editions: what a report of a period said, kept for ever. One edition a report, period and variant, which is the
 * choice of leads that some of its readers have.
 */
import { randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { FailedSection, PeriodKind, ReportFigures } from '../../domain/figures.ts'
import type { Instant, Period, Rendered } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { LastTold } from '../figures/changes.ts'
import type { ReportEditionTable } from '../tables/tables.ts'

export interface EditionKey {
  readonly report: string
  readonly period: Period
  /** JSON of the filter of its readers; empty for all leads that the report is about. */
  readonly variant: string
}

export interface Edition extends EditionKey, Rendered {
  readonly id: string
  /** Just before its figures were read: what became known later is not in it. */
  readonly renderedAt: Instant
  readonly figures: ReportFigures
  /** Of the leadsheet that made it; null where that is not known. */
  readonly programVersion: string | null
  /** Why it was not sent at its time; null where it was, or was only looked at. */
  readonly notSent: string | null
  /** Letters of it exist, so it stays as it is. */
  readonly isMailed: boolean
}

/** One that is not in the store. */
export type UnsavedEdition = Omit<Edition, 'id' | 'isMailed' | 'notSent'>

/** Those editions of a report that follow one another: of the same leads, and of the same kind of period. */
export interface SeriesKey extends Pick<EditionKey, 'report' | 'variant'> {
  readonly kind: PeriodKind
}

/** What the next edition has to know of the last one that was sent. */
export interface SentEdition {
  readonly periodTo: Instant
  readonly renderedAt: Instant
  readonly figures: ReportFigures
}

export async function findEdition(
  db: Db,
  { report, period, variant }: EditionKey,
): Promise<Edition | undefined> {
  const row = await db
    .selectFrom('report_edition')
    .where('report', '=', report)
    .where('period_from', '=', period.from)
    .where('period_to', '=', period.to)
    .where('variant', '=', variant)
    .selectAll()
    .executeTakeFirst()
  return row && editionOf(row, await hasLetters(db, row.id))
}

export async function readEdition(db: Db, id: string): Promise<Edition | undefined> {
  const row = await db.selectFrom('report_edition').where('id', '=', id).selectAll().executeTakeFirst()
  return row && editionOf(row, await hasLetters(db, row.id))
}

/**
 * The editions of which letters exist and whose period ended last by an instant: one for each choice of leads, and that
 * of a week where it ended then too.
 */
export async function listLastMailed(db: Db, report: string, by: Instant): Promise<Edition[]> {
  const last = await findLastMailedEnd(db, report, by)
  if (last === null) return []
  const rows = await mailedEditions(db, report)
    .where('period_to', '=', last)
    .selectAll()
    .orderBy('rendered_at')
    .orderBy('variant')
    .execute()
  return rows.map((row) => editionOf(row, true))
}

/** The end of the last period that ended by an instant, of the editions of which letters exist. */
export async function findLastMailedEnd(db: Db, report: string, by: Instant): Promise<Instant | null> {
  const row = await mailedEditions(db, report)
    .where('period_to', '<=', by)
    .select('period_to')
    .orderBy('period_to', 'desc')
    .executeTakeFirst()
  return row?.period_to ?? null
}

/** What could not be read for the edition of a report that was mailed last. */
export async function listLastFailed(db: Db, report: string): Promise<readonly FailedSection[]> {
  const row = await db
    .selectFrom('report_edition')
    .where('report', '=', report)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('delivery').whereRef('edition_id', '=', 'report_edition.id').select('message_id')),
    )
    .orderBy('period_from', 'desc')
    .limit(1)
    .select(sql<string | null>`figures ->> '$.failed'`.as('failed'))
    .executeTakeFirst()
  // Older programs kept other figures.
  return row?.failed ? JSON.parse(row.failed) : []
}

/** The end of the last period of a series that ended before an instant and of which letters exist. */
export async function findLastSentEnd(db: Db, key: SeriesKey, before: Instant): Promise<Instant | null> {
  const row = await sentEditions(db, key, before).select('period_to').executeTakeFirst()
  return row?.period_to ?? null
}

/**
 * The last edition of a series whose period ended by an instant and of which letters exist.
 * @param madeBefore only of those that there were then
 */
export async function findLastSent(
  db: Db,
  key: SeriesKey,
  by: Instant,
  madeBefore: Instant | null = null,
): Promise<SentEdition | null> {
  const sent = sentEditions(db, key, by, '<=')
  const row = await (madeBefore === null ? sent : sent.where('rendered_at', '<', madeBefore))
    // Older programs kept other figures.
    .where('program_version', 'is not', null)
    .select(['period_to', 'rendered_at', 'figures'])
    .executeTakeFirst()
  if (!row) return null
  return { periodTo: row.period_to, renderedAt: row.rendered_at, figures: figuresOf(row.figures) }
}

/**
 * Up to where an edition has told of changes. Where these failed, the next one tells them: from the beginning, since
 * nobody knows how much of it was known when.
 */
export function toldUpTo({ periodTo, renderedAt, figures }: SentEdition): LastTold {
  const hasFailed = figures.failed.some(({ block }) => block === 'changes')
  const { since } = figures.changes
  return hasFailed ? { at: since, knownAt: since } : { at: periodTo, knownAt: renderedAt }
}

/**
 * Keeps an edition. An earlier one of the same key is replaced, unless a letter of it exists: what was sent stays as
 * it was sent, and the earlier one comes back. Why it was not sent stays too.
 */
export async function saveEdition(trx: Trx, edition: UnsavedEdition): Promise<Edition> {
  const earlier = await findEdition(trx, edition)
  if (earlier?.isMailed) return earlier
  if (earlier) await trx.deleteFrom('report_edition').where('id', '=', earlier.id).execute()
  const id = earlier?.id ?? randomUUID()
  const notSent = earlier?.notSent ?? null
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
      kind: edition.figures.kind,
      variant: edition.variant,
      not_sent: notSent,
      program_version: edition.programVersion,
    })
    .execute()
  return { id, ...edition, notSent, isMailed: false }
}

/** Whether a report of a period that ended within a span went out, or was not worth it: to whomever, of any leads. */
export async function hasGoneOut(
  db: Db,
  report: string,
  { from, to }: { readonly from: Instant; readonly to: Instant },
): Promise<boolean> {
  const row = await db
    .selectFrom('report_edition')
    .where('report', '=', report)
    .where('period_to', '>=', from)
    .where('period_to', '<', to)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('not_sent', 'is not', null),
        exists(selectFrom('delivery').whereRef('edition_id', '=', 'report_edition.id').select('message_id')),
      ]),
    )
    .select('id')
    .executeTakeFirst()
  return row !== undefined
}

/** @param reason null where it is sent after all */
export async function noteNotSent(trx: Trx, id: string, reason: string | null): Promise<void> {
  await trx.updateTable('report_edition').where('id', '=', id).set({ not_sent: reason }).execute()
}

function mailedEditions(db: Db, report: string) {
  return db
    .selectFrom('report_edition')
    .where('report', '=', report)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('delivery').whereRef('edition_id', '=', 'report_edition.id').select('message_id')),
    )
}

function sentEditions(
  db: Db,
  { report, variant, kind }: SeriesKey,
  end: Instant,
  comparison: '<' | '<=' = '<',
) {
  return db
    .selectFrom('report_edition')
    .where('report', '=', report)
    .where('variant', '=', variant)
    .where('kind', '=', kind)
    .where('period_to', comparison, end)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('delivery').whereRef('edition_id', '=', 'report_edition.id').select('message_id')),
    )
    .orderBy('period_to', 'desc')
    .limit(1)
}

async function hasLetters(trx: Db, editionId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('delivery')
    .where('edition_id', '=', editionId)
    .select('message_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Editions of before these were told have neither failures nor warnings. */
function figuresOf(json: string): ReportFigures {
  const figures = JSON.parse(json)
  const { freshness = {}, failed = [], warnings = [] } = figures
  const { statsAsOf = null, agentsAsOf = null } = freshness
  return { ...figures, freshness: { ...freshness, statsAsOf, agentsAsOf }, failed, warnings }
}

function editionOf(row: Selectable<ReportEditionTable>, isMailed: boolean): Edition {
  return {
    id: row.id,
    report: row.report,
    period: { from: row.period_from, to: row.period_to, timeZone: row.time_zone },
    variant: row.variant,
    renderedAt: row.rendered_at,
    figures: figuresOf(row.figures),
    programVersion: row.program_version,
    notSent: row.not_sent,
    subject: row.subject,
    html: row.html,
    text: row.text,
    isMailed,
  }
}
