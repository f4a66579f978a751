// @both-stores
/** The judgement of a report's numbers, from leads that a test makes day by day. */
import { describe, expect, it } from 'vitest'
import type { Goal, LastUnusualDays } from '../../../src/domain/insight.ts'
import type { Lead } from '../../../src/domain/model.ts'
import { daysUpTo, localDates } from '../../../src/domain/period.ts'
import { annotate, removeAnnotation } from '../../../src/jobs/annotations.ts'
import { type JudgedReport, judgeNumbers } from '../../../src/jobs/insight/judge-numbers.ts'
import type { Store } from '../../../src/store/db/store.ts'
import type { ReportRequest } from '../../../src/store/figures/report-figures.ts'
import { random } from '../../support/random.ts'
import { COVERED, requestOf } from '../../support/reports/request.ts'
import { lead, openEmptyStore, save } from '../../support/store.ts'

const NOW = new Date('2026-11-21T06:00:00.000Z')
const ZONE = 'Europe/Berlin'
const DAYS = daysUpTo(NOW.toISOString(), 91, ZONE)

interface Planted {
  /** Returns the mean of new leads on a day, by source. */
  readonly mean: (source: string, daysAgo: number) => number
  /** If true, each day has exactly the mean. */
  readonly isExact?: true
}

/** Makes leads of 90 days from two sources in two pipelines. Some are won a day later. */
async function storeWith({ mean, isExact }: Planted): Promise<Store> {
  const store = await openEmptyStore()
  const next = random(3)
  const leads: Lead[] = []
  for (const [index, day] of DAYS.entries()) {
    for (const source of ['web', 'referral']) {
      const wanted = mean(source, DAYS.length - 1 - index)
      let count = isExact ? wanted : 0
      for (let left = next(); !isExact && left > Math.exp(-wanted); left *= next()) count++
      for (let each = 0; each < count; each++) {
        const at = new Date(Date.parse(day.from) + 3_600_000 + each * 60_000).toISOString()
        const pipelineId = each % 2 === 0 ? 'p1' : 'p2'
        const times = { createdAt: at, updatedAt: at, statusChangedAt: at }
        leads.push(lead(`${localDates(day)} ${source} ${each}`, { pipelineId, source, ...times }))
      }
    }
  }
  await save(store, leads)
  return store
}

const requestFor = (change: Partial<ReportRequest> = {}, kind: ReportRequest['kind'] = 'day') =>
  requestOf(kind, NOW, ZONE, change)

const judge = (
  store: Store,
  request = requestFor(),
  change: Partial<JudgedReport> = {},
  lastUnusual: LastUnusualDays = {},
) => judgeNumbers({ store, now: () => NOW }, request, { ...COVERED, ...change }, lastUnusual)
const previous = (date: string) => new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10)
/** Annotates a day of the report's past. */
const note = (store: Store, ago: number, pipelineId: string | null = null, isLeftOut = true) => {
  const days = localDates(DAYS.at(-1 - ago) ?? requestFor().period)
  const given = { days, text: 'campaign', pipelineId, isLeftOut, writtenBy: 'test' }
  return annotate(store, given, NOW)
}
const newLeads = ({ expectations }: Awaited<ReturnType<typeof judge>>) =>
  expectations.find(({ figure, pipeline }) => figure === 'new_leads' && pipeline === null)

describe('the numbers of a day', () => {
  it('are normal where nothing changed, with a range and a record', async () => {
    await using store = await storeWith({ mean: () => 20 })
    const { expectations, drivers } = await judge(store)
    expect(expectations.map(({ figure, pipeline }) => `${figure} ${pipeline?.id ?? ''}`)).toEqual([
      'new_leads ',
      'won ',
      'new_leads p1',
      'new_leads p2',
    ])
    for (const { figure, judgement, shift } of expectations)
      expect([judgement, shift]).toEqual([figure === 'won' ? 'learning' : 'normal', null])
    expect(drivers).toEqual([])
    const judged = newLeads({ expectations, lastUnusual: {}, drivers, pace: [], winRates: [] })
    expect(judged?.range?.low).toBeGreaterThan(15)
    expect(judged?.range?.high).toBeLessThan(65)
    expect(judged?.actual).toBeGreaterThanOrEqual(judged?.range?.low ?? 99)
    expect(judged?.record?.of).toBeGreaterThan(20)
  })

  it('are too low where a source is down, and the difference came from that source', async () => {
    await using store = await storeWith({ mean: (source, ago) => (source === 'web' && ago === 0 ? 0.1 : 20) })
    const judged = await judge(store)
    expect(newLeads(judged)).toMatchObject({ judgement: 'low', shift: null })
    const [driver] = judged.drivers
    expect(driver).toMatchObject({ figure: 'new_leads', dimension: 'source', parts: [{ name: 'web' }] })
    const namedSum = driver?.parts.reduce((sum, { difference }) => sum + difference, 0) ?? 0
    expect(namedSum + (driver?.rest ?? 0)).toBe((driver?.actual ?? 0) - (driver?.expected ?? 0))
  })

  it('name no part where all fall alike, and no pipeline', async () => {
    await using store = await storeWith({ mean: (_, ago) => (ago === 0 ? 5 : 20) })
    const judged = await judge(store)
    expect(newLeads(judged)?.judgement).toBe('low')
    expect(judged.drivers).toEqual([])
    const ofNew = judged.expectations.filter(({ figure }) => figure === 'new_leads')
    expect(ofNew.map(({ judgement }) => judgement)).toEqual(['low', 'normal', 'normal'])
    expect(Object.keys(judged.lastUnusual)).toEqual(['new_leads '])
  })

  it('tell of a run of days that is unusual only together', async () => {
    await using store = await storeWith({ mean: (_, ago) => (ago < 7 ? 16 : 20), isExact: true })
    const judged = newLeads(await judge(store))
    expect(judged).toMatchObject({ judgement: 'normal' })
    expect(judged?.shift?.days).toBeGreaterThan(1)
    expect(judged?.shift?.actual).toBeLessThan(judged?.shift?.expected ?? 0)
  })

  it('are news until a report called out a part of the same days, however many reports lie between', async () => {
    await using store = await storeWith({ mean: (_, ago) => (ago < 7 ? 16 : 20), isExact: true })
    const first = await judge(store)
    const { since = '', isNew } = newLeads(first)?.shift ?? {}
    expect(isNew).toBe(true)
    expect(first.lastUnusual).toHaveProperty(['new_leads '], localDates(requestFor().period))
    const againWith = async (lastUnusual: LastUnusualDays) =>
      newLeads(await judge(store, requestFor(), {}, lastUnusual))?.shift?.isNew
    expect(await againWith({ 'new_leads ': since })).toBe(false)
    expect(await againWith({ 'new_leads ': previous(since) })).toBe(true)
    expect(await againWith({ 'new_leads p1': since, 'won ': since })).toBe(true)
  })

  it('of a filter by columns are not judged, and those of some pipelines only by these', async () => {
    await using store = await storeWith({ mean: () => 20 })
    const conditions = [{ field: 'score', min: 50, max: null }]
    const filtered = requestFor({ filter: { pipelineIds: null, conditions } })
    expect(await judge(store, filtered)).toEqual({
      expectations: [],
      lastUnusual: {},
      drivers: [],
      pace: [],
      winRates: [],
      imports: [],
    })
    const one = await judge(store, requestFor({ filter: { pipelineIds: ['p2'], conditions: [] } }))
    expect(one.expectations.map(({ pipeline }) => pipeline)).toEqual([null, null])
    expect(newLeads(one)?.range?.high).toBeLessThan(40)
  })

  it('are judged without the holidays before them, of which nothing is learned', async () => {
    const ago = [7, 21]
    const holidays = ago.flatMap((each) => localDates(DAYS.at(-1 - each) ?? requestFor().period))
    await using quiet = await storeWith({ mean: (_, day) => (ago.includes(day) ? 0 : 20), isExact: true })
    await using busy = await storeWith({ mean: (_, day) => (ago.includes(day) ? 60 : 20), isExact: true })
    const [one, other] = [quiet, busy].map(async (store) =>
      newLeads(await judge(store, requestFor(), { holidays })),
    )
    const judged = await one
    expect(judged).toMatchObject({ judgement: 'normal', actual: 40 })
    expect(await other).toEqual(judged)
    expect(newLeads(await judge(quiet))).not.toEqual(judged)
  })

  it('of a holiday are not judged', async () => {
    await using store = await storeWith({ mean: (_, ago) => (ago === 0 ? 0 : 20), isExact: true })
    const holidays = [localDates(requestFor().period)]
    expect(newLeads(await judge(store))?.judgement).toBe('low')
    const lastUnusual = { 'new_leads ': '2026-11-01' }
    const judged = await judge(store, requestFor(), { holidays }, lastUnusual)
    expect(judged).toMatchObject({ expectations: [], lastUnusual })
  })

  it('of an annotated day are not judged, and those of other pipelines are', async () => {
    await using store = await storeWith({ mean: (_, ago) => (ago === 0 ? 60 : 20), isExact: true })
    await note(store, 0, 'p1')
    const { expectations, drivers } = await judge(store)
    const judged = expectations.filter(({ figure }) => figure === 'new_leads')
    expect(judged.map(({ pipeline, judgement }) => [pipeline?.id ?? null, judgement])).toEqual([
      ...[[null, 'left_out'] as const, ['p1', 'left_out'] as const, ['p2', 'high'] as const],
    ])
    expect(judged[0]).toMatchObject({ actual: 120, range: null, expected: null, shift: null })
    expect(drivers).toEqual([])
  })

  it('are judged without the annotated days before them, unless these are only marked', async () => {
    const mean = (_: string, ago: number) => (ago === 7 ? 60 : 20)
    await using store = await storeWith({ mean, isExact: true })
    const shifted = newLeads(await judge(store))
    const { id } = await note(store, 7, null, false)
    expect(newLeads(await judge(store))).toEqual(shifted)
    await removeAnnotation(store, id)
    await note(store, 7)
    const judged = newLeads(await judge(store))
    await using quiet = await storeWith({ mean: () => 20, isExact: true })
    await note(quiet, 7)
    expect(judged).toEqual(newLeads(await judge(quiet)))
    expect(judged?.range?.high).toBeLessThan(shifted?.range?.high ?? 0)
  })

  it('have no range before eight of the same weekday, and say how many there are', async () => {
    await using store = await storeWith({ mean: (_, ago) => (ago > 33 ? 0 : 20) })
    expect(newLeads(await judge(store))).toMatchObject({
      judgement: 'learning',
      range: null,
      periods: { known: 4, needed: 8 },
    })
  })
})

it('judges a week with a left-out day by its other days, and makes no claim where a note explains it', async () => {
  // The week of the report ended on Sunday, five days before the last day with data.
  const mean = (_: string, ago: number) => (ago === 10 || ago === 24 ? 80 : 20)
  await using store = await storeWith({ mean, isExact: true })
  const week = requestFor({}, 'week')
  expect(newLeads(await judge(store, week))).toMatchObject({ judgement: 'high', actual: 400 })
  const holidays = [10, 24].map((ago) => localDates(DAYS.at(-1 - ago) ?? week.period))
  const judged = newLeads(await judge(store, week, { holidays }))
  // Six days of 40 leads, and on both sides the 160 leads of the holiday.
  expect(judged).toMatchObject({ judgement: 'normal', actual: 400 })
  expect(Math.round(judged?.expected ?? 0)).toBe(400)
  await note(store, 24)
  await note(store, 10)
  expect(newLeads(await judge(store, week))).toMatchObject({
    judgement: 'left_out',
    actual: 400,
    range: null,
  })
})

describe('goals', () => {
  const goal = (change: Partial<Goal> = {}): Goal => ({
    name: 'New',
    figure: 'new_leads',
    period: 'month',
    target: 500,
    currency: null,
    pipelines: null,
    owner: 'Ana',
    ...change,
  })

  it('say how far they are, in their own span and pipelines', async () => {
    await using store = await storeWith({ mean: () => 10, isExact: true })
    const goals = [
      goal(),
      goal({ name: 'Half', pipelines: ['p2'] }),
      goal({ name: 'Quarter', period: 'quarter' }),
      goal({ name: 'Year', period: 'fiscal_year' }),
    ]
    const { pace } = await judge(store, requestFor(), { goals, fiscalYearStarts: 11 })
    const judged = pace.map(({ figure, goal, soFar, lastDay, daysLeft, perDay, pipelines }) => ({
      figure,
      name: goal?.name ?? null,
      soFar,
      lastDay,
      daysLeft,
      perDay,
      pipelines,
    }))
    // There are twenty leads a day, half of them in each pipeline. 20 November is day 20 of the month.
    const month = { figure: 'new_leads', lastDay: '2026-11-30', daysLeft: 10, pipelines: null }
    expect(judged).toEqual([
      { ...month, name: 'New', soFar: 400, perDay: 20 },
      { ...month, name: 'Half', soFar: 200, perDay: 10, pipelines: ['p2'] },
      { ...month, name: 'Quarter', soFar: 400, perDay: 20, lastDay: '2027-01-31', daysLeft: 72 },
      { ...month, name: 'Year', soFar: 400, perDay: 20, lastDay: '2027-10-31', daysLeft: 345 },
      { ...month, figure: 'won', name: null, soFar: 0, perDay: 0 },
    ])
    expect(pace[0]?.goal).toEqual({ name: 'New', target: 500, owner: 'Ana' })
  })

  it('of pipelines that a report does not cover are left out', async () => {
    await using store = await storeWith({ mean: () => 10, isExact: true })
    const goals = [
      goal(),
      goal({ name: 'First', pipelines: ['p1'] }),
      goal({ name: 'Second', pipelines: ['p2'] }),
    ]
    const request = requestFor({ filter: { pipelineIds: ['p2'], conditions: [] } })
    const { pace } = await judge(store, request, { goals })
    expect(pace.flatMap(({ goal }) => goal?.name ?? [])).toEqual(['Second'])
  })
})
