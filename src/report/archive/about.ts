/** Describes the leads of an issue in English, and makes tables of its figures for CSV files. */
import type { FilterCondition, LeadFilter, ReportFigures } from '../../domain/figures.ts'
import type { Money } from '../../domain/model.ts'
import { oneLine } from '../words/clean-text.ts'

const TEXT_LENGTH = 300

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
    columns: ['day', 'new_leads'].map((name) => ({ name })),
    rows: trend.map(({ day, newLeads }) => [day, newLeads]),
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
