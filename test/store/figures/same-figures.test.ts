/** The same past in both databases: each figure and each section of a report is equal to the last digit. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LeadFilter } from '../../../src/domain/figures.ts'
import type { Lead } from '../../../src/domain/model.ts'
import { daysUpTo, periodOf, priorOf } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import type { FigureScope } from '../../../src/store/figures/query.ts'
import { readFigures, readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { recordDeletions } from '../../../src/store/leads/lead-version.ts'
import { saveStages } from '../../../src/store/leads/stages.ts'
import { openStore } from '../../../src/store/open.ts'
import { saveAgents, savePipelineStat } from '../../../src/store/sync/samples.ts'
import { hasPostgres, preparedDatabase } from '../../support/postgres.ts'
import { random } from '../../support/random.ts'
import { agent, lead, OPENED_AT, observedAt, STAGES, save, saveEndedRun, stat } from '../../support/store.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const DAY_MS = 86_400_000
const START = Date.parse('2026-11-01T00:00:00Z')
const DAYS = 20
const LEADS = 80

type Next = () => number

const pick = <T>(next: Next, of: readonly T[]): T => of[Math.floor(next() * of.length)] as T
const day = (days: number): string => new Date(START + Math.round(days * DAY_MS)).toISOString()

/** Names that are equal or ordered differently when sorted by language, without case, or by UTF-16 units. */
const NAMES = [
  'Zebra',
  'zebra',
  'Äpfel',
  'apfel',
  'Ärzte',
  'éclair',
  '10 Euro',
  '9 Euro',
  '_x',
  '-x',
  'ß',
  '\u{1F680}',
  '\uFFFD',
  '深圳',
  'O\'Hara \\ "1"',
  ' ',
]

/** Cents, half cents, numbers that a double cannot hold, very small and very large ones. */
const AMOUNTS: readonly ((next: Next) => number)[] = [
  (next) => Math.floor(next() * 1e7) / 100,
  (next) => Math.floor(next() * 1e5) + 0.005,
  (next) => Math.floor(next() * 1e6) / 1000,
  (next) => -Math.floor(next() * 1e4) / 100,
  () => 0.1,
  () => 0,
  () => 1e-7,
]
const CURRENCIES = ['EUR', 'USD', 'CHF', 'eur', 'JPY', 'ÖS', null]

/**
 * One lead is worth up to 1e15, in its own currency. With larger sums, neither database keeps cents, and
 * above 2^53 not even whole units.
 */
function moneyOf(number: number, next: Next): Pick<Lead, 'valueAmount' | 'valueCurrency'> {
  if (number === 0) return { valueAmount: Math.floor(next() * 1e15), valueCurrency: 'IDR' }
  if (next() < 0.2) return { valueAmount: null, valueCurrency: pick(next, CURRENCIES) }
  return { valueAmount: pick(next, AMOUNTS)(next), valueCurrency: pick(next, CURRENCIES) }
}

/**
 * Plays the days in each store alike: some leads change, a few go or come back, and everything new is read in
 * the evening.
 */
async function liveThrough(store: Store, next: Next): Promise<void> {
  const leads = new Map<string, Lead>()
  const gone = new Set<string>()
  await store.write((trx) => saveStages(trx, STAGES))
  for (let today = 0; today < DAYS; today++) {
    const evening = day(today + 1)
    const changed: Lead[] = []
    for (let number = 0; number < LEADS; number++) {
      if (next() > 0.2) continue
      const id = `${pick(random(number), NAMES)}${number}`
      const before = leads.get(id)
      const at = day(today + next())
      const status =
        before && next() < 0.4
          ? before.status
          : pick(next, [...STAGES.map((each) => each.status), 'on_hold', 'Neu'])
      const now = lead(id, {
        ...before,
        ...moneyOf(number, next),
        status,
        statusChangedAt: before?.status === status ? before.statusChangedAt : at,
        pipelineId: before?.pipelineId ?? pick(next, ['p1', 'p2', 'P3', 'ä4']),
        createdAt: before?.createdAt ?? day(today + next() - 3),
        companyName: before ? before.companyName : pick(next, [...NAMES, null]),
        companyCountry: pick(next, ['DE', 'Österreich', 'österreich', null]),
        tags: pick(next, [[], ['a', 'ä'], ["it's"]]),
        source: before ? before.source : pick(next, [...NAMES, null]),
        score: pick(next, [null, Math.floor(next() * 100), next() * 100]),
        updatedAt: at,
      })
      leads.set(now.id, now)
      gone.delete(now.id)
      changed.push(now)
    }
    await save(store, changed, evening)
    const going = [...leads.keys()].filter((id) => !gone.has(id) && next() < 0.02)
    await store.write(async (trx) => {
      for (const id of going) {
        await trx.updateTable('lead').set({ deleted_at: evening }).where('id', '=', id).execute()
        gone.add(id)
      }
      await recordDeletions(trx, going, observedAt(evening))
    })
    await saveEndedRun(store, evening)
    await store.write(async (trx) => {
      for (const id of ['p1', 'p2', 'P3', 'ä4']) {
        const reached = { new: 10, contacted: 7, won: Math.floor(next() * 7) }
        const told = {
          leads: 3,
          open: 2,
          won: 1,
          lost: 1,
          winRate: 0.5,
          openValue: { amount: 0.1, currency: 'EUR' },
        }
        await savePipelineStat(
          trx,
          { ...stat(id, evening, reached), name: pick(random(today), NAMES) + id, ...told },
          observedAt(evening),
        )
      }
      const agents = NAMES.map((name) => ({
        ...agent(name, pick(next, ['active', 'Failing', 'down', 'idle'])),
        name,
      }))
      await saveAgents(trx, agents, observedAt(evening), { isWhole: true })
    })
  }
}

async function makeInPostgres(url: string): Promise<void> {
  await using store = await openStore(url, OPENED_AT)
  await liveThrough(store, random(SEED))
}

const FILTERS: readonly LeadFilter[] = [
  { pipelineIds: null, conditions: [] },
  { pipelineIds: ['p2', 'ä4'], conditions: [] },
  {
    pipelineIds: null,
    conditions: [
      { field: 'score', min: 10.5, max: null },
      { field: 'company_country', in: ['Österreich', "o'hara", 'DE'] },
    ],
  },
  { pipelineIds: ['p1', 'p2'], conditions: [{ field: 'tags', in: ['ä', "it's"] }] },
]

describe.skipIf(!hasPostgres)(`figures in both databases (SEED=${SEED})`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-'))
  let inFile: Store
  let inPostgres: Store
  beforeAll(async () => {
    inFile = await openStore(join(folder, 'leadsheet.db'), OPENED_AT)
    await liveThrough(inFile, random(SEED))
    inPostgres = await openStore(await preparedDatabase('same-figures', makeInPostgres), OPENED_AT)
  })
  afterAll(async () => {
    await inFile.close()
    await inPostgres.close()
    rmSync(folder, { recursive: true })
  })
  const inBoth = async <T>(read: (store: Store) => Promise<T>): Promise<[T, T]> => [
    await read(inFile),
    await read(inPostgres),
  ]

  it('are the same of any period and filter', async () => {
    const next = random(SEED + 1)
    const scopes = Array.from({ length: 12 }, (): FigureScope => {
      const from = next() * DAYS
      const filter = pick(next, FILTERS)
      return { from: day(from), to: day(from + next() * 10), filter, stalledDays: 3 }
    })
    const [plain, shared] = await inBoth(({ db }) => readFigures(db, scopes))
    for (const [index, scope] of scopes.entries())
      expect(shared[index], JSON.stringify(scope)).toEqual(plain[index])
  })

  it('are the same in each section of a report', async () => {
    const zone = 'Europe/Berlin'
    for (const filter of FILTERS) {
      const period = periodOf('week', new Date(day(18)), zone, { holidays: [], lastEnd: null })
      const [plain, shared] = await inBoth(({ db }) =>
        readReportFigures(db, {
          kind: 'week',
          period,
          prior: priorOf('week', period),
          filter,
          stalledDays: 2,
          topScore: 20,
          rowsMax: 15,
          trendDays: daysUpTo(period.to, 15, zone),
          since: { at: day(6), knownAt: day(8) },
        }),
      )
      expect(plain.failed).toEqual([])
      // The ids of runs are random.
      const freshness = { ...shared.freshness, runId: plain.freshness.runId }
      expect({ ...shared, freshness }).toEqual(plain)
    }
  })
})
