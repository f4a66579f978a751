/** `leadsheet figures`: every figure of a period beside that of the period before, in all and by pipeline. */
import type { Command } from 'commander'
import { periodBefore } from '../domain/period.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { Instant, Period } from '../model.ts'
import type { Db } from '../store/db/store.ts'
import { FIGURES, type FigureDefinition, type FigureName } from '../store/figures/definition.ts'
import {
  type Coverages,
  type Figures,
  listPipelines,
  readCoverages,
  readFigures,
} from '../store/figures/read-figures.ts'
import { findLastWholeRun } from '../store/sync/sync-run.ts'
import { addExamples } from './command.ts'
import { addScopeOptions, periodOf, type ScopeOptions, scopeOf } from './figure-scope.ts'
import { figureJson, formatCoverage, formatFigure } from './figure-text.ts'
import { openDataIfThere } from './installation.ts'
import { type Column, formatInstant } from './table.ts'
import type { Terminal } from './terminal.ts'

/** The figures of all pipelines together, or of one. */
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
  readonly asKnownAt: Instant | null
  readonly dataAsOf: Instant
}

/** A line of the table: a figure, or one of its currencies or statuses. */
interface Line {
  readonly figure: FigureDefinition & { readonly name: FigureName }
  readonly of: string | null
}

export function defineFigures(command: Command, terminal: Terminal): void {
  addScopeOptions(command)
  command.action((options: ScopeOptions) => figures(terminal, options))
  addExamples(command, [
    'figures',
    'figures --from 2026-11-01 --to 2026-12-01 --json',
    'figures --pipeline pl_01 --as-known-at 2026-11-20T06:00:00Z',
  ])
}

async function figures(terminal: Terminal, options: ScopeOptions): Promise<void> {
  const config = await terminal.config()
  const period = periodOf(options, config.timeZone, new Date())
  const prior = periodBefore(period)
  await using store = await openDataIfThere(config)
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
  const facts = { period, prior, asKnownAt: scope.asKnownAt, dataAsOf }
  if (terminal.json) printJson(terminal, facts, groups)
  else await printTable(terminal, facts, groups)
}

/** @throws LeadsheetError report_no_data */
async function requireData(db: Db): Promise<Instant> {
  const whole = await findLastWholeRun(db)
  if (whole) return whole.asOf
  throw new LeadsheetError('report_no_data', 'There are no figures: no sync has read all leads yet', {
    hint: `Run ${shellCommand('sync')} first.`,
  })
}

function printJson(terminal: Terminal, asked: Asked, groups: readonly Group[]): void {
  const { period, prior, asKnownAt, dataAsOf } = asked
  terminal.printJson({
    period: { from: period.from, to: period.to, time_zone: period.timeZone },
    prior: { from: prior.from, to: prior.to },
    as_known_at: asKnownAt,
    data_as_of: dataAsOf,
    figures: FIGURES.map(({ name, title, unit, meaning }) => ({
      ...{ name, title, unit, meaning },
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
    terminal.note(`The copy is of ${formatInstant(dataAsOf)}: what came later in the period is not in it.`)
  }
}

/** What a figure has values for; a figure without any still has a line. */
function ofsOf({ name }: Line['figure'], groups: readonly Group[]): (string | null)[] {
  const ofs = groups.flatMap(({ current, prior }) =>
    [...(current.get(name) ?? []), ...(prior.get(name) ?? [])].map((row) => row.of),
  )
  return ofs.length === 0 ? [null] : [...new Set(ofs)]
}

/** `2026-11-14 to 2026-11-20`, by the days of its zone. */
function spanOf(period: Period): string {
  const date = new Intl.DateTimeFormat('en-CA', { timeZone: period.timeZone, dateStyle: 'short' })
  return `${date.format(Date.parse(period.from))} to ${date.format(Date.parse(period.to) - 1)}`
}
