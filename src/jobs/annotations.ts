/** Writes and removes annotations, which are notes about days (such as "campaign"). */
import { ANNOTATION_TEXT_MAX, type Annotation } from '../domain/insight.ts'
import { dayBefore, localDates } from '../domain/period.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { Store } from '../store/db/store.ts'
import { listPipelines } from '../store/figures/report-figures.ts'
import { deleteAnnotation, insertAnnotation } from '../store/insight/annotation.ts'
import { DAY_MS } from '../time.ts'

interface GivenAnnotation {
  /** `2026-11-13` or `2026-11-13..2026-11-15`. */
  readonly days: string
  readonly text: string
  readonly pipelineId: string | null
  readonly isLeftOut: boolean
  readonly writtenBy: string
}

/** In days: a later day is a typing mistake. */
const AHEAD_MAX = 366
/** In days: if more were left out, too few would remain to learn from. */
const DAYS_MAX = 92

/**
 * Checks and stores an annotation.
 * @param timeZone the time zone that decides which day is today
 * @throws LeadsheetError usage_invalid
 */
export async function annotate(
  store: Store,
  given: GivenAnnotation,
  { now, timeZone }: { readonly now: Date; readonly timeZone: string },
): Promise<Annotation> {
  const { firstDay, lastDay } = parseDays(given.days, now, timeZone)
  const text = given.text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  if (text === '' || text.length > ANNOTATION_TEXT_MAX) {
    const found = text === '' ? 'nothing' : `${text.length} characters`
    throw new LeadsheetError(
      'usage_invalid',
      `the text: found ${found}, expected 1 to ${ANNOTATION_TEXT_MAX} characters`,
      { hint: 'Write what is known of the day in a few words, such as "campaign".' },
    )
  }
  const { pipelineId, isLeftOut, writtenBy } = given
  if (pipelineId !== null) await requirePipeline(store, pipelineId)
  const writtenAt = now.toISOString()
  return store.write((trx) =>
    insertAnnotation(trx, { firstDay, lastDay, text, pipelineId, isLeftOut, writtenAt, writtenBy }),
  )
}

/**
 * Removes an annotation. The next report learns from the annotated days again.
 * @throws LeadsheetError usage_invalid if no annotation has this number
 */
export async function removeAnnotation(store: Store, id: number): Promise<Annotation> {
  const removed = await store.write((trx) => deleteAnnotation(trx, id))
  if (removed !== undefined) return removed
  throw new LeadsheetError('usage_invalid', `There is no annotation ${id}`, {
    hint: `${shellCommand('annotate')} lists them.`,
  })
}

function parseDays(days: string, now: Date, timeZone: string): Pick<Annotation, 'firstDay' | 'lastDay'> {
  const [firstDay = '', lastDay = firstDay, ...rest] = days.trim().split('..')
  if (!isDate(firstDay) || !isDate(lastDay) || rest.length > 0) {
    throw new LeadsheetError(
      'usage_invalid',
      `the day: found ${JSON.stringify(days)}, expected a date, or two with two dots between`,
      { hint: 'Write 2026-11-13, or 2026-11-13..2026-11-15 for several days.' },
    )
  }
  const [first, last] = [Date.parse(firstDay), Date.parse(lastDay)]
  if (last < first) {
    throw new LeadsheetError('usage_invalid', `the days: found ${days}, expected the first day first`, {
      hint: `Write ${lastDay}..${firstDay}.`,
    })
  }
  if ((last - first) / DAY_MS >= DAYS_MAX) {
    const found = (last - first) / DAY_MS + 1
    throw new LeadsheetError('usage_invalid', `the days: found ${found}, expected at most ${DAYS_MAX}`, {
      hint: 'Annotate the days on which something was different; a lasting change is learned by itself.',
    })
  }
  const yesterday = localDates(dayBefore(now, timeZone))
  if (last > Date.parse(yesterday) + (AHEAD_MAX + 1) * DAY_MS) {
    throw new LeadsheetError(
      'usage_invalid',
      `the day: found ${lastDay}, expected at most ${AHEAD_MAX} days from today`,
      { hint: 'Check the year.' },
    )
  }
  return { firstDay, lastDay }
}

/** Returns whether the text is a date that exists. `Date.parse` alone reads 30 February as 2 March. */
function isDate(text: string): boolean {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text)
}

async function requirePipeline({ db }: Pick<Store, 'db'>, id: string): Promise<void> {
  const ids = (await listPipelines(db)).map((pipeline) => pipeline.id)
  if (ids.includes(id)) return
  throw new LeadsheetError('usage_invalid', `There is no pipeline ${JSON.stringify(id)} in the local copy`, {
    hint: `There are: ${ids.slice(0, 20).join(', ') || 'none'}.`,
  })
}
