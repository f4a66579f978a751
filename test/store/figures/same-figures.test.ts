/** The same past in both databases: each figure and each section of a report is equal to the last digit. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { LeadFilter } from '../../../src/domain/figures.ts'
import { daysUpTo, periodOf, priorOf } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { readFigures, readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { saveStages } from '../../../src/store/leads/stages.ts'
import { openStore } from '../../../src/store/open.ts'
import { saveAgents, savePipelineStat } from '../../../src/store/sync/samples.ts'
import { folderWith } from '../../support/folder.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { random } from '../../support/random.ts'
import {
  agent,
  lead,
  migratedDatabase,
  OPENED_AT,
  observedAt,
  STAGES,
  save,
  saveEndedRun,
  stat,
} from '../../support/store.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
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

/** Reads three states of each lead, statistics and agents, in any store alike. */
async function liveThrough(store: Store): Promise<void> {
  const next = random(SEED)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T
  await store.write((trx) => saveStages(trx, STAGES))
  for (const evening of [6, 13, 19]) {
    const leads = Array.from({ length: 80 }, (_, number) => {
      const name = NAMES[number % NAMES.length] ?? ''
      const at = day(evening - 5 * next())
      return lead(`${name}${number}`, {
        status: pick([...STAGES.map((each) => each.status), 'on_hold', 'Neu']),
        statusChangedAt: at,
        updatedAt: at,
        createdAt: day(number / 5),
        pipelineId: pick(['p1', 'p2', 'P3', 'ä4']),
        companyName: name,
        companyCountry: pick(['DE', 'Österreich', 'österreich', null]),
        tags: pick([[], ['a', 'ä'], ["it's"]]),
        source: name,
        score: pick([null, Math.floor(next() * 100), next() * 100]),
        valueAmount: pick(AMOUNTS),
        valueCurrency: pick(CURRENCIES),
      })
    })
    await save(store, leads, day(evening))
    await saveEndedRun(store, day(evening))
    await store.write(async (trx) => {
      for (const id of ['p1', 'p2', 'P3', 'ä4']) {
        const told = {
          ...stat(id, day(evening), { new: 10, won: 3 }),
          name: pick(NAMES),
          leads: 3,
          won: 1,
          winRate: 0.5,
        }
        await savePipelineStat(trx, told, observedAt(day(evening)))
      }
      const agents = NAMES.map((name) => ({ ...agent(name, pick(['active', 'Failing', 'down'])), name }))
      await saveAgents(trx, agents, observedAt(day(evening)), { isWhole: true })
    })
  }
}

const FILTERS: readonly LeadFilter[] = [
  { pipelineIds: null, conditions: [] },
  {
    pipelineIds: null,
    conditions: [
      { field: 'score', min: 10.5, max: null },
      { field: 'company_country', in: ['Österreich', "o'hara", 'DE'] },
    ],
  },
  { pipelineIds: ['p1', 'ä4'], conditions: [{ field: 'tags', in: ['ä', "it's"] }] },
]

it.skipIf(!hasPostgres)(`figures and reports are the same in both databases (SEED=${SEED})`, async () => {
  await using inFile = await openStore(join(folderWith(), 'leadsheet.db'), OPENED_AT)
  await using inPostgres = await openStore(
    await newDatabase({ template: await migratedDatabase() }),
    OPENED_AT,
  )
  for (const store of [inFile, inPostgres]) await liveThrough(store)
  const zone = 'Europe/Berlin'
  const period = periodOf('week', new Date(day(18)), zone, { holidays: [], lastEnd: null })
  for (const filter of FILTERS) {
    const scopes = [2, 9, 15].map((from) => ({ from: day(from), to: day(from + 5), filter, stalledDays: 3 }))
    const request = {
      kind: 'week',
      period,
      prior: priorOf('week', period),
      filter,
      stalledDays: 2,
      topScore: 20,
    } as const
    const more = {
      rowsMax: 15,
      trendDays: daysUpTo(period.to, 15, zone),
      since: { at: day(6), knownAt: day(8) },
    }
    const read = async ({ db }: Store) => {
      const report = await readReportFigures(db, { ...request, ...more })
      // The ids of runs are random.
      return {
        ...report,
        freshness: { ...report.freshness, runId: null },
        figures: await readFigures(db, scopes),
      }
    }
    const plain = await read(inFile)
    expect(plain.failed).toEqual([])
    expect(await read(inPostgres), JSON.stringify(filter)).toEqual(plain)
  }
})
