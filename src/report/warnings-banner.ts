/** Composes the banner above a report: warnings of old, unusual or failed data, and notes on late mails. */

import type { BlockName } from '../domain/choices.ts'
import type {
  FailedSection,
  LateWarning,
  MissedWarning,
  ReportFigures,
  UnusualWarning,
} from '../domain/figures.ts'
import type { ReportedPart } from '../domain/sync.ts'
import { explainExtent, explainFailure } from './blocks/freshness/view.ts'
import { blockOf } from './blocks/registry.ts'
import type { BlockContext } from './context.ts'
import { isImplausible } from './context.ts'
import { nameSection } from './failed-blocks.ts'
import { oneLine } from './words/clean-text.ts'
import { namePeriod } from './words/dates.ts'
import { type LocaleContext, shortenNames } from './words/locale-context.ts'

export type BannerView = NonNullable<ReturnType<typeof composeBanner>>

type BannerContext = Pick<BlockContext, 'notMade' | 'resend'> & { readonly blocks: readonly BlockName[] }

// The maximum number of failed parts that are named. If there are more, the rest are only counted.
const NAMED = 4
const MISSED_NAMED = 7
const REASON_LENGTH = 120

/**
 * Composes the banner.
 * @param failed all failed parts: figures that could not be read, and texts or charts that could not be made
 * @returns null if there is nothing to say
 */
export function composeBanner(
  figures: ReportFigures,
  failed: readonly FailedSection[],
  locale: LocaleContext,
  context: BannerContext,
) {
  const warnings = [
    ...formatAge(figures, locale, context),
    ...formatTimes(figures, locale),
    ...figures.warnings.filter((each) => each.kind === 'unusual').map((each) => formatUnusual(each, locale)),
    ...formatFailed(figures, failed, locale, context),
  ]
  const notes = [
    ...figures.warnings.filter((each) => each.kind === 'late').map((each) => formatLate(each, locale)),
    ...figures.warnings
      .filter((each) => each.kind === 'missed')
      .map((each) => formatMissed(each, figures, locale)),
    ...formatResend(locale, context),
  ]
  const lines = [...warnings, ...notes]
  if (lines.length === 0) return null
  // Without a warning, the banner has only notes, such as that the mail is late.
  return { isWarning: warnings.length > 0, title: locale.words('warnings.title'), lines }
}

/** Returns the mark of the subject; empty if the data is neither old nor unusual. */
export function markOf({ freshness, warnings }: ReportFigures, { words }: LocaleContext): string {
  if (freshness.dataAsOf !== null && !freshness.coversPeriod) return `[${words('warnings.stale')}]`
  return warnings.some(({ kind }) => kind === 'unusual') ? `[${words('warnings.unusual')}]` : ''
}

/** If the leads are old, only leads are named, because all other data is then as old. */
function formatAge(figures: ReportFigures, locale: LocaleContext, { blocks }: BannerContext): string[] {
  const { words, dates } = locale
  const { statsAsOf, agentsAsOf } = figures.freshness
  const old = listOld(figures, blocks)
  if (old.length === 0) return []
  const of = {
    leads: () => explainExtent(figures, locale),
    stats: () => words('freshness.oldStats', { at: dates.recent(statsAsOf ?? '') }),
    agents: () => words('freshness.oldAgents', { at: dates.recent(agentsAsOf ?? '') }),
  }
  const sentences = old.includes('leads') ? [of.leads()] : old.map((part) => of[part]())
  return [[...sentences, ...explainFailure(figures, locale)].join(' ')]
}

function formatTimes(figures: ReportFigures, { words, and }: LocaleContext): string[] {
  const sentences = [
    isImplausible(figures, 'newLeads') && words('warnings.created'),
    isImplausible(figures, 'won') && words('warnings.changed'),
  ]
  const named = sentences.filter((each) => each !== false)
  return named.length === 0 ? [] : [words('warnings.times', { what: and(named) })]
}

function formatUnusual({ what, was, is }: UnusualWarning, { words }: LocaleContext): string {
  return words(`warnings.${what}`, { is, was })
}

function formatFailed(
  figures: ReportFigures,
  failed: readonly FailedSection[],
  locale: LocaleContext,
  { blocks, notMade }: BannerContext,
): string[] {
  const { words } = locale
  const missed = listMissed(failed, blocks)
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

function formatResend({ words, dates }: LocaleContext, { resend }: BannerContext): string[] {
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
    blocks.some((block) => blockOf(block).shows === part)
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
  const wanted = new Set<string>(blocks.flatMap((block) => [block, ...(blockOf(block).restsOn ?? [])]))
  return failed.filter(({ block }) => wanted.has(block))
}
