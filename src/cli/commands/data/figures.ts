/**
 * `leadsheet figures`: prints each figure of a period and of the period before, in total and by pipeline.
 * `figures explain` prints the meaning and the SQL of a figure.
 */
import type { Command } from 'commander'
import { openDataToRead } from '../../../app/installation.ts'
import { nearest } from '../../../config/setting-path.ts'
import type { HistoryCoverage, Instant, Period } from '../../../domain/model.ts'
import { periodBefore } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { COVERAGES } from '../../../store/figures/coverage.ts'
import type { FigureDefinition, FigureName, FigureUnit } from '../../../store/figures/definition.ts'
import { FIGURES } from '../../../store/figures/definition.ts'
import type { FigureRow } from '../../../store/figures/query.ts'
import { explainFigure, explainQuery, readFigure } from '../../../store/figures/query.ts'
import type { Coverages, Figures } from '../../../store/figures/report-figures.ts'
import { listPipelines, readCoverages, readFigures } from '../../../store/figures/report-figures.ts'
import { addExamples } from '../../command.ts'
import type { Column } from '../../terminal/table.ts'
import { formatInstant, plainText } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { ScopeOptions } from './figure-scope.ts'
import { addScopeOptions, periodOf, requireData, scopeOf } from './figure-scope.ts'

/** The figures of all pipelines together (`id` is null), or of one pipeline. */
interface Group {
  readonly id: string | null
  readonly name: string
  readonly current: Figures
  readonly prior: Figures
  readonly known: Coverages
  readonly knownBefore: Coverages
}

interface Asked {
  readonly period: Period
  readonly prior: Period
  readonly dataAsOf: Instant
}

/** A line of the table. `of` is the currency or the status that the line is for; null if there is none. */
interface Line {
  readonly figure: FigureDefinition & { readonly name: FigureName }
  readonly of: string | null
}

export function defineFigures(command: Command, terminal: Terminal): void {
  const show = command
    .command('show', { isDefault: true })
    .description('print all figures of a period, in total and by pipeline (same as `figures`)')
  addScopeOptions(show)
  show.action((options: ScopeOptions) => figures(terminal, options))
  defineExplain(command, terminal)
  addExamples(show, [
    'figures',
    'figures --from 2026-11-01 --to 2026-12-01 --json',
    'figures --pipeline pl_01',
  ])
}

async function figures(terminal: Terminal, options: ScopeOptions): Promise<void> {
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
  const facts = { period, prior, dataAsOf }
  if (terminal.json) printJson(terminal, facts, groups)
  else await printTable(terminal, facts, groups)
}

function printJson(terminal: Terminal, asked: Asked, groups: readonly Group[]): void {
  const { period, prior, dataAsOf } = asked
  terminal.printJson({
    period: { from: period.from, to: period.to, time_zone: period.timeZone },
    prior: { from: prior.from, to: prior.to },
    data_as_of: dataAsOf,
    figures: FIGURES.map(({ name, title, unit, meaning }) => ({
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
    })),
  })
}

async function printTable(terminal: Terminal, asked: Asked, groups: readonly Group[]): Promise<void> {
  const lines = FIGURES.flatMap((figure) => ofsOf(figure, groups).map((of): Line => ({ figure, of })))
  const cell =
    (figures: Figures | undefined, known: Coverages | undefined) =>
    ({ figure: { name, unit }, of }: Line): string =>
      formatFigure(
        unit,
        figures?.get(name)?.find((row) => row.of === of),
      ) + formatCoverage(known?.get(name))
  const [all, ...rest] = groups
  const columns: Column<Line>[] = [
    {
      title: 'FIGURE',
      value: ({ figure, of }) => [figure.name, of].filter(Boolean).join(' '),
      isWhole: true,
    },
    { title: 'ALL', value: cell(all?.current, all?.known), isWhole: true },
    { title: 'BEFORE', value: cell(all?.prior, all?.knownBefore), isWhole: true },
    ...rest.map(({ name, current, known }) => ({
      title: name,
      value: cell(current, known),
      isOptional: true,
    })),
  ]
  await terminal.printTable(columns, lines)
  const { period, prior, dataAsOf } = asked
  terminal.note(`${spanOf(period)}, and before: ${spanOf(prior)}, in ${period.timeZone}`)
  if (dataAsOf < period.to) {
    terminal.note(
      `The copy is as of ${formatInstant(dataAsOf)}: later changes in the period are not included.`,
    )
  }
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

/**
 * Defines `leadsheet figures explain`. Explanations are printed as SQL comments, so that the whole output is
 * SQL and can be piped into sqlite3.
 */
function defineExplain(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('explain')
    .description('explain a figure: its meaning, its SQL and its value')
    .argument('[figure]', 'name of the figure; without it, all figures are listed')
  addScopeOptions(command)
  command.action((name: string | undefined, options: ScopeOptions) =>
    name === undefined ? listFigures(terminal) : explain(terminal, name, options),
  )
  addExamples(command, [
    'figures explain',
    'figures explain win_rate',
    'figures explain won --from 2026-11-20 --to 2026-11-21 | sqlite3 data/snapshot.db',
    "figures explain open_value --where company_country=Germany --where 'score>=60'",
  ])
}

async function listFigures(terminal: Terminal): Promise<void> {
  if (terminal.json) {
    terminal.printJson(FIGURES.map(({ name, title, unit, meaning }) => ({ name, title, unit, meaning })))
    return
  }
  await terminal.printTable(
    [
      { title: 'FIGURE', value: ({ name }) => name, isWhole: true },
      { title: 'UNIT', value: ({ unit }) => unit, isWhole: true },
      { title: 'MEANING', value: ({ meaning }) => meaning },
    ],
    FIGURES,
  )
}

async function explain(terminal: Terminal, given: string, options: ScopeOptions): Promise<void> {
  const { name, title, meaning, unit, coverage: needed } = requireFigure(given)
  const config = await terminal.dataConfig('time_zone')
  const period = periodOf(options, config.timeZone, new Date())
  await using store = await openDataToRead(config)
  const scope = scopeOf(options, config, period, await listPipelines(store.db))
  const sql = explainFigure(name, scope)
  const rows = await readFigure(store.db, name, scope)
  const known = (await readCoverages(store.db, [scope]))[0]?.get(name)
  const query = needed === null ? null : COVERAGES[needed]
  if (terminal.json) {
    const { from, to, timeZone } = period
    const value = figureJson(unit, rows)
    const coverage = query && {
      ...known,
      meaning: query.meaning,
      sql: explainQuery(query, scope, {}),
    }
    terminal.printJson({
      name,
      title,
      meaning,
      unit,
      period: { from, to, time_zone: timeZone },
      value,
      coverage,
      sql,
    })
    return
  }
  const values = rows.map((row) => [row.of, formatFigure(unit, row)].filter(Boolean).join(' '))
  terminal.print(
    `-- ${title}: ${meaning}`,
    `-- from ${period.from} up to ${period.to} (${period.timeZone}), in ${unit}: ${plainText(values.join(', ')).replaceAll('\n', ' ') || '-'}`,
    ...(query === null ? [] : [`--${formatCoverage(known) || ' known for all leads'}: ${query.meaning}`]),
    sql,
  )
}

/** @throws LeadsheetError usage_invalid if there is no figure of this name */
function requireFigure(name: string): (typeof FIGURES)[number] {
  const found = FIGURES.find((figure) => figure.name === name)
  if (found) return found
  const near = nearest(
    name,
    FIGURES.map((figure) => figure.name),
  )
  throw new LeadsheetError('usage_invalid', `There is no figure ${JSON.stringify(name)}`, {
    hint: near === null ? `${shellCommand('figures explain')} lists them.` : `Did you mean ${near}?`,
  })
}
