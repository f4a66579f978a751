// @both-stores
import { expect, it } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import type { ProfileInput } from '../../../src/upstream/profile/profile.ts'
import { countCases, random, SEED_OF_TODAY, shuffled } from '../../support/random.ts'
import {
  type Answer,
  away,
  CURSOR,
  failing,
  type Listing,
  MAPPING,
  OFFSET,
  openListing,
  PAGE,
  paged,
  pagesOf,
  records,
  SINCE,
} from '../../support/source/listing.ts'
import { changes, type Story, tellSyncs } from '../../support/source/sync-stories.ts'

const CHANGES = { ...PAGE, ...SINCE }
const NEXT_URL = { paging: { kind: 'next_url', next: 'next' } } as const
const LINK = { paging: { kind: 'link' } } as const
/** Pages of a size that cannot be set. */
const FIXED = { paging: { kind: 'page', param: 'page' } } as const
/** Pages so small that they do not overlap. */
const OFFSET_OF_3 = { paging: { kind: 'offset', param: 'from', size_param: 'n', size_max: 3 } } as const
const KINDS = [
  ['page', PAGE],
  ['offset', OFFSET],
] as const
const SHUFFLED = countCases(6, 300)
const SCANS = countCases(30, 200)
/** Each page with each kind of failure. */
const FAILURES = [1, 2, 3, 4, 5, 6].flatMap((page) =>
  [0, 1, 2, 3, 4].map((failure) => [page, failure] as const),
)

const rejected = failing('api_rejected')
const missing = failing('api_not_found')

const byPage = (count: number, total?: number) => paged('page', records(count), total)
/** The same ten leads for ever. */
const same =
  (next: (at: string | null) => string): Answer =>
  (at) => ({ records: records(10), next: next(at) })
/** Ten leads, and then nothing more for ever. */
const pageAndNone =
  (next: (at: string | null) => string, total: number | null = null): Answer =>
  (at) => ({ records: records(at ? 0 : 10), next: next(at), total })

/** Answers a position otherwise, each time or only so often. */
function except(position: string, other: Answer, usual: Answer, times = Number.POSITIVE_INFINITY): Answer {
  let left = times
  return (...asked) => (asked[0] === position && left-- > 0 ? other : usual)(...asked)
}

/** A list that is refused behind its end, or behind what the upstream serves at most. */
function refused(
  profile: typeof PAGE | typeof FIXED | typeof OFFSET | typeof OFFSET_OF_3,
  count: number,
  by: Answer,
  { most = Number.POSITIVE_INFINITY, size = 0 } = {},
): readonly [Partial<ProfileInput>, Answer] {
  const { kind } = profile.paging
  return [
    profile,
    (position, wanted, filters) => {
      const rows = size || wanted
      const last = kind === 'page' ? Number(position ?? 1) * rows : Number(position ?? 0) + rows
      const page = paged(kind, records(count))(position, rows, filters)
      return page.records?.length === 0 || last > most ? by(position, rows, filters) : page
    },
  ]
}

/** Pages that are cut to four leads after they were placed by the size that was asked for. */
const cut: Answer = (...asked) => {
  const page = byPage(40)(...asked)
  return { ...page, records: page.records?.slice(0, 4) ?? [] }
}

/** A list that gives its last page for each number behind it. */
function repeatingItsEnd(count: number, total: number | null): Answer {
  return (position, size, filters) => {
    const at = Math.min(Number(position ?? 1), Math.ceil(count / size))
    const page = paged('page', records(count), total)(String(at), size, filters)
    return { ...page, next: String(Number(position ?? 1) + 1) }
  }
}

/** A list of 40 leads, of which the first ones say that they change an hour from now. */
const ahead = (count: number, minute: number) =>
  paged('page', [
    ...records(count).map((lead) => ({ ...lead, updated: `2026-11-21T07:0${minute}:00.000Z` })),
    ...records(40 - count, count),
  ])
const justNow = (count: number) =>
  records(count).map((lead) => ({ ...lead, updated: '2026-11-21T05:59:30.000Z' }))

/** A list by number that counts its leads in its own way. */
function counting(kind: 'page' | 'offset', counted: (rows: number) => number | null): Answer {
  return (...asked) => {
    const page = paged(kind, records(35))(...asked)
    return { ...page, total: counted(page.records?.length ?? 0) }
  }
}
const [, withError] = refused(PAGE, 35, missing)
const ENDING = { paging: { ...PAGE.paging, total: 'total', stop_at_total: true } } as const
const ESTIMATED = { paging: { ...PAGE.paging, total: 'estimatedTotalHits' } } as const
/** A list of leads with a total of 20 whose last page has no next one, and may tell that nothing is behind it. */
const ending =
  (count: number, saysMore: false | null): Answer =>
  (...asked) => {
    const end = Number(asked[0] ?? 1) * 10 >= count && { next: null, saysMore }
    return { ...byPage(count, 20)(...asked), ...end }
  }
const saysMoreAfter200 = (total: number | null) => ({
  pageSize: 200,
  answer: ((at) => ({
    records: records(at ? 0 : 200),
    next: at ? null : 'c2',
    total,
    saysMore: true,
  })) as Answer,
})
/** A list of 300, of which the first ones are deleted while it is read. */
function shrinking(gone: number): Answer {
  let requests = 0
  return (...asked) => paged('offset', requests++ < 26 ? records(300) : records(300 - gone, gone))(...asked)
}
/** A list of 40, of which a page lacks a lead and says that it is not whole. */
function halved(kind: 'page' | 'offset'): Answer {
  return (...asked) => {
    const { records: all = [], ...page } = paged(kind, records(40))(...asked)
    const some = all.filter((record) => (record as { id: string }).id !== 'l015')
    return { ...page, records: some, ...(some.length < all.length && { partialSign: 'status 207' }) }
  }
}
/** Pages of ten leads, by a cursor that is their number. */
const tens = (pages: number) => pagesOf(...Array.from({ length: pages }, (_, at) => records(10, at * 10)))
/** A list that an inclusive filter shortens. */
function since(rows: ReturnType<typeof records>): Answer {
  return (position, size, { updatedSince: from }) => {
    const changed = rows.filter(({ updated }) => updated >= (from ?? ''))
    return paged('offset', changed)(position, size, {})
  }
}

/** A list that has another order for each page. */
function restless(count: number): Answer {
  const next = random(5)
  return (position) => {
    const at = Number(position ?? 1)
    if (at > count / 20) return { total: count }
    return { records: shuffled(records(count), next).slice(0, 10), next: String(at + 1), total: count }
  }
}

/** Sixty leads by number, of which the third page fails. */
const BROKEN = except('3', away, byPage(60))
const OFTEN_CHANGED = records(60).map((record, index) =>
  index % 7 === 0 ? { ...record, updated: '2026-11-20T00:00:00Z' } : record,
)
const NEWEST = { id: 'l059', updated: '2026-11-02T00:00:00.000Z' }
const WITHOUT_FIRST = paged('page', [...records(58, 1), NEWEST], 59)
const UNNAMED = records(35).map(({ id, updated }) => ({ uid: id, updated }))

const UNTIMED = records(20).map(({ id }) => ({ id, name: 'Acme', viewed: 1 }))
const REORDERED = UNTIMED.map(({ id, name, viewed }) => ({ viewed, name, id }))
const UNTIMED_AND_WON = { ...UNTIMED[0], status: 'won', viewed: 2 }

const THIRTY = records(30)
const dated = (day: string, index: number) =>
  `2026-${day}-${String(1 + (index % 20)).padStart(2, '0')}T08:00:00Z`
const AMOUNTS = ['1.234,56', '12.500', 'n/a', 7, '12.250', '']
const ODD: Readonly<Record<string, readonly unknown[]>> = {
  'times that cannot be right: none at all, and the same in all leads': records(60),
  'times that can': records(60).map(({ id }, index) => ({
    id,
    created: dated('10', index),
    updated: dated('11', index),
  })),
  'texts that are cleaned or cut': THIRTY.map(
    (lead, index) =>
      [lead, { ...lead, name: 'Com\u0000pany' }, { ...lead, name: 'x'.repeat(70_000) }][
        index === 5 ? 2 : index === 3 || index === 4 ? 1 : 0
      ],
  ),
  'values that may have been read wrongly': THIRTY.map((lead, index) => ({
    ...lead,
    worth: AMOUNTS[index],
    size: index ? 1 : 'few',
    name: index ? 'Acme' : ['Acme'],
  })),
  'an id of two records: other values of the same time': [
    ...THIRTY,
    ...THIRTY.slice(0, 2).map((lead) => ({ ...lead, name: 'Other' })),
  ],
  'an id of two records: other values without a time': [
    ...THIRTY,
    { id: 'x', name: 'Acme' },
    { id: 'x', name: 'Other' },
    { id: 'x' },
  ],
  'an id of two records: another time of creation': [
    ...THIRTY,
    { id: 'x', created: '2026-10-01', updated: '2026-10-01' },
    { id: 'x', created: '2026-10-02', updated: '2026-10-02' },
  ],
  'an id of two records: an older state': [
    ...THIRTY,
    { ...THIRTY[0], name: 'Old', updated: '2026-10-01T00:00:00.000Z' },
  ],
  'an id of two records: the same record': [...THIRTY, THIRTY[0]],
  'an id of two records: the same values in another order': [
    ...THIRTY,
    { updated: THIRTY[0]?.updated, id: 'l000' },
  ],
}

/** Answers the cursor of an interrupted scan, and then the list that is read anew. */
const stale = (name: string, answer: Answer, anew = tens(5)): Story => {
  let isNew = false
  const then: Answer = (...asked) => {
    isNew ||= asked[0] === null
    return (isNew ? anew : answer)(...asked)
  }
  return [`a cursor that is answered with ${name}`, CURSOR, except('2', away, tens(5)), { answer: then }]
}

const STORIES: Readonly<Record<string, readonly Story[]>> = {
  end: [
    ...KINDS.map(([kind, profile]): Story => {
      return [`short pages by ${kind}`, profile, (at) => paged(kind, records(35))(at, 7, {})]
    }),
    ...[CURSOR, NEXT_URL, LINK].flatMap((profile) =>
      ['10, 0, 10', '0, 10', '10, 0, 0, 0, 5', '10, 0'].map((sizes): Story => {
        const pages = sizes.split(', ').map((size, at) => records(Number(size), at * 10))
        return [`pages of ${sizes} leads by ${profile.paging.kind}`, profile, pagesOf(...pages)]
      }),
    ),
    ['empty pages that name their own cursor', CURSOR, pageAndNone((at) => at ?? 'b')],
    ['empty pages that name ever new cursors', CURSOR, pageAndNone((at) => `${at}x`)],
    ['an empty page that names a cursor at the total', CURSOR, pageAndNone((at) => `${at}x`, 10)],
    ['404 behind full pages', ...refused(PAGE, 30, missing)],
    ['400 or 416 behind full pages', ...refused(PAGE, 30, rejected)],
    ['404 behind 40 full pages', ...refused(PAGE, 400, missing)],
    ['404 behind full pages of a size that cannot be set', ...refused(FIXED, 30, missing, { size: 10 })],
    ['400 behind full pages of a size that cannot be set', ...refused(FIXED, 30, rejected, { size: 10 })],
    ['404 behind full pages of a size that is ignored', ...refused(PAGE, 30, missing, { size: 10 })],
    ['400 behind full pages of a size that is ignored', ...refused(PAGE, 30, rejected, { size: 10 })],
    ['400 behind what the upstream serves at most', ...refused(PAGE, 40, rejected, { most: 30 })],
    ['404 behind what the upstream serves at most', ...refused(PAGE, 40, missing, { most: 30 })],
    ['400 behind the most of a list by offset', ...refused(OFFSET_OF_3, 40, rejected, { most: 30 })],
    ['400 behind full pages by offset', ...refused(OFFSET_OF_3, 30, rejected)],
    ['404 behind a short page', ...refused(FIXED, 35, missing, { size: 10 })],
    ['400 behind a short page', ...refused(FIXED, 35, rejected, { size: 10 })],
    ['404 behind a short first page', ...refused(PAGE, 8, missing)],
    ['pages that are cut to four leads, and placed by the size asked for', PAGE, cut],
    [
      'a first page of four leads, and another size that is refused',
      PAGE,
      (at, size, by) => (size === 10 ? (at ? byPage(40) : cut) : rejected)(at, size, by),
    ],
    ['a page that is refused once', FIXED, except('4', missing, byPage(40), 1)],
    [
      '404 to a filter that no lead passes, and then to the whole list too',
      CHANGES,
      byPage(5),
      changes((...asked) => (asked[2].updatedSince ? missing : byPage(5))(...asked)),
      changes(missing),
    ],
    ['the last page once more, where the total is reached', PAGE, repeatingItsEnd(40, 40)],
    ['the last page once more, where it is short', PAGE, repeatingItsEnd(35, null)],
  ],
  'changes of just now': [
    ...KINDS.map(([kind, profile]): Story => {
      const [all, few] = [paged(kind, records(40)), paged(kind, justNow(5))]
      return [`on one short page by ${kind}, twice`, { ...profile, ...SINCE }, all, changes(few, 2)]
    }),
    ['on several pages, twice', CHANGES, byPage(40), changes(paged('page', justNow(15)), 2)],
    ['an hour ahead in one lead', PAGE, ahead(1, 0), ahead(1, 1)],
    [
      'an hour ahead in one lead of an upstream whose clock is ahead',
      PAGE,
      { answer: ahead(1, 0), clockAheadMs: -3_600_000 },
      ahead(1, 1),
    ],
    ['an hour ahead in two leads', PAGE, ahead(2, 0), ahead(2, 1)],
  ],
  'no end': [
    ['the same page for ever, under new cursors', CURSOR, same((at) => `${at}x`), {}],
    ['the same page for every number', PAGE, same((at) => String(Number(at ?? 1) + 1)), {}],
    ['the same rows at every offset', OFFSET, same((at) => String(Number(at ?? 0) + 10)), {}],
    ['a cursor that comes again', CURSOR, same((at) => (at === 'a' ? 'b' : 'a')), {}],
    ['a list that never holds still', { ...PAGE, ...SINCE }, restless(200)],
    ['more pages than limits.max_pages', { ...CURSOR, limits: { max_pages: 5 } }, tens(9)],
  ],
  'a total': [
    ...KINDS.flatMap(([kind, profile]): readonly Story[] => [
      [`right, by ${kind}`, profile, counting(kind, () => 35)],
      [`missing, by ${kind}`, profile, counting(kind, () => null)],
      [`0 past the end, by ${kind}`, profile, counting(kind, (rows) => (rows > 0 ? 35 : 0))],
      [`too low, by ${kind}`, profile, counting(kind, () => 20)],
      [`never reached, by ${kind}`, profile, counting(kind, () => 50)],
    ]),
    ['above the list that lost a lead', PAGE, byPage(60, 60), { answer: byPage(59, 60), times: 3 }],
    ['0 on the first page', PAGE, () => ({ total: 0 })],
    ['600 beside 200 and an empty page that says that there are more', CURSOR, saysMoreAfter200(600)],
    ['none beside 200 and an empty page that says that there are more', CURSOR, saysMoreAfter200(null)],
    ['200 beside 200 and an empty page that says that there are more', CURSOR, saysMoreAfter200(200)],
    ['more than a full first page without a next one', CURSOR, () => ({ records: records(10), total: 35 })],
    ['too low, with an error behind the end', PAGE, (...asked) => ({ ...withError(...asked), total: 20 })],
    ['that ends the list, too low', ENDING, ending(29, false)],
    ['that ends the list, where the page behind cannot be read', ENDING, ending(20, null)],
    ['that ends the list, where nothing is behind', ENDING, ending(20, false)],
    ['of as many as a search gives, by an estimate', ESTIMATED, byPage(1000, 1000)],
  ],
  'pages and leads': [
    ['leads on more than one page', CURSOR, pagesOf(records(10), records(10, 5), records(10, 15))],
    ...([...KINDS, ['offset', CURSOR]] as const).map(([kind, profile]): Story => {
      const all = paged(kind, records(40))
      const steps = [all, { answer: halved(kind), times: 3 }, all]
      return [`a page by ${profile.paging.kind} that is not whole, three times`, profile, ...steps]
    }),
    ['an id that is gone from every record', PAGE, byPage(35), paged('page', UNNAMED)],
    [
      'a page that fails, among those that are stored together',
      PAGE,
      byPage(60, 60),
      except('4', away, paged('page', OFTEN_CHANGED, 60)),
      paged('page', OFTEN_CHANGED, 60),
    ],
    ['an empty list, where the copy has a lead', PAGE, byPage(1), byPage(0)],
    [
      'leads without a time of update, with their names in another order, and then one of them with other values',
      PAGE,
      paged('page', UNTIMED),
      paged('page', REORDERED),
      { hoursLater: 24, answer: paged('page', [...UNTIMED.slice(1), UNTIMED_AND_WON]) },
    ],
    ['30 leads deleted while the list is read', OFFSET, shrinking(30)],
    ['200 leads deleted while the list is read', OFFSET, shrinking(200)],
    [
      'three pages of one updated_at and a filter that is inclusive',
      { ...OFFSET, ...SINCE },
      since(records(30)),
      changes(since(records(35))),
    ],
    [
      'a lead that is gone, with a sync of changes and one that fails before the second complete scan',
      CHANGES,
      paged('page', [...records(59), NEWEST], 60),
      WITHOUT_FIRST,
      changes(WITHOUT_FIRST),
      away,
      WITHOUT_FIRST,
    ],
  ],
  'odd leads': Object.entries(ODD).map(([name, list]) => {
    const lead = { ...MAPPING.lead, value_amount: 'worth', company_employees: 'size' }
    return [name, { ...CURSOR, mapping: { lead } }, () => ({ records: list }), {}]
  }),
  'an interrupted scan': [
    ['by page, with pages of 30 instead of 10', PAGE, BROKEN, { answer: byPage(60), pageSize: 30 }],
    ['by page, with pages of 10 as before', PAGE, BROKEN, byPage(60)],
    [
      'by offset, with pages of 30 instead of 10',
      OFFSET,
      (...asked) => (Number(asked[0]) > 15 ? away : paged('offset', records(60)))(...asked),
      { answer: paged('offset', records(60)), pageSize: 30 },
    ],
    [
      'that makes progress each day, and one two days after its last progress',
      CURSOR,
      except('3', away, tens(9)),
      { hoursLater: 23, answer: except('6', away, tens(9)) },
      { hoursLater: 23, answer: tens(9) },
      { hoursLater: 23, answer: except('3', away, tens(9)) },
      { hoursLater: 49 },
    ],
    stale('404 or 410', missing),
    stale('400', rejected),
    stale('an empty last page', () => ({})),
    stale('the failure of any page', away, away),
  ],
}

it.each(Object.entries(STORIES))('what each sync finds, and what it leaves: %s', async (subject, stories) => {
  const name = subject.replace(/ \(.*/, '').replaceAll(' ', '-')
  await expect(await tellSyncs(stories)).toMatchFileSnapshot(`golden/scan-${name}.txt`)
})

async function countDeleted({ store }: Listing): Promise<number> {
  const deleted = store.db.selectFrom('lead').where('deleted_at', 'is not', null)
  return (await deleted.select('id').execute()).length
}

it(`a list without an order is never called complete while leads are missing (SEED=${SEED_OF_TODAY})`, async () => {
  let missed = 0
  for (let number = 0; number < SHUFFLED; number++) {
    const next = random(SEED_OF_TODAY + number)
    const count = 12 + Math.floor(next() * 40)
    const profile = number % 2 === 0 ? OFFSET : PAGE
    const total = number % 3 === 0 ? count : null
    await using listing = await openListing(profile, (position, size, filters) =>
      paged(profile.paging.kind, shuffled(records(count), next), total)(position, size, filters),
    )
    for (let round = 0; round < 3; round++) {
      const { scan } = await listing.sync()
      if (scan?.distinct !== count) missed++
      expect(scan?.result === 'complete' ? scan.distinct : count, `number ${number}`).toBe(count)
    }
    expect(await countDeleted(listing)).toBe(0)
  }
  expect(missed).toBeGreaterThan(0)
})

it(`leads that are gone are never marked by interrupted scans: ${SCANS} of them, at every page, by every kind of failure`, async () => {
  const seed = SEED_OF_TODAY
  const next = random(seed)
  let failures = FAILURES
  const all = records(60)
  await using listing = await openListing(PAGE, paged('page', all, 60))
  await listing.sync()
  listing.answer = except('3', missing, paged('page', all, 60))
  expect(await listing.sync()).toMatchObject({
    complete: false,
    scan: { result: 'incomplete', stop: 'failed' },
  })
  for (let round = 0; round < SCANS; round++) {
    const stop = new AbortController()
    if (round % FAILURES.length === 0) failures = shuffled(FAILURES, next)
    const [failing = 1, failure] = failures[round % FAILURES.length] ?? []
    listing.clock.now = new Date(listing.clock.now.getTime() + 25 * 60 * 60_000)
    listing.answer = (position, size, filters) => {
      const page = paged('page', all, 60)(position, size, filters)
      if (Number(position ?? 1) !== failing) return page
      if (failure === 0) throw new LeadsheetError('api_unreachable', 'away')
      if (failure === 1) throw new LeadsheetError('api_unauthorized', 'no')
      if (failure === 2) stop.abort()
      if (failure === 4) throw new LeadsheetError('api_not_found', 'none')
      return failure === 3 ? { ...page, records: all.slice(0, 10) } : page
    }
    await listing.sync({ signal: stop.signal })
    expect(await countDeleted(listing), `SEED=${seed} round ${round}`).toBe(0)
  }
})
