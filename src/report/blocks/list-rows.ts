/**
 * Parts of the rows in lists of leads: links, pipelines, amounts in several currencies, and notes about
 * omitted rows.
 */

import type { Money } from '../../domain/model.ts'
import type { BlockContext } from '../context.ts'
import { oneLineOrNull } from '../words/clean-text.ts'
import type { LocaleContext } from '../words/locale-context.ts'

export const NAME_LENGTH = 48

const PIPELINE_LENGTH = 24
// The separator of the parts of a line. The no-break space prevents a line that starts with the dot.
const SEPARATOR = '\u00a0· '

/** Returns the address at which the lead can be opened; empty if there is none. */
export function linkTo(leadId: string, { leadUrl }: BlockContext): string {
  return leadUrl === null ? '' : leadUrl.replaceAll('{id}', encodeURIComponent(leadId.toWellFormed()))
}

/**
 * Returns the name of a lead's pipeline if there is more than one pipeline. No-break spaces keep the name on
 * one line.
 */
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

// How many more currencies are named after the first, which is the currency of most leads. Any others are
// only counted.
const OTHERS_NAMED = 2

/**
 * Formats the first amount, and the others as `+ €300k, £20k`. Amounts in different currencies are never
 * added.
 */
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

/**
 * Returns the first `most` rows. If only one row would be left out, it is returned too, because a note about
 * it takes as much room as the row.
 */
export function shownOf<T>(rows: readonly T[], total: number, most: number): readonly T[] {
  return rows.slice(0, total === most + 1 ? most + 1 : most)
}

export interface Listed {
  /** The number of all rows, and of those that are shown. */
  readonly total: number
  readonly shown: number
  /** The number of rows that the figures contain. An attached file has these rows too. */
  readonly held: number
}

/** Formats `and 9 more in the attached daily-stalled.xlsx`; empty if nothing is left out. */
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
