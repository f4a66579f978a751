/**
 * What stands above a report, whatever blocks its reader has: that its data are old or odd, that it comes late or again,
 * that parts of it are missing. Nothing where all is as it should be.
 */
import type { FailedSection, LateWarning, ReportFigures, UnusualWarning } from '../domain/figures.ts'
import { explainExtent, explainFailure } from './blocks/freshness/view.ts'
import type { ReportContext } from './context.ts'
import { isDoubtful, listOld } from './coverage.ts'
import { listMissed, nameSection } from './failed-blocks.ts'
import { oneLine } from './words/clean-text.ts'
import type { Voice } from './words/locale-context.ts'

export interface BannerView {
  /** Whether numbers are not to be relied on; else only something is to be known about the mail. */
  readonly isWarning: boolean
  readonly title: string
  readonly lines: readonly string[]
}

type BannerContext = Pick<ReportContext, 'blocks' | 'notMade' | 'resend'>

/** So many parts are named. */
const NAMED = 4
const REASON_LENGTH = 120

/**
 * @param failed all that could not be made, with what failed only in the making of this mail
 * @returns null where there is nothing to say
 */
export function composeBanner(
  figures: ReportFigures,
  failed: readonly FailedSection[],
  voice: Voice,
  context: BannerContext,
): BannerView | null {
  const warnings = [
    ...tellAge(figures, voice, context),
    ...tellTimes(figures, voice),
    ...figures.warnings.filter((each) => each.kind === 'unusual').map((each) => tellUnusual(each, voice)),
    ...tellFailed(figures, failed, voice, context),
  ]
  const notes = [
    ...figures.warnings.filter((each) => each.kind === 'late').map((each) => tellLate(each, voice)),
    ...tellResend(voice, context),
  ]
  const lines = [...warnings, ...notes]
  if (lines.length === 0) return null
  return { isWarning: warnings.length > 0, title: voice.words.banner.title, lines }
}

/** What the subject begins with, so that also those who read no further know: empty where the numbers stand. */
export function markOf({ freshness, warnings }: ReportFigures, { words }: Voice): string {
  if (freshness.dataAsOf !== null && !freshness.coversPeriod) return `[${words.banner.stale}]`
  return warnings.some(({ kind }) => kind === 'unusual') ? `[${words.banner.unusual}]` : ''
}

/** Where the leads are old, so is all else; each block then says of when it is. */
function tellAge(figures: ReportFigures, voice: Voice, { blocks }: BannerContext): string[] {
  const { words, dates } = voice
  const { statsAsOf, agentsAsOf } = figures.freshness
  const old = listOld(figures, blocks)
  if (old.length === 0) return []
  const of = {
    leads: () => explainExtent(figures, voice),
    stats: () => words.freshness.oldStats(dates.recent(statsAsOf ?? '')),
    agents: () => words.freshness.oldAgents(dates.recent(agentsAsOf ?? '')),
  }
  const told = old.includes('leads') ? [of.leads()] : old.map((resource) => of[resource]())
  return [[...told, ...explainFailure(figures, voice)].join(' ')]
}

function tellTimes(figures: ReportFigures, { words }: Voice): string[] {
  const { created, changed, times } = words.banner
  const told = [isDoubtful(figures, 'newLeads') && created, isDoubtful(figures, 'won') && changed]
  const named = told.filter((each) => each !== false)
  return named.length === 0 ? [] : [times(words.and(named))]
}

function tellUnusual({ what, was, is }: UnusualWarning, { words }: Voice): string {
  return words.banner[what](is, was)
}

function tellFailed(
  figures: ReportFigures,
  failed: readonly FailedSection[],
  voice: Voice,
  { blocks, notMade }: BannerContext,
): string[] {
  const { words } = voice
  const missed = listMissed(failed, blocks)
  const names = [...new Set(missed.map((each) => nameSection(each, figures.queries, voice)))]
  const others = names.length - NAMED
  const named = others > 1 ? [...names.slice(0, NAMED), words.scope.others(others)] : names
  return [
    ...(names.length === 0 ? [] : [words.banner.failed(names.length, words.and(named))]),
    ...(notMade.length === 0 ? [] : [words.banner.notMade(words.and(notMade))]),
  ]
}

function tellLate({ from, to, why }: LateWarning, { words, dates }: Voice): string {
  const end = dates.areSameDay(from, to) ? dates.time(to) : dates.recent(to)
  return words.banner.late[why](dates.recent(from), end)
}

function tellResend({ words, dates }: Voice, { resend }: BannerContext): string[] {
  if (resend === null) return []
  const reason = resend.reason === null ? '' : oneLine(resend.reason, REASON_LENGTH)
  return [words.banner.resend(dates.recent(resend.at), dates.recent(resend.first), reason)]
}
