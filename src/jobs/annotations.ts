/** Writes and removes annotations, which are notes about days (such as "campaign"). */
import { ANNOTATION_TEXT_MAX, type Annotation } from '../domain/insight.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { Store } from '../store/db/store.ts'
import { listPipelines } from '../store/figures/report-figures.ts'
import { deleteAnnotation, insertAnnotation } from '../store/insight/annotation.ts'

interface GivenAnnotation {
  /** `2026-11-13` or `2026-11-13..2026-11-15`. */
  readonly days: string
  readonly text: string
  readonly pipelineId: string | null
  readonly isLeftOut: boolean
  readonly writtenBy: string
}

/**
 * Checks and stores an annotation.
 * @throws LeadsheetError usage_invalid
 */
export async function annotate(store: Store, given: GivenAnnotation, now: Date): Promise<Annotation> {
  const { firstDay, lastDay } = parseDays(given.days)
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

function parseDays(days: string): Pick<Annotation, 'firstDay' | 'lastDay'> {
  const [firstDay = '', lastDay = firstDay, ...rest] = days.trim().split('..')
  if (!isDate(firstDay) || !isDate(lastDay) || rest.length > 0) {
    throw new LeadsheetError(
      'usage_invalid',
      `the day: found ${JSON.stringify(days)}, expected a date, or two with two dots between`,
      { hint: 'Write 2026-11-13, or 2026-11-13..2026-11-15 for several days.' },
    )
  }
  if (lastDay < firstDay) {
    throw new LeadsheetError('usage_invalid', `the days: found ${days}, expected the first day first`, {
      hint: `Write ${lastDay}..${firstDay}.`,
    })
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
