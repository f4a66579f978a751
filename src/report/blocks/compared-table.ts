/** Tables that compare lines, such as pipelines: counts with their change, and a win rate. */
import type { Compared } from '../../domain/figures.ts'
import type { Ratio } from '../../model.ts'
import { type Change, changeOfCount } from '../change.ts'
import type { LocaleContext } from '../words/locale-context.ts'
import { FEW } from '../words/numbers.ts'

export interface ComparedTable {
  readonly title: string
  readonly note: string
  readonly columns: {
    readonly name: string
    readonly newLeads: string
    readonly won: string
    readonly winRate: string
  }
  readonly lines: readonly {
    readonly name: string
    /** A text such as `$1.2m open · 6 stalled`; empty if there is nothing to add. */
    readonly detail: string
    readonly newLeads: ComparedCell
    readonly won: ComparedCell
    readonly winRate: string
  }[]
  /** A note about lines that are left out; empty if the table is complete. */
  readonly more: string
}

export interface ComparedCell {
  readonly value: string
  /**
   * The change as a difference, not a percentage, such as `+9`; empty if there is nothing to compare with.
   */
  readonly change: string
  readonly tone: Change['tone']
  /** Value and change on one line: `59 (+9)`. */
  readonly text: string
}

export function compareCell(
  compared: Compared<number>,
  isComparable: boolean,
  locale: LocaleContext,
): ComparedCell {
  const { text, tone, arrow } = changeOfCount(compared, 'up', locale)
  const isMoved = isComparable && arrow !== ''
  const value = locale.numbers.count(compared.current)
  const change = isMoved ? text.replace(/ \(.*\)$/, '') : ''
  return {
    value,
    change,
    tone: isMoved ? tone : 'neutral',
    text: change === '' ? value : `${value} (${change})`,
  }
}

/** Formats a rate: `23.7%`, `2 of 7` for few leads, `–` for none. */
export function rateCell({ part, whole }: Ratio, { words, numbers }: LocaleContext): string {
  if (whole === 0) return words('none')
  return whole < FEW ? words('counts', { part, whole }) : numbers.rate(part / whole)
}
