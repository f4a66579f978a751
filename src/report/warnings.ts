/** Composes the sentences that warn of failed or doubtful data, or tell of a late or repeated mail. */

import type { BlockName } from '../domain/choices.ts'
import type { FailedSection, LateWarning, MissedWarning, ReportFigures } from '../domain/figures.ts'
import type { ReportedPart } from '../domain/sync.ts'
import { type BlockContext, isImplausible } from './context.ts'
import { nameSection } from './failed-blocks.ts'
import { oneLine } from './words/clean-text.ts'
import { namePeriod } from './words/dates.ts'
import { type LocaleContext, shortenNames } from './words/locale-context.ts'

type Reason = 'unreachable' | 'refused' | 'deferred' | 'unexpected' | 'stopped' | 'other'

// The reasons that recipients see for a failed sync, by error code. A code that is missing here gets the
// reason `other`.
const REASONS: ReadonlyMap<string, Reason> = new Map([
  ['api_unreachable', 'unreachable'],
  ['api_unauthorized', 'refused'],
  ['api_forbidden', 'refused'],
  ['api_deferred', 'deferred'],
  ['api_unexpected', 'unexpected'],
  ['api_rejected', 'unexpected'],
  ['api_not_found', 'unexpected'],
  ['run_interrupted', 'stopped'],
])
/** The blocks that show data other than leads. Its age is checked before a report is sent. */
const SHOWS: Readonly<Record<Exclude<ReportedPart, 'leads'>, readonly BlockName[]>> = {
  stats: ['funnel', 'service_stats'],
  agents: ['freshness', 'agents'],
}
/** If the figures of the second block fail, the first is incomplete. */
const RESTS_ON: Partial<Readonly<Record<BlockName, string>>> = { today: 'stalled', freshness: 'agents' }
// The maximum number of failed parts that are named. If there are more, the rest are only counted.
const NAMED = 4
const MISSED_NAMED = 7
const REASON_LENGTH = 120

/** Old leads and missing leads are not named here, because the headline says so. */
export function composeWarnings(
  figures: ReportFigures,
  locale: LocaleContext,
  context: BlockContext,
): string[] {
  const { warnings } = figures
  return [
    ...formatFailure(figures, locale),
    ...formatOld(figures, locale, context),
    ...formatTimes(figures, locale),
    ...formatFailed(figures, locale, context),
    ...warnings.flatMap((each) => (each.kind === 'late' ? [formatLate(each, locale)] : [])),
    ...warnings.flatMap((each) => (each.kind === 'missed' ? [formatMissed(each, figures, locale)] : [])),
    ...formatResend(locale, context),
  ]
}

/** Returns no sentence if no sync has failed since the data was read. */
function formatFailure({ freshness }: ReportFigures, { words, dates }: LocaleContext): string[] {
  const { lastFailure } = freshness
  if (lastFailure === null) return []
  const reason = words(`freshness.reasons.${REASONS.get(lastFailure.code) ?? 'other'}`)
  return [words('freshness.failed', { at: dates.recent(lastFailure.at), reason })]
}

/** If the leads are old, all other data is then as old. */
function formatOld(
  figures: ReportFigures,
  { words, dates }: LocaleContext,
  { blocks }: BlockContext,
): string[] {
  const { statsAsOf, agentsAsOf } = figures.freshness
  const old = listOld(figures, blocks)
  if (old.includes('leads')) return []
  return old.map((part) =>
    part === 'stats'
      ? words('freshness.oldStats', { at: dates.recent(statsAsOf ?? '') })
      : words('freshness.oldAgents', { at: dates.recent(agentsAsOf ?? '') }),
  )
}

function formatTimes(figures: ReportFigures, { words, and }: LocaleContext): string[] {
  const sentences = [
    isImplausible(figures, 'newLeads') && words('warnings.created'),
    isImplausible(figures, 'won') && words('warnings.changed'),
  ]
  const named = sentences.filter((each) => each !== false)
  return named.length === 0 ? [] : [words('warnings.times', { what: and(named) })]
}

function formatFailed(
  figures: ReportFigures,
  locale: LocaleContext,
  { blocks, notMade, failed }: BlockContext,
): string[] {
  const { words } = locale
  const missed = listMissed([...figures.failed, ...failed], blocks)
  const names = [...new Set(missed.map((each) => nameSection(each, figures.queries, locale)))]
  const named = shortenNames(names, NAMED, locale)
  return [
    ...(names.length === 0 ? [] : [words('warnings.failed', { n: names.length, names: locale.and(named) })]),
    ...(notMade.length === 0 ? [] : [words('warnings.notMade', { names: locale.and(notMade) })]),
  ]
}

function formatLate({ from, to, why }: LateWarning, { words, dates }: LocaleContext): string {
  const end = dates.areSameDay(from, to) ? dates.time(to) : dates.recent(to)
  return words(`warnings.late.${why}`, { from: dates.recent(from), to: end })
}

function formatMissed({ periods }: MissedWarning, { kind }: ReportFigures, locale: LocaleContext): string {
  const names = periods.map((period) => namePeriod(locale.tag, kind, period).short)
  return locale.words('warnings.missed', { names: locale.and(shortenNames(names, MISSED_NAMED, locale)) })
}

function formatResend({ words, dates }: LocaleContext, { resend }: BlockContext): string[] {
  if (resend === null) return []
  const reason = resend.reason === null ? '' : oneLine(resend.reason, REASON_LENGTH)
  return [
    words('warnings.resend', {
      at: dates.recent(resend.at),
      first: dates.recent(resend.first),
      reason,
      hasReason: reason !== '',
    }),
  ]
}

/** Statistics and agents are listed only if one of these blocks shows them. */
export function listOld(
  { freshness, period, filter }: Pick<ReportFigures, 'freshness' | 'period' | 'filter'>,
  blocks: readonly BlockName[],
): ReportedPart[] {
  const isShown = (part: Exclude<ReportedPart, 'leads'>) =>
    blocks.some((block) => SHOWS[part].includes(block))
  const isOld = (asOf: string | null) => asOf !== null && asOf < period.to
  // The statistics of the upstream cannot be filtered, so a filtered report does not show them.
  const hasStats = filter.conditions.length === 0 && isShown('stats')
  return [
    ...(freshness.coversPeriod ? [] : (['leads'] as const)),
    ...(hasStats && isOld(freshness.statsAsOf) ? (['stats'] as const) : []),
    ...(isShown('agents') && isOld(freshness.agentsAsOf) ? (['agents'] as const) : []),
  ]
}

/** Lists the failed parts that belong to these blocks, or whose figures these blocks use. */
function listMissed(failed: readonly FailedSection[], blocks: readonly BlockName[]): FailedSection[] {
  const wanted = new Set<string>(blocks.flatMap((block) => [block, RESTS_ON[block] ?? block]))
  return failed.filter(({ block }) => wanted.has(block))
}
