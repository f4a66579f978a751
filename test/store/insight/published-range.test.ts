// @both-stores
/** The ranges that reports published, and the count of those that held. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { PublishedRange } from '../../../src/domain/insight.ts'
import type { Store } from '../../../src/store/db/store.ts'
import {
  readPublishedRecords,
  recordOutcomes,
  savePublishedRanges,
} from '../../../src/store/insight/published-range.ts'
import { openEmptyStore } from '../../support/store.ts'

const ZONE = 'Europe/Berlin'
const FIRST = Date.parse('2026-01-01T00:00:00Z')
const dateOf = (day: number) => new Date(FIRST + day * 86_400_000).toISOString().slice(0, 10)
const range = { low: 10, high: 20 }

/** A range of new leads on the n-th day of the year. It holds unless told otherwise. */
function ofDay(day: number, change: Partial<PublishedRange> = {}): PublishedRange {
  const date = dateOf(day)
  const of = { figure: 'new_leads', kind: 'day', pipelineIds: null, range, actual: 20 } as const
  return { ...of, asOfDay: date, firstDay: date, lastDay: date, ...change }
}

const keep = (store: Store, ranges: readonly PublishedRange[], issueId = 'e1') =>
  store.write((trx) => savePublishedRanges(trx, issueId, ZONE, ranges))
/** Returns the record of each number up to a day: how many ranges held, and how many windows did. */
const read = async (store: Store, lastDay = dateOf(364), zone = ZONE) =>
  (await readPublishedRecords(store.db, zone, lastDay)).map(
    ({ figure, kind, pipelineIds, hits, of, windows }) =>
      `${figure} ${kind} of ${pipelineIds ?? 'all'}: ${hits} of ${of}, windows ${+windows.hits.toFixed(2)} of ${windows.of}`,
  )

it('counts the ranges of each number apart, and how many held; both bounds belong to a range', async () => {
  await using store = await openEmptyStore()
  await keep(store, [
    ...[ofDay(0, { actual: 9 }), ofDay(1, { actual: 10 }), ofDay(2), ofDay(3, { actual: 21 })],
    ...[ofDay(0, { pipelineIds: ['p2', 'p1'] }), ofDay(1, { pipelineIds: ['p1', 'p2'] })],
    ofDay(0, { figure: 'won', kind: 'week' }),
  ])
  expect(await read(store)).toEqual([
    'new_leads day of all: 2 of 4, windows 2 of 4',
    'new_leads day of p1,p2: 2 of 2, windows 2 of 2',
    'won week of all: 1 of 1, windows 1 of 1',
  ])
  expect(await read(store, undefined, 'Europe/London')).toEqual([])
  const records = sql`SELECT * FROM published_record ORDER BY kind, pipelines, figure`
  const counts = { ranges: 2, hits: 2, windows: 2, windows_hit: 2 }
  const of = { time_zone: ZONE, kind: 'day', figure: 'new_leads', pipelines: '["p1","p2"]' }
  expect((await records.execute(store.db)).rows[1]).toEqual({ ...of, ...counts })
})

it('counts a range once, as the first issue published it, for a year if it is of a day, and else for three', async () => {
  await using store = await openEmptyStore()
  await keep(store, [ofDay(0), ofDay(0, { kind: 'week' })])
  await keep(store, [ofDay(0, { actual: 99 }), ofDay(1), ofDay(1, { kind: 'week' })], 'e2')
  const week = (of: number) => `new_leads week of all: ${of} of ${of}, windows ${of} of ${of}`
  const day = (of: number) => week(of).replace('week', 'day')
  expect(await read(store, dateOf(0))).toEqual([day(1), week(1)])
  expect(await read(store, dateOf(364))).toEqual([day(2), week(2)])
  expect(await read(store, dateOf(365))).toEqual([day(1), week(2)])
  expect(await read(store, dateOf(1096))).toEqual([week(1)])
})

it('counts win rates of the same 30 days as one window, and the ends of one month too', async () => {
  await using store = await openEmptyStore()
  const rates = Array.from({ length: 60 }, (_, day) =>
    ofDay(day, { figure: 'win_rate', kind: '30_days', actual: day % 2 === 0 ? 15 : 30 }),
  )
  const ends = [10, 11, 12, 40].map((day) =>
    ofDay(day, {
      kind: 'month_end',
      actual: day === 10 ? 30 : 15,
      lastDay: day < 31 ? '2026-01-31' : '2026-02-28',
    }),
  )
  await keep(store, [...rates, ...ends])
  // The windows begin on fixed days, so that 60 days touch three.
  expect(await read(store)).toEqual([
    'win_rate 30_days of all: 30 of 60, windows 1.5 of 3',
    'new_leads month_end of all: 3 of 4, windows 1.67 of 2',
  ])
})

it('notes what came of a span three days after its end, from the counts of its pipelines', async () => {
  await using store = await openEmptyStore()
  const of = { time_zone: ZONE, figure: 'won', dimension: 'pipeline_id', currency: '' }
  const counts = Array.from({ length: 40 }, (_, day) => [
    { ...of, day: dateOf(day), member: 'p1', value: 1 },
    { ...of, day: dateOf(day), member: 'p2', value: 2 },
  ]).flat()
  await store.write((trx) => trx.insertInto('daily_count').values(counts).execute())
  const january = { figure: 'won', kind: 'month_end', firstDay: dateOf(0), lastDay: dateOf(30) } as const
  await keep(store, [
    ofDay(9, { ...january, range: { low: 93, high: 93 }, actual: null }),
    ofDay(9, { ...january, pipelineIds: ['p1'], range: { low: 31, high: 31 }, actual: null }),
    ofDay(9, { ...january, lastDay: dateOf(58), actual: null }),
  ])
  const upTo = (days: number) => Array.from({ length: days }, (_, day) => dateOf(day))
  await recordOutcomes(store, ZONE, [])
  await recordOutcomes(store, ZONE, upTo(33))
  await recordOutcomes(store, 'Europe/London', upTo(40))
  expect(await read(store)).toEqual([])
  await recordOutcomes(store, ZONE, upTo(34))
  expect(await read(store)).toEqual([
    'won month_end of all: 1 of 1, windows 1 of 1',
    'won month_end of p1: 1 of 1, windows 1 of 1',
  ])
})
