/** Upstreams that leave records out after they have cut the page, and replicas that sort in other orders. */
import { describe, expect, it } from 'vitest'
import { countCases, random, SEED_OF_TODAY } from '../../support/random.ts'
import {
  type Answer,
  CURSOR,
  OFFSET,
  openListing,
  PAGE,
  records,
  SINCE,
} from '../../support/source/listing.ts'

const CASES = countCases(12, 600)

/** Answers with the visible ones of all rows, by the place among all rows. */
function hiding(
  kind: 'page' | 'offset',
  isVisible: readonly boolean[],
  most = Number.POSITIVE_INFINITY,
): Answer {
  const all = records(isVisible.length)
  return (position, asked) => {
    const size = Math.min(asked, most)
    const at = Number(position ?? (kind === 'page' ? 1 : 0))
    const from = kind === 'page' ? (at - 1) * size : at
    const some = all.slice(from, from + size).filter((_, index) => isVisible[from + index])
    const next = kind === 'page' ? at + 1 : at + some.length
    return { records: some, next: some.length === 0 ? null : String(next) }
  }
}

describe('a list that hides rows', () => {
  it(`is never called complete while leads are missing (SEED=${SEED_OF_TODAY})`, async () => {
    let holes = 0
    for (let number = 0; number < CASES; number++) {
      const next = random(SEED_OF_TODAY * 1000 + number)
      const kind = number % 2 === 0 ? 'page' : 'offset'
      const share = 0.02 + next() * 0.5
      const most = number % 4 === 0 ? 4 + Math.floor(next() * 6) : undefined
      // No two pages in a row are empty.
      const period = 2 * (most ?? 10) - 1
      const isVisible = Array.from(
        { length: 20 + Math.floor(next() * 60) },
        // An upstream that also cuts its pages is told from one that only cuts them if it hides the first row.
        (_, at) => at % period === 5 || (next() < share && (at > 0 || most === undefined)),
      )
      await using listing = await openListing(kind === 'page' ? PAGE : OFFSET, hiding(kind, isVisible, most))
      const { scan } = await listing.sync()
      const visible = isVisible.filter(Boolean).length
      if (scan?.result !== 'complete') holes++
      else expect(scan.distinct, `number ${number}`).toBe(visible)
    }
    expect(holes).toBeGreaterThan(0)
  })

  it('is followed through empty pages as far as its answers say that more follow', async () => {
    const isVisible = Array.from({ length: 80 }, (_, at) => at < 10 || at >= 60)
    await using listing = await openListing(PAGE, (position, size, filters) => {
      const page = hiding('page', isVisible)(position, size, filters)
      return Number(position ?? 1) < 8
        ? { ...page, saysMore: true }
        : { ...page, next: null, saysMore: false }
    })
    expect((await listing.sync()).scan).toMatchObject({
      result: 'complete',
      passes: 1,
      distinct: 30,
      pages: 8,
    })
  })
})

describe('empty pages in the middle of a numbered list', () => {
  it.each([
    ['page', 'full', null],
    ['offset', 'full', null],
    ['page', 'full', 80],
    ['page', 'incremental', null],
  ] as const)('of kind %s are read over in a %s scan, total %j', async (kind, mode, total) => {
    const isVisible = Array.from({ length: 110 }, (_, at) => at < 50 || at >= 80)
    const profile = { ...(kind === 'page' ? PAGE : OFFSET), ...SINCE }
    await using listing = await openListing(profile, hiding(kind, Array(50).fill(true)))
    if (mode === 'incremental') await listing.sync()
    listing.answer = (...asked) => ({ ...hiding(kind, isVisible)(...asked), total })
    const { scan, problems } = await listing.sync({ full: mode === 'full' })
    expect(scan).toMatchObject({ mode, distinct: 80, result: total === null ? 'unproven' : 'complete' })
    if (total === null)
      expect(problems[0]).toMatchObject({
        message: expect.stringMatching(/page \d+: leads behind what seemed to be the last page/),
        hint: expect.stringContaining('paging.total'),
      })
  })
})

describe('a list that stops without saying so', () => {
  const NONE = { paging: { kind: 'none' } } as const
  const cut =
    (at: number, saysMore: false | null = null): Answer =>
    (position, size) => {
      const from = Number(position ?? 0)
      const isLast = from + size >= at
      return {
        records: records(230).slice(from, from + size),
        next: isLast ? null : String(from + size),
        saysMore: isLast ? saysMore : null,
      }
    }

  it.each([
    ['after a full page', CURSOR, cut(200)],
    [
      'after a first page that was cut to fewer than were asked for',
      CURSOR,
      () => ({ records: records(50) }),
    ],
    ['where it was one page', NONE, () => ({ records: records(200) })],
  ] as const)('%s is unproven if the copy has more', async (_name, profile, answer) => {
    await using listing = await openListing(profile, () => ({ records: records(230) }))
    await listing.sync()
    listing.answer = answer
    expect((await listing.sync({ pageSize: 100 })).scan).toMatchObject({ result: 'unproven' })
  })

  it.each([
    ['says so', cut(200, false)],
    ['has a short last page', cut(230)],
  ])('is complete if it %s', async (_name, answer) => {
    await using listing = await openListing(CURSOR, () => ({ records: records(231) }))
    await listing.sync()
    listing.answer = answer
    expect((await listing.sync({ pageSize: 100 })).scan).toMatchObject({ result: 'complete' })
  })
})

it('the end of a numbered list is looked behind in a full scan, and neither after one short page of changes nor if its total is reached', async () => {
  const list = hiding('page', Array(20).fill(true))
  await using listing = await openListing({ ...PAGE, ...SINCE }, list)
  expect((await listing.sync()).scan).toMatchObject({ result: 'complete', pages: 4 })
  listing.answer = hiding('page', Array(5).fill(true))
  expect((await listing.sync({ full: false })).scan).toMatchObject({ mode: 'incremental', pages: 2 })
  listing.answer = (...asked) => ({ ...list(...asked), total: 20 })
  expect((await listing.sync()).scan).toMatchObject({ result: 'complete', pages: 3 })
})

it.each([CURSOR, { paging: { kind: 'link' } }, { paging: { kind: 'next_url', next: 'next' } }] as const)(
  'replicas that sort in opposite orders never give a complete list while leads are missing: %o',
  async (profile) => {
    for (let count = 11; count < 70; count += countCases(19, 1)) {
      const all = records(count)
      await using listing = await openListing(profile, (position, size) => {
        const from = Number(position ?? 0)
        const rows = (from / size) % 2 === 0 ? all : [...all].reverse()
        const some = rows.slice(from, from + size)
        return { records: some, next: from + size < count ? String(from + size) : null }
      })
      const { scan } = await listing.sync()
      if (scan?.result === 'complete') expect(scan.distinct, `count ${count}`).toBe(count)
    }
  },
)

it.each([
  ['counts more than came', 'unproven', 12],
  ['counts what came', 'complete', 9],
  ['may be that of the whole list', 'complete', 50],
])('the total of a sync of changes %s: the list is %s', async (_name, result, total) => {
  await using listing = await openListing({ ...CURSOR, ...SINCE }, () => ({ records: records(50) }))
  await listing.sync()
  listing.answer = () => ({ records: records(50).slice(41), total })
  expect((await listing.sync({ full: false })).scan).toMatchObject({
    mode: 'incremental',
    result: result,
  })
})
