/** An edition with all that is known of it: its letters and who wanted them, its neighbours, and how it was made. */
import { BLOCKS, LANGUAGES } from '../../domain/choices.ts'
import type { LetterFile } from '../../model.ts'
import { composeAbout } from '../../report/archive/about.ts'
import type { AboutView } from '../../report/archive/pages.ts'
import { type BannerView, composeBanner } from '../../report/warnings-banner.ts'
import { createVoice, type Voice } from '../../report/words/locale-context.ts'
import type { Db } from '../../store/db/store.ts'
import { type EditionLetter, listEditionLetters } from '../../store/outbox/kept-messages.ts'
import { listMailOutages, nextTry } from '../../store/outbox/smtp-circuit.ts'
import { type Edition, findLastMailedEnd, readEdition } from '../../store/reports/issue.ts'
import {
  type EditionName,
  findNeighbours,
  type ListedEdition,
  listBeside,
  listEditionsOf,
} from '../../store/reports/issue-list.ts'
import { listSubscriptions, type Subscription } from '../../store/reports/preference.ts'
import { explainEdition } from '../archive/explain-issue.ts'
import { findRequest } from './recompute-issue.ts'
import { drawPictures } from './report-content.ts'

export interface KeptEdition {
  readonly edition: Edition
  readonly line: ListedEdition
  /** With the next try as it will be: of none while the mail server is away. */
  readonly letters: readonly EditionLetter[]
  /** By address, in lower case; of the whole report. */
  readonly wishes: ReadonlyMap<string, Subscription>
  readonly older: EditionName | null
  readonly newer: EditionName | null
  /** Of the same report and the same end: for other leads, or of the week. */
  readonly beside: readonly ListedEdition[]
  /** Whether it is one of those that `resend` takes. */
  readonly isLast: boolean
}

const DEFAULT_LOCALE = 'en-GB'

/** @returns null where there is none of that id */
export async function readKeptEdition(db: Db, id: string, now: Date): Promise<KeptEdition | null> {
  const edition = await readEdition(db, id)
  const [line] = edition === undefined ? [] : await listEditionsOf(db, [id])
  if (edition === undefined || line === undefined) return null
  const outages = await listMailOutages(db)
  const letters = await listEditionLetters(db, id)
  const wishes = await listSubscriptions(db, edition.report)
  const lastEnd = await findLastMailedEnd(db, edition.report, now.toISOString())
  return {
    ...{ edition, line, ...(await findNeighbours(db, line)) },
    letters: letters.map((one) => ({ ...one, nextAttemptAt: nextTry(one.nextAttemptAt, outages) })),
    wishes: new Map(wishes.map((one) => [one.address, one])),
    beside: await listBeside(db, line),
    isLast: edition.isMailed && edition.period.to === lastEnd,
  }
}

/** Null of one of an older program, which kept other figures. */
export async function readAbout(db: Db, edition: Edition): Promise<Omit<AboutView, 'files'> | null> {
  const { figures, renderedAt, programVersion: program } = edition
  if (program === null) return null
  const explained = explainEdition(await findRequest(db, edition), figures, renderedAt)
  return composeAbout({ figures, renderedAt, program, explained })
}

/** What stood above all of it, in English; null where nothing did. */
export function bannerOf(
  { figures, renderedAt, programVersion }: Edition,
  timeZone: string,
): BannerView | null {
  if (programVersion === null) return null
  const voice = createVoice(DEFAULT_LOCALE, timeZone, renderedAt)
  return composeBanner(figures, figures.failed, voice, { blocks: BLOCKS, notMade: [], resend: null })
}

/** The pictures of the edition as it is kept for nobody, which are drawn anew and come out the same. */
export async function picturesOf(edition: Edition): Promise<readonly LetterFile[]> {
  if (edition.programVersion === null) return []
  return drawPictures(edition.figures, voiceOf(edition))
}

/** In its own language and on the clock of its period. */
export function voiceOf({ html, period, renderedAt }: Edition): Voice {
  const [, lang = DEFAULT_LOCALE] = /<html lang="([\w-]+)"/.exec(html) ?? []
  const isKnown = LANGUAGES.some((language) => language === new Intl.Locale(lang).language)
  return createVoice(isKnown ? lang : DEFAULT_LOCALE, period.timeZone, renderedAt)
}
