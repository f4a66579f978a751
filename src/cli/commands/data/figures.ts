/**
 * `leadsheet figures`: prints each figure of a period and of the period before, in total and by pipeline; of
 * one figure, its meaning and its SQL.
 */
import type { Command } from 'commander'
import { openDataToRead } from '../../../app/installation.ts'
import { nearest } from '../../../config/setting-path.ts'
import type { HistoryCoverage, Period } from '../../../domain/model.ts'
import { periodBefore } from '../../../domain/period.ts'
import { LeadsheetError } from '../../../errors.ts'
import { COVERAGES } from '../../../store/figures/coverage.ts'
import type { FigureDefinition, FigureName, FigureUnit } from '../../../store/figures/definition.ts'
import { FIGURES } from '../../../store/figures/definition.ts'
import { explainFigure, explainQuery, type FigureRow, readFigure } from '../../../store/figures/query.ts'
import type { Coverages, Figures } from '../../../store/figures/report-figures.ts'
import { listPipelines, readCoverages, readFigures } from '../../../store/figures/report-figures.ts'
import { addExamples, showing } from '../../command.ts'
import { formatInstant, type Paragraph, plainText, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { periodJson } from '../reports/outbox.ts'
import { addScopeOptions, periodOf, requireData, type ScopeOptions, scopeOf } from './figure-scope.ts'

/** The figures of all pipelines together (`id` is null), or of one pipeline. */
interface Group {
  readonly id: string | null
  readonly name: string
  readonly current: Figures
  readonly prior: Figures
  readonly known: Coverages
  readonly knownBefore: Coverages
}

/** A line of the table. `of` is the currency or the status that the line is for; null if there is none. */
interface Line {
  readonly figure: FigureDefinition & { readonly name: FigureName }
  readonly of: string | null
}

export function defineFigures(command: Command, terminal: Terminal): void {
  command.argument('[figure]', 'name of a figure, to print its meaning, its SQL and its value')
  addScopeOptions(command)
  command.action(showing(terminal, findFigures))
  addExamples(command, [
    'figures',
    'figures --from 2026-11-01 --to 2026-12-01 --json',
    'figures --pipeline pl_01',
    'figures win_rate',
    'figures won --from 2026-11-20 --to 2026-11-21 | sqlite3 data/snapshot.db',
    "figures open_value --where company_country=Germany --where 'score>=60'",
  ])
}

async function findFigures(
  terminal: Terminal,
  name: string | undefined,
  options: ScopeOptions,
): Promise<Result> {
  if (name !== undefined) return explain(terminal, name, options)
  const config = await terminal.dataConfig('time_zone')
  const period = periodOf(options, config.timeZone, new Date())
  const prior = periodBefore(period)
  await using store = await openDataToRead(config)
  const dataAsOf = await requireData(store.db)
  const pipelines = await listPipelines(store.db)
  const scope = scopeOf(options, config, period, pipelines)
  const wanted = pipelines.filter(({ id }) => scope.filter.pipelineIds?.includes(id) ?? true)
  const scopes = [
    scope,
    ...wanted.map(({ id }) => ({ ...scope, filter: { ...scope.filter, pipelineIds: [id] } })),
  ]
  const asked = scopes.flatMap((each) => [each, { ...each, from: prior.from, to: prior.to }])
  const read = await readFigures(store.db, asked)
  const coverages = await readCoverages(store.db, asked)
  const groups = [{ id: null, name: 'ALL' }, ...wanted].flatMap((group, index): Group[] => {
    const [current, before] = read.slice(2 * index, 2 * index + 2)
    const [known, knownBefore] = coverages.slice(2 * index, 2 * index + 2)
    return current && before && known && knownBefore
      ? [{ ...group, current, prior: before, known, knownBefore }]
      : []
  })
  const late = `The copy is as of ${formatInstant(dataAsOf)}: later changes in the period are not included.`
  return {
    data: {
      period: periodJson(period),
      prior: { from: prior.from, to: prior.to },
      data_as_of: dataAsOf,
      figures: FIGURES.map((figure) => figureValuesJson(figure, groups)),
    },
    text: [figuresTable(groups)],
    notes: [
      `${spanOf(period)}, and before: ${spanOf(prior)}, in ${period.timeZone}`,
      ...(dataAsOf < period.to ? [late] : []),
    ],
  }
}

function figureValuesJson({ name, title, unit, meaning }: Line['figure'], groups: readonly Group[]) {
  return {
    name,
    title,
    unit,
    meaning,
    values: groups.map((group) => ({
      pipeline_id: group.id,
      current: figureJson(unit, group.current.get(name) ?? []),
      prior: figureJson(unit, group.prior.get(name) ?? []),
      coverage: {
        current: group.known.get(name) ?? null,
        prior: group.knownBefore.get(name) ?? null,
      },
    })),
  }
}

function figuresTable(groups: readonly Group[]): Paragraph {
  const lines = FIGURES.flatMap((figure) => ofsOf(figure, groups).map((of): Line => ({ figure, of })))
  const cell =
    (figures: Figures | undefined, known: Coverages | undefined) =>
    ({ figure: { name, unit }, of }: Line): string =>
      formatFigure(
        unit,
        figures?.get(name)?.find((row) => row.of === of),
      ) + formatCoverage(known?.get(name))
  const [all, ...rest] = groups
  return table(lines, [
    {
      title: 'FIGURE',
      value: ({ figure, of }) => [figure.name, of].filter(Boolean).join(' '),
    },
    { title: 'ALL', value: cell(all?.current, all?.known) },
    { title: 'BEFORE', value: cell(all?.prior, all?.knownBefore) },
    ...rest.map(({ name, current, known }) => ({
      title: name,
      value: cell(current, known),
    })),
  ])
}

/** Lists the currencies or statuses of a figure's values; a single null if there are no values. */
function ofsOf({ name }: Line['figure'], groups: readonly Group[]): (string | null)[] {
  const ofs = groups.flatMap(({ current, prior }) =>
    [...(current.get(name) ?? []), ...(prior.get(name) ?? [])].map((row) => row.of),
  )
  return ofs.length === 0 ? [null] : [...new Set(ofs)]
}

/** Formats the days of a period in its time zone: `2026-11-14 to 2026-11-20`. */
function spanOf(period: Period): string {
  const date = new Intl.DateTimeFormat('en-CA', { timeZone: period.timeZone, dateStyle: 'short' })
  return `${date.format(Date.parse(period.from))} to ${date.format(Date.parse(period.to) - 1)}`
}

/** Formats a figure: `45 of 190 (24%)`, `12,500`, `3.5 days`, or a dash if there is no value. */
function formatFigure(unit: FigureUnit, row: FigureRow | undefined): string {
  if (row === undefined || row.value === null) return '-'
  if (unit === 'share')
    return `${count(row.part ?? 0)} of ${count(row.whole ?? 0)} (${Math.round(row.value * 100)}%)`
  if (unit === 'days') return `${count(row.value)} days`
  return count(row.value)
}

/**
 * Formats the number of leads with a known history: ` (known for 120 of 332 leads)`. Returns an empty text if
 * all leads have a known history, or if the figure needs no history.
 */
function formatCoverage(coverage: HistoryCoverage | undefined): string {
  if (coverage === undefined || coverage.known === coverage.of) return ''
  return ` (known for ${count(coverage.known)} of ${count(coverage.of)} leads)`
}

/** Returns a figure for JSON: a number, a share with its counts, or a list by currency or status. */
function figureJson(unit: FigureUnit, rows: readonly FigureRow[]) {
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

/** Explains a figure. The text is SQL with comments, so that it can be piped into sqlite3. */
async function explain(terminal: Terminal, given: string, options: ScopeOptions): Promise<Result> {
  const { name, title, meaning, unit, coverage: needed } = requireFigure(given)
  const config = await terminal.dataConfig('time_zone')
  const period = periodOf(options, config.timeZone, new Date())
  await using store = await openDataToRead(config)
  await requireData(store.db)
  const scope = scopeOf(options, config, period, await listPipelines(store.db))
  const sql = explainFigure(name, scope)
  const rows = await readFigure(store.db, name, scope)
  const known = (await readCoverages(store.db, [scope]))[0]?.get(name)
  const query = needed === null ? null : COVERAGES[needed]
  const values = rows.map((row) => [row.of, formatFigure(unit, row)].filter(Boolean).join(' '))
  const lines = [
    `-- ${title}: ${meaning}`,
    `-- from ${period.from} up to ${period.to} (${period.timeZone}), in ${unit}: ${plainText(values.join(', ')).replaceAll('\n', ' ') || '-'}`,
    ...(query === null ? [] : [`--${formatCoverage(known) || ' known for all leads'}: ${query.meaning}`]),
    sql,
  ]
  return {
    data: {
      name,
      title,
      meaning,
      unit,
      period: periodJson(period),
      value: figureJson(unit, rows),
      coverage: query && { ...known, meaning: query.meaning, sql: explainQuery(query, scope, {}) },
      sql,
    },
    text: [lines.join('\n')],
  }
}

/** @throws LeadsheetError usage_invalid if there is no figure of this name */
function requireFigure(name: string): (typeof FIGURES)[number] {
  const found = FIGURES.find((figure) => figure.name === name)
  if (found) return found
  const names = FIGURES.map((figure) => figure.name)
  const near = nearest(name, names)
  throw new LeadsheetError('usage_invalid', `There is no figure ${JSON.stringify(name)}`, {
    hint: near === null ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`,
  })
}
