/** Explains each figure of an issue in English, and makes tables of the figures for CSV files. */
import type { FilterCondition, LeadFilter, ReportFigures } from '../../domain/figures.ts'
import type { Compared, HistoryCoverage, Money } from '../../domain/model.ts'
import { blockOf, isBlockName } from '../blocks/registry.ts'
import { hasFailed } from '../failed-blocks.ts'
import { oneLine } from '../words/clean-text.ts'
import { numbersOf } from '../words/numbers.ts'

export interface ExplainedFigure {
  readonly block: string
  /** Null for a list, and for a figure that only one block has. */
  readonly figure: string | null
  readonly title: string
  readonly meaning: string
  readonly sql: string
  /** The SQL for the period with which the report compares; null if the figure is not compared. */
  readonly priorSql: string | null
}

export interface ExplainedBlock {
  readonly title: string
  readonly figures: readonly ExplainedView[]
}

interface ExplainedView {
  readonly title: string
  readonly meaning: string
  readonly value: string | null
  /** The value in the period with which the report compares; null if there is none. */
  readonly before: string | null
  readonly sql: string
  readonly priorSql: string | null
}

const TEXT_LENGTH = 300

export function composeExplanations(
  figures: ReportFigures,
  explained: readonly ExplainedFigure[],
): ExplainedBlock[] {
  return [...Map.groupBy(explained, ({ block }) => block)].map(([block, all]) => ({
    title: isBlockName(block) ? blockOf(block).title : block,
    figures: all.map(({ figure, title, meaning, sql, priorSql }) => {
      const isKnown = figure !== null && !hasFailed(figures, block)
      const { now = null, before = null } = (isKnown && VALUES[figure]?.(figures)) || {}
      return { title, meaning, value: now, before, sql, priorSql }
    }),
  }))
}

/** Returns a note on how many leads have a known history; empty if the history of all leads is known. */
function knownText({ known, of }: HistoryCoverage): string {
  return known === of ? '' : ` (known for ${numbers.count(known)} of ${numbers.count(of)} leads)`
}

interface Value {
  readonly now: string
  /** The value in the period with which the report compares; absent if the figure is not compared. */
  readonly before?: string
}

const numbers = numbersOf('en-GB')

/** Formats each figure by its name: one number, or one number for each currency. */
const VALUES: Readonly<Record<string, (figures: ReportFigures) => Value>> = {
  leads: ({ leads }) => ({ now: numbers.count(leads) }),
  new_leads: ({ newLeads }) => compared(newLeads, numbers.count),
  won: ({ won }) => compared(won, numbers.count),
  lost: ({ lost }) => compared(lost, numbers.count),
  won_value: ({ wonValue }) => compared(wonValue, amounts),
  win_rate: ({ winRate }) => compared(winRate, ({ part, whole }) => `${part} of ${whole}`),
  open_value: ({ openValue }) => compared(openValue, amounts),
  stalled: ({ stalled }) => ({ now: `${numbers.count(stalled.total)}${knownText(stalled.coverage)}` }),
}

function compared<T>({ current, prior }: Compared<T>, write: (value: T) => string): Value {
  return { now: write(current), before: write(prior) }
}

/** Formats amounts like the result of the SQL: `1,305,000 EUR, 12,500.5 USD`. */
function amounts(moneys: readonly Money[]): string {
  const written = moneys.map(
    ({ amount, currency }) => `${numbers.decimal(amount, 2)} ${oneLine(currency, 12)}`,
  )
  return written.join(', ') || 'none'
}

/** Formats a filter: `all`, or `pipelines eu, us; company_country Germany; score from 60`. */
export function leadsText({ pipelineIds, conditions }: LeadFilter): string {
  const parts = [
    ...(pipelineIds === null ? [] : [`pipelines ${pipelineIds.join(', ')}`]),
    ...conditions.map(conditionText),
  ]
  return parts.length === 0 ? 'all' : oneLine(parts.join('; '), TEXT_LENGTH)
}

function conditionText(condition: FilterCondition): string {
  if ('in' in condition) return `${condition.field} ${condition.in.join(', ')}`
  const { field, min, max } = condition
  return [field, ...(min === null ? [] : [`from ${min}`]), ...(max === null ? [] : [`to ${max}`])].join(' ')
}

/** Two tables for CSV files: `figureTable` has a row for each figure, `trendTable` one for each day. */

/** A table whose cells are numbers, not formatted text. */
export interface FigureTable {
  readonly columns: readonly { readonly name: string }[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

const SHARE_DIGITS = 4

/** Lists each figure for both periods, by the names that `leadsheet figures NAME` uses. */
export function figureTable(figures: ReportFigures, report: string): FigureTable {
  const { period, leads, newLeads, won, lost, wonValue, winRate, openValue, stalled } = figures
  const rows: readonly Row[] = [
    { figure: 'leads', unit: 'leads', value: leads },
    { figure: 'new_leads', unit: 'leads', value: newLeads.current, before: newLeads.prior },
    { figure: 'won', unit: 'leads', value: won.current, before: won.prior },
    { figure: 'lost', unit: 'leads', value: lost.current, before: lost.prior },
    ...moneyRows('won_value', wonValue.current, wonValue.prior),
    {
      figure: 'win_rate',
      unit: 'share',
      value: shareOf(winRate.current),
      before: shareOf(winRate.prior),
    },
    ...moneyRows('open_value', openValue.current, openValue.prior),
    { figure: 'stalled', unit: 'leads', value: stalled.total, ...stalled.coverage },
  ]
  return {
    columns: ['report', 'period_from', 'period_to', 'figure', 'unit', 'value', 'before', 'known', 'of'].map(
      (name) => ({
        name,
      }),
    ),
    rows: rows.map(({ figure, unit, value, before = null, known = null, of = null }) => {
      return [report, period.from, period.to, figure, unit, value, before, known, of]
    }),
  }
}

export function trendTable({ trend }: Pick<ReportFigures, 'trend'>): FigureTable {
  return {
    columns: ['day', 'new_leads', 'won'].map((name) => ({ name })),
    rows: trend.map(({ day, newLeads, won }) => [day, newLeads, won]),
  }
}

interface Row {
  readonly figure: string
  /** `leads`, `share` (0 to 1) or a currency. */
  readonly unit: string
  readonly value: number | null
  readonly before?: number | null
  /** The number of leads (out of `of`) whose history is known. Set only for figures that need the history. */
  readonly known?: number
  readonly of?: number
}

function moneyRows(figure: string, current: readonly Money[], prior: readonly Money[]): Row[] {
  const currencies = new Set([...current, ...prior].map(({ currency }) => currency))
  const amountOf = (moneys: readonly Money[], currency: string) =>
    moneys.find((money) => money.currency === currency)?.amount ?? 0
  return [...currencies].map((currency) => {
    return { figure, unit: currency, value: amountOf(current, currency), before: amountOf(prior, currency) }
  })
}

function shareOf({ part, whole }: { readonly part: number; readonly whole: number }): number | null {
  return whole === 0 ? null : Number((part / whole).toFixed(SHARE_DIGITS))
}
