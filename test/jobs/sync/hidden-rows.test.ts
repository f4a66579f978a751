/** Upstreams that leave records out after they have cut the page, and replicas that sort in other orders. */
import { expect, it } from 'vitest'
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
import { changes, type Story, tellSyncs } from '../../support/source/sync-stories.ts'

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

const all = (count: number) => ({ answer: () => ({ records: records(count) }), pageSize: 100 })
const none = { paging: { kind: 'none' } } as const
/** Some of 230 leads by a cursor, with or without a word that there are no more. */
const cut = (at: number, saysMore: false | null = null) => ({
  pageSize: 100,
  answer: ((position, size) => {
    const from = Number(position ?? 0)
    const page = { records: records(230).slice(from, from + size) }
    return from + size >= at ? { ...page, saysMore } : { ...page, next: String(from + size) }
  }) as Answer,
})

const SIZED = { paging: { ...CURSOR.paging, size_param: 'n' } } as const
/** Seven leads on a page; a page of fewer names the next one or does not. */
const unnamed = (name: (at: number) => string | null): Answer => {
  return (_, size) => ({ records: records(Math.min(7, size)), next: size < 7 ? name(size) : null })
}

/** Leads on pages 1 to 5 and 9 to 11, behind three empty ones. */
const withHole = (kind: 'page' | 'offset', total: number | null): Answer => {
  const isVisible = Array.from({ length: 110 }, (_, at) => at < 50 || at >= 80)
  return (...asked) => ({ ...hiding(kind, isVisible)(...asked), total })
}
const shown = (count: number, total: number | null = null): Answer => {
  return (...asked) => ({ ...hiding('page', Array(count).fill(true))(...asked), total })
}
const saysMore: Answer = (position, size, filters) => {
  const isVisible = Array.from({ length: 80 }, (_, at) => at < 10 || at >= 60)
  const page = hiding('page', isVisible)(position, size, filters)
  return Number(position ?? 1) < 8 ? { ...page, saysMore: true } : { ...page, next: null, saysMore: false }
}
/** The last nine of 50 leads, as a list of changes with a total. */
const nine = (total: number) => changes(() => ({ records: records(50).slice(41), total }))

const STORIES: readonly Story[] = [
  ['empty pages whose answers say that more follow, up to one that says otherwise', PAGE, saysMore],
  ['empty pages in the middle, by number', PAGE, withHole('page', null)],
  ['empty pages in the middle, by offset', OFFSET, withHole('offset', null)],
  ['empty pages in the middle, before the total is reached', PAGE, withHole('page', 80)],
  ['empty pages in the middle of changes', { ...PAGE, ...SINCE }, shown(50), changes(withHole('page', null))],
  ['fewer leads than the copy has, up to a full page', CURSOR, all(230), cut(200)],
  ['fewer leads than the copy has, on a page that was cut', CURSOR, all(230), all(50)],
  ['no next page, though asked for fewer leads than there are', SIZED, unnamed(() => null)],
  ['no next page on the only one, which names one where it is shorter', SIZED, unnamed(String)],
  ['no next page on a full one that comes again as it was', SIZED, { ...all(10), pageSize: 10 }],
  ['fewer leads than the copy has, on the only page', none, all(230), all(200)],
  [
    'fewer leads than the copy has, and a page that says that it is the last',
    CURSOR,
    all(231),
    cut(200, false),
  ],
  ['fewer leads than the copy has, up to a short page', CURSOR, all(231), cut(230)],
  [
    'a look behind the end of the whole list, and none after one short page of changes or at the total',
    { ...PAGE, ...SINCE },
    shown(20),
    changes(shown(5)),
    shown(20, 20),
  ],
  ['changes, of which the total counts more than came', { ...CURSOR, ...SINCE }, all(50), nine(12)],
  ['changes, of which the total counts what came', { ...CURSOR, ...SINCE }, all(50), nine(9)],
  ['changes with a total that may be that of the whole list', { ...CURSOR, ...SINCE }, all(50), nine(50)],
]

it('what each sync finds of a list that hides rows or stops early, and what it leaves', async () => {
  await expect(await tellSyncs(STORIES)).toMatchFileSnapshot('golden/hidden-rows.txt')
})

it(`a list that hides rows is never called complete while leads are missing (SEED=${SEED_OF_TODAY})`, async () => {
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
