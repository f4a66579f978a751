// @both-stores
/** The judgement of a report's numbers, from leads that a test makes day by day. */
import { describe, expect, it } from 'vitest'
import type { Goal, LastUnusualDays } from '../../../src/domain/insight.ts'
import type { Lead } from '../../../src/domain/model.ts'
import { daysUpTo, localDates } from '../../../src/domain/period.ts'
import { annotate } from '../../../src/jobs/annotations.ts'
import { type JudgedReport, judgeNumbers } from '../../../src/jobs/insight/judge-numbers.ts'
import type { Store } from '../../../src/store/db/store.ts'
import type { ReportRequest } from '../../../src/store/figures/report-figures.ts'
import { leadsOfDay } from '../../support/data/leads-of-day.ts'
import { random } from '../../support/random.ts'
import { COVERED, requestOf } from '../../support/reports/request.ts'
import { openEmptyStore, save } from '../../support/store.ts'

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
      leads.push(...leadsOfDay(day, count, (each) => ({ source, pipelineId: each % 2 === 0 ? 'p1' : 'p2' })))
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
  const given = { days: dayAgo(ago), text: 'campaign', pipelineId, isLeftOut, writtenBy: 'test' }
  return annotate(store, given, NOW)
}
type Judged = Awaited<ReturnType<typeof judge>>
const newLeads = ({ expectations }: Judged) =>
  expectations.find(({ figure, pipeline }) => figure === 'new_leads' && pipeline === null)

/** Lists what was judged, with rounded numbers. */
function told(judged: Judged): string[] {
  const { expectations, drivers, pace, lastUnusual } = judged
  return [...expectations, ...drivers, ...pace, lastUnusual].map((each) =>
    JSON.stringify(each, (_, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value)),
  )
}

const TODAY = localDates(requestFor().period)
const dayAgo = (ago: number) => localDates(DAYS.at(-1 - ago) ?? requestFor().period)
const only = (pipelineIds: string[]) => requestFor({ filter: { pipelineIds, conditions: [] } })
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
const GOALS = [
  goal(),
  goal({ name: 'Half', pipelines: ['p2'] }),
  goal({ name: 'First', pipelines: ['p1'] }),
  goal({ name: 'Quarter', period: 'quarter' }),
  goal({ name: 'Year', period: 'fiscal_year' }),
]

it('the numbers of a day are judged against those before: with a range, a record, what was unusual, and where it came from', async () => {
  const exact = (mean: Planted['mean']): Planted => ({ mean, isExact: true })
  const conditions = [{ field: 'score', min: 50, max: null }]
  const worlds: Readonly<Record<string, readonly [Planted, (store: Store) => Promise<Judged>]>> = {
    'nothing changed': [{ mean: () => 20 }, judge],
    'a source is down': [{ mean: (source, ago) => (source === 'web' && ago === 0 ? 0.1 : 20) }, judge],
    'all fall alike': [{ mean: (_, ago) => (ago === 0 ? 5 : 20) }, judge],
    'a run of days is unusual only together': [exact((_, ago) => (ago < 7 ? 16 : 20)), judge],
    'four of the same weekday are known': [{ mean: (_, ago) => (ago > 33 ? 0 : 20) }, judge],
    'a filter by columns': [
      exact(() => 20),
      (store) => judge(store, requestFor({ filter: { pipelineIds: null, conditions } })),
    ],
    'a filter by pipelines': [exact(() => 20), (store) => judge(store, only(['p2']))],
    'a low day that is no holiday': [exact((_, ago) => (ago === 0 ? 0 : 20)), judge],
    'a holiday': [
      exact((_, ago) => (ago === 0 ? 0 : 20)),
      (store) => judge(store, requestFor(), { holidays: [TODAY] }, { 'new_leads ': '2026-11-01' }),
    ],
    'a day that is annotated in one pipeline': [
      exact((_, ago) => (ago === 0 ? 60 : 20)),
      async (store) => {
        await note(store, 0, 'p1')
        return judge(store)
      },
    ],
    goals: [exact(() => 10), (store) => judge(store, requestFor(), { goals: GOALS, fiscalYearStarts: 11 })],
    'goals, in a report of one pipeline': [
      exact(() => 10),
      (store) => judge(store, only(['p2']), { goals: GOALS }),
    ],
  }
  const lines: string[] = []
  for (const [name, [planted, judgeIt]] of Object.entries(worlds)) {
    await using store = await storeWith(planted)
    lines.push(name, ...told(await judgeIt(store)).map((line) => `  ${line}`))
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/judged-numbers.txt')
})

describe('the numbers of a day', () => {
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

  it('are judged without the holidays and the annotated days before them, unless these are only marked', async () => {
    const ago = [7, 21]
    const storeOf = (leads: number) =>
      storeWith({ mean: (_, day) => (ago.includes(day) ? leads : 20), isExact: true })
    await using quiet = await storeOf(0)
    await using busy = await storeOf(60)
    const holidays = ago.map(dayAgo)
    const judged = newLeads(await judge(quiet, requestFor(), { holidays }))
    expect(judged).toMatchObject({ judgement: 'normal', actual: 40 })
    // Nothing is learned of them.
    expect(newLeads(await judge(busy, requestFor(), { holidays }))).toEqual(judged)
    const learned = newLeads(await judge(busy))
    expect(learned?.range?.high).toBeGreaterThan(judged?.range?.high ?? 0)
    for (const isLeftOut of [false, true]) {
      for (const day of ago) await note(busy, day, null, isLeftOut)
      expect(newLeads(await judge(busy))).toEqual(isLeftOut ? judged : learned)
    }
  })
})

it('judges a week with a left-out day by its other days, and makes no claim where a note explains it', async () => {
  // The week of the report ended on Sunday, five days before the last day with data.
  const mean = (_: string, ago: number) => (ago === 10 || ago === 24 ? 80 : 20)
  await using store = await storeWith({ mean, isExact: true })
  const week = requestFor({}, 'week')
  expect(newLeads(await judge(store, week))).toMatchObject({ judgement: 'high', actual: 400 })
  const holidays = [10, 24].map(dayAgo)
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
