/** The parts of the rows that lists of leads share: links, pipelines, amounts, and what is left out. */

import type { Money } from '../../model.ts'
import type { BlockContext } from '../context.ts'
import { oneLineOrNull } from '../words/clean-text.ts'
import type { LocaleContext } from '../words/locale-context.ts'

export const NAME_LENGTH = 48

const PIPELINE_LENGTH = 24
// Bound to what is before it, so that no line begins with it.
const SEPARATOR = '\u00a0· '

/** The address at which the lead can be opened; empty when there is none. */
export function linkTo(leadId: string, { leadUrl }: BlockContext): string {
  return leadUrl === null ? '' : leadUrl.replaceAll('{id}', encodeURIComponent(leadId.toWellFormed()))
}

/** Named only where there is more than one that it could be; held together, for lines break before it anyway. */
export function pipelineOf(
  { pipelineName }: { readonly pipelineName: string },
  pipelines: readonly string[],
): string | null {
  if (pipelines.length < 2) return null
  return oneLineOrNull(pipelineName, PIPELINE_LENGTH)?.replaceAll(' ', '\u00a0') ?? null
}

export function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(SEPARATOR)
}

/* Amounts in several currencies, which are never added up. */

/** Currencies named beside the first, that of most leads; the others are only counted. */
const OTHERS_NAMED = 2

/** The first amount, and the others as `+ €300k, £20k`; null where there is none. */
export function formatMoneys(
  moneys: readonly Money[],
  { numbers, words }: LocaleContext,
): { largest: string | null; others: string | null } {
  const [first, ...rest] = moneys.filter((money) => money.amount !== 0)
  if (!first) return { largest: null, others: null }
  const named = rest.slice(0, OTHERS_NAMED).map(numbers.money)
  const unnamed = rest.length - named.length
  const others = [...named, ...(unnamed > 0 ? [words('scope.others', { n: unnamed })] : [])].join(', ')
  return { largest: numbers.money(first), others: others ? `+ ${others}` : null }
}

/* What a list leaves out, said where it is cut. */

/** The first `most` rows; one more takes no more room than to say that there is one. */
export function shownOf<T>(rows: readonly T[], total: number, most: number): readonly T[] {
  return rows.slice(0, total === most + 1 ? most + 1 : most)
}

export interface Listed {
  /** How many there are, and how many of them are shown. */
  readonly total: number
  readonly shown: number
  /** How many the figures hold, and so a file of the list. */
  readonly held: number
}

/** `and 9 more in the attached daily-stalled.xlsx`; empty when nothing is left out. */
export function moreOf(
  list: string,
  { total, shown, held }: Listed,
  { words }: LocaleContext,
  { attached }: BlockContext,
): string {
  if (total <= shown) return ''
  const file = attached.get(list)
  if (file === undefined || held <= shown) return words('truncation.some', { n: total - shown })
  return held < total
    ? words('truncation.partInFile', { n: total - shown, held: held - shown, file })
    : words('truncation.inFile', { n: total - shown, file })
}
