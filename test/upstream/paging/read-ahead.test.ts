import { describe, expect, it } from 'vitest'
import { recordOf } from '../../../src/upstream/mapping/raw-record.ts'
import type { RawPage } from '../../../src/upstream/paging/raw-page.ts'
import type { FetchPage } from '../../../src/upstream/paging/read-ahead.ts'
import { adapt, readAhead } from '../../../src/upstream/paging/read-ahead.ts'
import type { ProfileInput } from '../../../src/upstream/profile/profile.ts'
import type { Source } from '../../../src/upstream/source.ts'
import { paged, sourceOfList } from '../../support/source/listing.ts'
import { profileWith } from '../../support/source/test-source.ts'

type Paging = ProfileInput['paging']

const OFFSET: Paging = { kind: 'offset', param: 'skip', size_param: 'limit', total: 'total' }
const CURSOR: Paging = { kind: 'cursor', param: 'cursor', next: 'next' }
const PAGE: Paging = { kind: 'page', param: 'page', size_param: 'per_page' }

/** A list of numbers in memory that answers after a moment. */
function listOf(rows: number, paging: Paging, concurrency: number, change: object = {}, sizeMax = Infinity) {
  const answer = paged(paging.kind === 'page' ? 'page' : 'offset', counted(rows), rows)
  let underWay = 0
  const source = sourceOfList(profileWith({ paging, limits: { concurrency } }), (_, position, wanted) => {
    const size = Math.min(wanted, sizeMax)
    const { records = [], next = null } = answer(position, size, {})
    const total = paging.kind === 'page' ? null : rows
    const isLast = records.length < size || records.at(-1) === rows - 1
    return {
      records: records.map((row) => recordOf(row)),
      next: isLast ? null : next,
      total,
      ...change,
    }
  })
  const list = {
    source: { ...source, listLeads },
    /** The positions of the requests, in order. */
    asked: [] as (string | null)[],
    /** The greatest number of requests under way. */
    atOnce: 0,
    answered: 0,
    aborted: [] as string[],
  }
  return list

  async function listLeads(...asked: Parameters<Source['listLeads']>): ReturnType<Source['listLeads']> {
    const [, position, , { signal } = {}] = asked
    list.asked.push(position)
    signal?.addEventListener('abort', () => list.aborted.push(position ?? ''))
    list.atOnce = Math.max(list.atOnce, ++underWay)
    await new Promise((resolve) => setTimeout(resolve, 1))
    underWay--
    list.answered++
    return source.listLeads(...asked)
  }
}

async function readAll(fetchPage: FetchPage): Promise<unknown[]> {
  const rows: unknown[] = []
  for (let position: string | null = null; ; ) {
    const page: RawPage = await fetchPage(position)
    rows.push(...page.records.map((record) => record.value))
    if (page.next === null) return rows
    position = page.next
  }
}

const counted = (count: number): number[] => Array.from({ length: count }, (_, number) => number)

describe('reading ahead', () => {
  it.each([
    ['offset', OFFSET],
    ['page', PAGE],
  ] as const)(
    'gives the pages of a list numbered by %s in order, several under way at once',
    async (_kind, paging) => {
      const list = listOf(95, paging, 4)
      const stop = new AbortController()
      expect(await readAll(readAhead(list.source, {}, 10, stop.signal))).toEqual(counted(95))
      expect(list.atOnce).toBe(4)
    },
  )

  it.each([
    ['page', PAGE, ['2', '3', '4']],
    ['offset', { ...OFFSET, total: undefined }, ['25', '50', '75']],
  ] as const)(
    'asks for one page behind a short first page by %s, and for several once that page is full',
    async (_kind, paging, [second, third, fourth]) => {
      for (const [rows, asked] of [
        [25, [null, second]],
        [30, [null, second, third]],
        [1000, [null, second, third, fourth]],
      ] as const) {
        const list = listOf(rows, paging, 3, { total: null }, 25)
        const filters = { updatedSince: '2026-11-01T00:00:00.000Z' }
        const fetchPage = readAhead(list.source, filters, 100, new AbortController().signal)
        for (const position of asked.slice(0, 3)) await fetchPage(position)
        expect(list.asked.slice(0, 4), `${rows} rows`).toEqual(asked)
      }
    },
  )

  it('asks for one page at a time where the profile says so, and where positions are tokens', async () => {
    const alone = listOf(35, OFFSET, 1)
    await readAll(readAhead(alone.source, {}, 10, new AbortController().signal))
    expect(alone.atOnce).toBe(1)
    const tokens = listOf(35, CURSOR, 8)
    expect(await readAll(readAhead(tokens.source, {}, 10, new AbortController().signal))).toEqual(counted(35))
    expect(tokens.atOnce).toBe(1)
    expect(tokens.asked).toEqual([null, '10', '20', '30'])
  })

  it('asks for what a token points to when its page has come, until some wait for their reader', async () => {
    const list = listOf(1000, CURSOR, 3)
    const fetchPage = readAhead(list.source, {}, 10, new AbortController().signal)
    await fetchPage(null)
    await expect.poll(() => list.answered).toBe(4)
    expect(list.asked).toEqual([null, '10', '20', '30'])
    expect((await fetchPage('10')).records[0]?.value).toBe(10)
    expect(list.asked).toEqual([null, '10', '20', '30', '40'])
  })

  it('drops what it guessed when the reader goes on from elsewhere, and guesses anew once that is steady', async () => {
    const list = listOf(1000, OFFSET, 3)
    const fetchPage = readAhead(list.source, {}, 10, new AbortController().signal)
    for (const position of [null, '10', '17', '27', '37']) await fetchPage(position)
    expect(list.asked).toEqual([null, '10', '20', '30', '17', '27', '37', '47', '57'])
    expect(list.aborted).toEqual(['20', '30'])
  })

  it('hides the failure of a guess until its page is asked for', async () => {
    const list = listOf(1000, OFFSET, 2)
    const broken: typeof list.source = {
      ...list.source,
      listLeads: async (filters, position, size, options) => {
        if (position === '20') throw new Error('no such page')
        return list.source.listLeads(filters, position, size, options)
      },
    }
    const fetchPage = readAhead(broken, {}, 10, new AbortController().signal)
    await fetchPage(null)
    expect((await fetchPage('10')).records).toHaveLength(10)
    await expect(fetchPage('20')).rejects.toThrow('no such page')
  })

  it('asks for half as many at once after "too fast"', async () => {
    const list = listOf(1000, OFFSET, 8)
    const fetchPage = readAhead(list.source, {}, 10, new AbortController().signal)
    await fetchPage(null)
    await fetchPage('10')
    expect(list.asked).toHaveLength(9)
    Object.assign(list.source.usage, { throttled: 1 })
    for (const position of ['20', '30', '40', '50']) await fetchPage(position)
    expect(list.asked).toHaveLength(9)
    await fetchPage('60')
    expect(list.asked).toHaveLength(10)
  })

  it('ends all that is under way with its signal', async () => {
    const list = listOf(1000, OFFSET, 4)
    const stop = new AbortController()
    const fetchPage = readAhead(list.source, {}, 10, stop.signal)
    await fetchPage(null)
    const page = fetchPage('10')
    stop.abort(new Error('enough'))
    await expect(page).rejects.toThrow('enough')
    expect(list.aborted).toEqual(expect.arrayContaining(['10', '20', '30', '40']))
  })
})

it('the number of pages under way halves on "too fast" and grows back to what is allowed', () => {
  expect(adapt(8, 8, true)).toBe(4)
  expect(adapt(1.5, 8, true)).toBe(1)
  let width = 4
  for (let page = 0; page < 8; page++) width = adapt(width, 8, false)
  expect(width).toBe(5)
  expect(adapt(8, 8, false)).toBe(8)
})
