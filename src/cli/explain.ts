/**
 * `leadsheet explain`: what a figure means, its value, and its SQL with the values in it. What it prints is SQL from
 * the first line to the last, so that it can be piped into sqlite3 or pasted there as it is.
 */
import type { Command } from 'commander'
import { nearest } from '../config/nearest.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { COVERAGES } from '../store/figures/coverage.ts'
import { FIGURES } from '../store/figures/definition.ts'
import { explainFigure, explainQuery, readFigure } from '../store/figures/query.ts'
import { listPipelines, readCoverages } from '../store/figures/read-figures.ts'
import { addExamples } from './command.ts'
import { addScopeOptions, periodOf, type ScopeOptions, scopeOf } from './figure-scope.ts'
import { figureJson, formatCoverage, formatFigure } from './figure-text.ts'
import { openDataIfThere } from './installation.ts'
import { plainText } from './plain-text.ts'
import type { Terminal } from './terminal.ts'

export function defineExplain(command: Command, terminal: Terminal): void {
  command.argument('[figure]', 'name of the figure; all of them are listed without')
  addScopeOptions(command)
  command.action((name: string | undefined, options: ScopeOptions) =>
    name === undefined ? listFigures(terminal) : explain(terminal, name, options),
  )
  addExamples(command, [
    'explain',
    'explain win_rate',
    'explain won --from 2026-11-20 --to 2026-11-21 | sqlite3 data/snapshot.db',
    "explain open_value --where company_country=Germany --where 'score>=60'",
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
  const config = await terminal.config()
  const period = periodOf(options, config.timeZone, new Date())
  await using store = await openDataIfThere(config)
  const scope = scopeOf(options, config, period, await listPipelines(store.db))
  const sql = explainFigure(name, scope)
  const rows = await readFigure(store.db, name, scope)
  const known = (await readCoverages(store.db, [scope]))[0]?.get(name)
  const query = needed === null ? null : COVERAGES[needed]
  if (terminal.json) {
    const { from, to, timeZone } = period
    const value = figureJson(unit, rows)
    const coverage = query && {
      ...{ ...known, meaning: query.meaning, sql: explainQuery(query, scope, {}) },
    }
    terminal.printJson({
      ...{ name, title, meaning, unit, period: { from, to, time_zone: timeZone }, value, coverage, sql },
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

/** @throws LeadsheetError usage_invalid */
function requireFigure(name: string): (typeof FIGURES)[number] {
  const found = FIGURES.find((figure) => figure.name === name)
  if (found) return found
  const near = nearest(
    name,
    FIGURES.map((figure) => figure.name),
  )
  throw new LeadsheetError('usage_invalid', `There is no figure ${JSON.stringify(name)}`, {
    hint: near === null ? `${shellCommand('explain')} lists them.` : `Did you mean ${near}?`,
  })
}
