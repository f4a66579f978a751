// @both-stores
/** Leads that did not come one by one: imports are not judged, and a backfill is told once. */
import { expect, it } from 'vitest'
import type { PeriodKind } from '../../../src/domain/figures.ts'
import type { Insight } from '../../../src/domain/insight.ts'
import type { Lead } from '../../../src/domain/model.ts'
import { daysUpTo, localDates } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import type { LastReported } from '../../../src/store/figures/report-lists.ts'
import { readInsight, requestOf } from '../../support/reports/request.ts'
import { lead, openEmptyStore, save } from '../../support/store.ts'

const ZONE = 'Europe/Berlin'
const HOUR_MS = 3_600_000

/** Makes leads of a day, each so long after the one before. */
function leadsOn(day: string, count: number, everyMs: number, change: Partial<Lead> = {}): Lead[] {
  const begin = Date.parse(`${day}T07:00:00Z`)
  return Array.from({ length: count }, (_, each) => {
    const at = new Date(begin + each * everyMs).toISOString()
    const times = { createdAt: at, updatedAt: at, statusChangedAt: at }
    return lead(`${day} ${change.source ?? ''} ${each}`, { pipelineId: `p${each % 2}`, ...times, ...change })
  })
}

/** Opens a store with 20 to 24 leads from the web on each of 120 days before 27 November 2026. */
async function openDaily(more: readonly Lead[] = []): Promise<Store> {
  const store = await openEmptyStore()
  const normal = daysUpTo('2026-11-27T06:00:00Z', 120, ZONE).flatMap((day, index) =>
    leadsOn(localDates(day), 20 + (index % 5), HOUR_MS / 3, { source: 'web' }),
  )
  await save(store, normal, '2026-07-01T06:00:00Z')
  await save(store, more, '2026-11-24T12:00:00Z')
  return store
}

interface Asked {
  readonly kind: PeriodKind
  readonly at: string
  readonly pipelineIds: readonly string[] | null
  readonly since: LastReported | null
}

async function insightOf(store: Store, asked: Partial<Asked> = {}): Promise<Insight> {
  const { kind = 'day', at = '2026-11-25', pipelineIds = null, since = null } = asked
  const now = new Date(`${at}T06:00:00Z`)
  const request = requestOf(kind, now, ZONE, { since, filter: { ...EVERY_LEAD, pipelineIds } })
  return readInsight(store, request, now)
}

const newLeads = ({ expectations }: Insight) =>
  expectations.find(({ figure, pipeline }) => figure === 'new_leads' && pipeline === null)

const DAY = '2026-11-24'
const importOf = (count: number, change: Partial<Lead> = {}) =>
  leadsOn(DAY, count, 1000, { source: 'CSV import', ...change })

it('an import is told, and its day, its week and later days are judged as if it were not there', async () => {
  await using plain = await openDaily()
  await using store = await openDaily(importOf(5000))
  const { imports, drivers, expectations } = await insightOf(store)
  expect(imports).toEqual([{ day: DAY, leads: 5000, source: 'CSV import' }])
  expect(drivers).toEqual([])
  expect(expectations).toEqual((await insightOf(plain)).expectations)
  for (const given of [{ at: '2026-11-26' }, { kind: 'week', at: '2026-11-30' }] as const) {
    const later = await insightOf(store, given)
    expect(newLeads(later)).toEqual(newLeads(await insightOf(plain, given)))
    expect(later.pace).toEqual((await insightOf(plain, given)).pace)
    expect(later.imports).toEqual(imports)
  }
  expect((await insightOf(store, { pipelineIds: ['p1'] })).imports).toMatchObject([{ leads: 2500 }])
})

it.each([
  ['from a source with other leads', importOf(400, { source: 'web' }), [403, 'web']],
  ['without a source', importOf(400, { source: null }), [400, null]],
  ['from several sources', [...importOf(200), ...importOf(200, { source: 'event' })], null],
  ['spread over a day', leadsOn(DAY, 400, 120_000, { source: 'launch' }), null],
  ['that are few', importOf(45), null],
])('leads %s', async (_, more, expected) => {
  const leads = more.map((each, index) => ({ ...each, id: `more ${index}` }))
  await using store = await openDaily(leads)
  const { imports = [], expectations } = await insightOf(store)
  expect(imports.map(({ leads, source }) => [leads, source])).toEqual(expected === null ? [] : [expected])
  const [judged] = expectations
  expect(judged?.judgement).toBe(expected === null ? 'high' : 'normal')
})

it('a list that is loaded each week is no import, because its numbers are normal', async () => {
  const lists = daysUpTo('2026-11-25T06:00:00Z', 118, ZONE)
    .map(localDates)
    .filter((day) => new Date(day).getUTCDay() === 2)
    .flatMap((day) => leadsOn(day, 300, 1000, { source: 'list' }))
  await using store = await openDaily(lists)
  const insight = await insightOf(store)
  expect(insight.imports).toEqual([])
  expect(newLeads(insight)?.judgement).toBe('normal')
})

/** Makes old leads on each day from July 2024 to March 2026. */
const backfillOf = (each: number) =>
  daysUpTo('2026-03-16T12:00:00Z', 623, ZONE).flatMap((day) =>
    leadsOn(localDates(day), each, HOUR_MS, { source: 'old', valueAmount: 100, valueCurrency: 'USD' }),
  )

it('a backfill is told once, and normal ranges stay as they were', async () => {
  await using plain = await openDaily()
  await using store = await openDaily(backfillOf(5))
  const insight = await insightOf(store)
  expect(insight.backfill).toEqual({
    leads: 3115,
    openValue: [{ amount: 311_500, currency: 'USD' }],
  })
  expect(insight.imports).toEqual([])
  expect(newLeads(insight)?.judgement).toBe('normal')
  const [range, before] = [newLeads(insight)?.range, newLeads(await insightOf(plain))?.range]
  expect(Math.abs((range?.low ?? 0) - (before?.low ?? 0))).toBeLessThan(4)
  expect(Math.abs((range?.high ?? 0) - (before?.high ?? 0))).toBeLessThan(4)
  const since = { at: '2026-11-24T23:00:00.000Z', knownAt: '2026-11-25T06:00:00.000Z' }
  expect((await insightOf(store, { at: '2026-11-26', since })).backfill).toBeNull()
})

it('a first load and a few old leads are no backfill', async () => {
  await using store = await openDaily(backfillOf(1).slice(0, 40))
  expect((await insightOf(store)).backfill).toBeNull()
  await using first = await openEmptyStore()
  await save(first, backfillOf(5), '2026-11-24T12:00:00Z')
  expect((await insightOf(first)).backfill).toBeNull()
})
