/** Figures as people and as programs read them. */
import type { HistoryCoverage } from '../domain/figures.ts'
import type { FigureUnit } from '../store/figures/definition.ts'
import type { FigureRow } from '../store/figures/query.ts'

/** `45 of 190 (24%)`, `12,500`, `3.5 days`; a dash where there is nothing to tell. */
export function formatFigure(unit: FigureUnit, row: FigureRow | undefined): string {
  if (row === undefined || row.value === null) return '-'
  if (unit === 'share')
    return `${count(row.part ?? 0)} of ${count(row.whole ?? 0)} (${Math.round(row.value * 100)}%)`
  if (unit === 'days') return `${count(row.value)} days`
  return count(row.value)
}

/** ` (known for 120 of 332 leads)`; empty where the history of all leads in question is known, or not needed. */
export function formatCoverage(coverage: HistoryCoverage | undefined): string {
  if (coverage === undefined || coverage.known === coverage.of) return ''
  return ` (known for ${count(coverage.known)} of ${count(coverage.of)} leads)`
}

/** One number where a figure is one, its counts beside it for a share, and otherwise a list. */
export function figureJson(unit: FigureUnit, rows: readonly FigureRow[]): unknown {
  const [first] = rows
  switch (unit) {
    case 'leads':
      return first?.value ?? null
    case 'share':
      return { value: first?.value ?? null, part: first?.part ?? 0, whole: first?.whole ?? 0 }
    case 'money':
    case 'money a day':
      return rows.map(({ of, value }) => ({ currency: of, amount: value }))
    case 'days':
      return rows.map(({ of, value }) => ({ status: of, days: value }))
  }
}

function count(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 2 })
}
