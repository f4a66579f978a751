/** An invented past as a report tells it: each figure and each section, equal in both databases to the last digit. */
import { join } from 'node:path'
import { CompiledQuery } from 'kysely'
import { expect, it } from 'vitest'
import type { LeadFilter } from '../../../src/domain/figures.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { FIGURES } from '../../../src/store/figures/definition.ts'
import { explainFigure, readFigure } from '../../../src/store/figures/query.ts'
import { readCoverages, readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { saveStages } from '../../../src/store/leads/stages.ts'
import { openStore } from '../../../src/store/open.ts'
import { saveAgents, savePipelineStat } from '../../../src/store/sync/samples.ts'
import { folderWith } from '../../support/folder.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { random } from '../../support/random.ts'
import { requestOf } from '../../support/reports/request.ts'
import {
  agent,
  deleteLeads,
  lead,
  OPENED_AT,
  observedAt,
  openInPostgres,
  STAGES,
  save,
  saveEndedRun,
  stat,
} from '../../support/store.ts'

const START = Date.parse('2026-11-01T00:00:00Z')
const day = (days: number): string => new Date(START + Math.round(days * 86_400_000)).toISOString()

/** Names that are equal or ordered differently when sorted by language, without case, or by UTF-16 units. */
const NAMES = [
  ...['Zebra', 'zebra', 'Äpfel', 'apfel', 'éclair', '10 Euro', '9 Euro', '_x', '-x', 'ß', ' '],
  ...['\u{1F680}', '\uFFFD', '深圳', 'O\'Hara \\ "1"'],
]
/** Cents, half cents, numbers that a double cannot hold, and small ones. */
const AMOUNTS = [0.1, 0, 1e-7, 12_345.67, 99.005, 0.015, -3.3, null]
const CURRENCIES = ['EUR', 'eur', 'JPY', 'ÖS', null]
const PIPELINES = ['p1', 'p2', 'P3', 'ä4']

/** Reads three states of each lead, statistics and agents, in any store alike. */
async function liveThrough(store: Store): Promise<void> {
  const next = random(20)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T
  await store.write((trx) => saveStages(trx, STAGES))
  for (const evening of [6, 13, 19]) {
    const leads = Array.from({ length: 60 }, (_, number) => {
      const name = NAMES[number % NAMES.length] ?? ''
      const at = day(evening - 5 * next())
      return lead(`${name}${number}`, {
        status: pick([...STAGES.map((each) => each.status), 'on_hold', 'Neu']),
        statusChangedAt: at,
        updatedAt: at,
        createdAt: day(number / 4),
        pipelineId: pick(PIPELINES),
        companyName: name,
        companyCountry: pick(['DE', 'Österreich', 'österreich', null]),
        tags: pick([[], ['a', 'ä'], ["it's"]]),
        source: name,
        score: pick([null, Math.floor(next() * 100), next() * 100]),
        valueAmount: pick(AMOUNTS),
        valueCurrency: pick(CURRENCIES),
      })
    })
    // Some leads are not read each time, and some are gone for a week or for good.
    const arriving = leads.filter((_, number) => number === 0 || next() < 0.8)
    await save(store, arriving, day(evening))
    const ids = arriving.map(({ id }) => id).filter((_, number) => number % 9 === 4)
    await deleteLeads(store, ids, day(evening + 0.5))
    await saveEndedRun(store, day(evening))
    await store.write(async (trx) => {
      for (const id of PIPELINES) {
        const told = { name: pick(NAMES), leads: 3, won: 1, winRate: 0.5 }
        const reached = { new: 10, won: 3 }
        await savePipelineStat(trx, { ...stat(id, day(evening), reached), ...told }, observedAt(day(evening)))
      }
      const agents = NAMES.map((name) => ({ ...agent(name, pick(['active', 'Failing', 'down'])), name }))
      await saveAgents(trx, agents, observedAt(day(evening)), { isWhole: true })
    })
  }
}

const SCORE = { field: 'score', min: 10.5, max: null }

/** Reports by the day on which they are made. After the 20th nothing was read. */
const REPORTS: readonly ['week' | 'day' | 'month', number, string[] | null, LeadFilter['conditions']][] = [
  ['week', 18, null, []],
  ['day', 22, ['p1', 'ä4'], []],
  ['month', 31, null, [SCORE, { field: 'company_country', in: ['Österreich', "o'hara", 'DE'] }]],
  ['day', 14, ['p1', 'P3'], [{ field: 'tags', in: ['ä', "it's"] }]],
]

async function read({ db }: Store, [kind, at, pipelineIds, conditions]: (typeof REPORTS)[number]) {
  const filter = { pipelineIds, conditions }
  const request = requestOf(kind, new Date(day(at)), 'Europe/Berlin', {
    filter,
    stalledDays: 2,
    topScore: 20,
    rowsMax: 6,
    since: { at: day(6), knownAt: day(8) },
  })
  const { period } = request
  const trendDays = request.trendDays.slice(-10)
  const report = await readReportFigures(db, { ...request, trendDays })
  const figures: Record<string, unknown> = {}
  const scope = { from: period.from, to: period.to, filter, stalledDays: 3 }
  const [coverages] = await readCoverages(db, [scope])
  for (const { name } of FIGURES) {
    const found = await readFigure(db, name, scope)
    figures[name] = [...found, { coverage: coverages?.get(name) }]
    // The SQL that is shown to analysts gives the same values.
    const { rows } = await db.executeQuery(CompiledQuery.raw(explainFigure(name, scope)))
    expect(rows, name).toEqual(found.map(({ value }) => expect.objectContaining({ value })))
  }
  // The ids of runs are random.
  return { ...report, freshness: { ...report.freshness, runId: null }, figures }
}

/** Writes a value as JSON, in one line where it is short. */
function shown(value: unknown, indent = ''): string {
  const text = JSON.stringify(value)
  if (text.length < 320 || typeof value !== 'object' || value === null) return text
  const of = Object.entries(value).map(
    ([name, each]) => `${indent}  ${Array.isArray(value) ? '' : `${name}: `}${shown(each, `${indent}  `)}`,
  )
  return ['', ...of].join('\n')
}

it('figures and reports are the same in both databases', async () => {
  await using inFile = await openStore(join(folderWith(), 'leadsheet.db'), OPENED_AT)
  await liveThrough(inFile)
  const reports = []
  for (const report of REPORTS) reports.push(await read(inFile, report))
  await expect(`${reports.map((report) => shown(report)).join('\n\n')}\n`).toMatchFileSnapshot(
    'golden/reports.txt',
  )
  if (!hasPostgres) return
  await using inPostgres = await openInPostgres()
  await liveThrough(inPostgres)
  for (const [index, report] of REPORTS.entries())
    expect(await read(inPostgres, report)).toEqual(reports[index])
})
