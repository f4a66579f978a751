/** The four numbers at the top, each with how it moved and against what. */
import type { DailyFigures, Money, Ratio } from '../model.ts'
import { type Change, changeOfCount, changeOfMoney, changeOfRate, type Tone } from './change.ts'
import { type Coverage, coverageOf, isFirstDay } from './coverage.ts'
import { FEW, formatCount, formatCounts, formatMoneys, formatRate } from './format.ts'
import { words } from './messages.ts'
import { nameDay } from './moment.ts'
import { oneLine } from './text.ts'

const CURRENCY_LENGTH = 12

export interface KpiView {
  readonly label: string
  readonly value: string
  /** What belongs to the value, in small letters; empty when nothing does. */
  readonly note: string
  readonly arrow: string
  /** How the value moved; empty when it cannot be compared. */
  readonly change: string
  readonly tone: Tone
  /** What it was before; empty where nothing was. */
  readonly basis: string
}

type Moved = Pick<KpiView, 'arrow' | 'change' | 'tone'>

export function composeKpis(figures: DailyFigures): readonly KpiView[] {
  const { newLeads, won, wonValue, winRate, openValue } = figures
  const coverage = coverageOf(figures)
  const isComparable = coverage === 'whole' && !isFirstDay(figures)
  const compared = (change: Change | null) => moved(isComparable ? change : null)
  const date = nameDay(figures.prior).date
  const basis = (value: string) => (isFirstDay(figures) ? '' : words.kpi.basis(value, date))
  return [
    {
      label: words.kpi.newLeads,
      value: countOf(coverage, newLeads.current),
      note: coverage === 'part' ? words.kpi.soFar : words.kpi.inAll(figures.leads),
      ...compared(changeOfCount(newLeads, 'up')),
      basis: basis(formatCount(newLeads.prior)),
    },
    {
      label: words.kpi.won,
      value: countOf(coverage, won.current),
      note: worthOf(coverage, won.current, wonValue.current),
      ...compared(changeOfCount(won, 'up')),
      basis: basis(formatCount(won.prior)),
    },
    {
      label: words.kpi.winRate,
      ...rateOf(winRate.current),
      ...compared(changeOfRate(winRate, 'up')),
      basis: winRate.prior.whole === 0 ? '' : basis(rateOf(winRate.prior).value),
    },
    {
      label: words.kpi.openValue,
      ...moneyOf(openValue.current),
      ...compared(changeOfMoney(openValue, null)),
      basis: basis(formatMoneys(openValue.prior).largest ?? words.kpi.nothing),
    },
  ]
}

/** Unknown when nothing of the period has been read. */
function countOf(coverage: Coverage, count: number): string {
  return coverage === 'none' ? words.none : formatCount(count)
}

function rateOf(ratio: Ratio): { value: string; note: string } {
  if (ratio.whole === 0) return { value: words.none, note: words.kpi.noneClosed }
  if (ratio.whole < FEW) return { value: formatCounts(ratio), note: words.kpi.closedWon }
  return { value: formatRate(ratio.part / ratio.whole), note: words.kpi.wonOfClosed(formatCounts(ratio)) }
}

function moneyOf(moneys: readonly Money[]): { value: string; note: string } {
  const { largest, others } = formatMoneys(moneys)
  const [first] = moneys
  if (largest === null || first === undefined) return { value: words.none, note: words.kpi.noValues }
  return { value: largest, note: others ?? words.kpi.inCurrency(oneLine(first.currency, CURRENCY_LENGTH)) }
}

/** What was won is worth; a lower bound while the period is not covered. */
function worthOf(coverage: Coverage, won: number, moneys: readonly Money[]): string {
  const { largest, others } = formatMoneys(moneys)
  const value = [largest, others].filter(Boolean).join(' ')
  if (coverage === 'part') return value ? words.kpi.soFarWorth(value) : words.kpi.soFar
  if (won === 0) return ''
  return value ? words.kpi.worth(value) : words.kpi.noValues
}

function moved(change: Change | null): Moved {
  return { arrow: change?.arrow ?? '', change: change?.text ?? '', tone: change?.tone ?? 'neutral' }
}
