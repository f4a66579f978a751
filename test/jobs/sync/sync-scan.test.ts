// @both-stores
import { describe, expect, it } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import type { ProfileInput } from '../../../src/upstream/profile/profile.ts'
import { countCases, random, SEED_OF_TODAY, shuffled } from '../../support/random.ts'
import {
  type Answer,
  CURSOR,
  type Listing,
  MAPPING,
  OFFSET,
  openListing,
  PAGE,
  paged,
  records,
  SINCE,
} from '../../support/source/listing.ts'

/** Pages so small that they do not overlap. */
const OFFSET_OF_3 = { paging: { kind: 'offset', param: 'from', size_param: 'n', size_max: 3 } } as const
const SHUFFLED = countCases(6, 300)
const SCANS = countCases(30, 200)
/** Each page with each kind of failure. */
const FAILURES = [1, 2, 3, 4, 5, 6].flatMap((page) =>
  [0, 1, 2, 3, 4].map((failure) => [page, failure] as const),
)

async function ids(listing: Listing): Promise<string[]> {
  const rows = await listing.store.db.selectFrom('lead').select('id').orderBy('id').execute()
  return rows.map((row) => row.id)
}

function idsOf(count: number): string[] {
  return records(count).map((record) => record.id)
}

async function countDeleted(listing: Listing): Promise<number> {
  const rows = await listing.store.db
    .selectFrom('lead')
    .where('deleted_at', 'is not', null)
    .select('id')
    .execute()
  return rows.length
}

function refused(code: 'api_rejected' | 'api_not_found'): never {
  throw new LeadsheetError(code, 'refused')
}

function unreachable(): never {
  throw new LeadsheetError('api_unreachable', 'away')
}

describe('the end of a list', () => {
  it.each(['page', 'offset'] as const)('by %s is an empty page, and no short one', async (kind) => {
    const all = records(35)
    const sevens = (position: string | null) => paged(kind, all)(position, 7, {})
    await using listing = await openListing(kind === 'page' ? PAGE : OFFSET, sevens)
    const result = await listing.sync()
    expect(result).toMatchObject({ outcome: 'ok', scan: { result: 'complete' }, leads: { seen: 35 } })
    expect(await ids(listing)).toEqual(idsOf(35))
  })

  it.each([
    ['in the middle', [10, 0, 10]],
    ['first', [0, 10]],
    ['several in a row', [10, 0, 0, 0, 5]],
    ['last', [10, 0]],
  ])('is no empty page that names a next one: %s', async (_name, sizes) => {
    for (const profile of [
      CURSOR,
      { paging: { kind: 'next_url', next: 'next' } },
      { paging: { kind: 'link' } },
    ] as const) {
      await using listing = await openListing(profile, (position) => {
        const at = Number(position ?? 0)
        const from = sizes.slice(0, at).reduce((sum, size) => sum + size, 0)
        return { records: records(sizes[at] ?? 0, from), next: at + 1 < sizes.length ? String(at + 1) : null }
      })
      const { scan } = await listing.sync()
      const all = sizes.reduce((sum, size) => sum + size, 0)
      expect(scan).toMatchObject({ result: 'complete', distinct: all, pages: sizes.length })
    }
  })

  it.each([
    ['its own cursor', () => 'b', 1],
    ['ever new cursors', (at: string | null) => `${at}x`, 101],
  ])('stays unproven where empty pages name %s', async (_name, next, pages) => {
    await using listing = await openListing(CURSOR, (position) =>
      position === null ? { records: records(10), next: 'b' } : { records: [], next: next(position) },
    )
    const { scan, problems } = await listing.sync()
    expect(scan).toMatchObject({ result: 'unproven', stop: 'loop', distinct: 10, pages })
    expect(problems[0]?.hint).toContain('paging.has_more')
  })

  it('is an empty page with a cursor if the total is reached', async () => {
    await using listing = await openListing(CURSOR, (position) => ({
      records: position === null ? records(10) : [],
      next: `${position}x`,
      total: 10,
    }))
    expect((await listing.sync()).scan).toMatchObject({ result: 'complete', distinct: 10, pages: 2 })
  })

  const FIXED = { paging: { kind: 'page', param: 'page' } } as const
  const IGNORED = { paging: { ...PAGE.paging } } as const
  it.each([
    ['full pages, in 404', PAGE, 30, Infinity, 'api_not_found', 'complete'],
    ['full pages, in 400 or 416', PAGE, 30, Infinity, 'api_rejected', 'complete'],
    ['40 full pages', PAGE, 400, Infinity, 'api_not_found', 'complete'],
    ['full pages of a size that cannot be set, in 404', FIXED, 30, Infinity, 'api_not_found', 'complete'],
    ['full pages of a size that cannot be set, in 400', FIXED, 30, Infinity, 'api_rejected', 'incomplete'],
    ['full pages of a size that is ignored, in 404', IGNORED, 30, Infinity, 'api_not_found', 'complete'],
    ['full pages of a size that is ignored, in 400', IGNORED, 30, Infinity, 'api_rejected', 'incomplete'],
    ['what the upstream serves at most', PAGE, 40, 30, 'api_rejected', 'incomplete'],
    ['what the upstream serves at most, in 404', PAGE, 40, 30, 'api_not_found', 'incomplete'],
    ['what the upstream serves at most by offset', OFFSET_OF_3, 40, 30, 'api_rejected', 'incomplete'],
    ['full pages by offset', OFFSET_OF_3, 30, Infinity, 'api_rejected', 'complete'],
    ['a short page, in 404', FIXED, 35, Infinity, 'api_not_found', 'complete'],
    ['a short page, in 400', FIXED, 35, Infinity, 'api_rejected', 'complete'],
    ['a short first page', PAGE, 8, Infinity, 'api_not_found', 'complete'],
  ] as const)(
    'is proved where it is refused behind %s',
    async (_name, profile, count, most, code, result) => {
      const { kind } = profile.paging
      const list = paged(kind, records(count))
      await using listing = await openListing(profile, (position, wanted, filters) => {
        const size = profile === FIXED || profile === IGNORED ? 10 : wanted
        const last = kind === 'page' ? Number(position ?? 1) * size : Number(position ?? 0) + size
        const page = list(position, size, filters)
        return page.records?.length === 0 || last > most ? refused(code) : page
      })
      expect((await listing.sync()).scan).toMatchObject({ result, distinct: Math.min(count, most) })
    },
  )

  it('is not a full page before a page that is refused once', async () => {
    const list = paged('page', records(40))
    let isAway = true
    await using listing = await openListing(FIXED, (position, _size, filters) => {
      if (position !== '4' || !isAway) return list(position, 10, filters)
      isAway = false
      return refused('api_not_found')
    })
    expect((await listing.sync()).scan).toMatchObject({ result: 'complete', distinct: 40 })
  })

  it('is a 404 to a filter that no lead passes, if the list without it has leads', async () => {
    await using listing = await openListing({ ...PAGE, ...SINCE }, paged('page', records(5)))
    await listing.sync()
    listing.answer = (position, size, by) =>
      by.updatedSince === undefined ? paged('page', records(5))(position, size, by) : refused('api_not_found')
    expect((await listing.sync({ full: false })).scan).toMatchObject({
      mode: 'incremental',
      stop: 'past_end',
    })
    listing.answer = () => refused('api_not_found')
    expect((await listing.sync({ full: false })).scan).toMatchObject({ result: 'incomplete' })
  })

  it.each([
    ['the total is reached', 40, 40],
    ['the last page is short', 35, null],
  ])('is the last page once more, when %s', async (_name, count, total) => {
    const list = paged('page', records(count), total)
    await using listing = await openListing(PAGE, (position, size, filters) => {
      const last = Math.ceil(count / size)
      const at = Math.min(Number(position ?? 1), last)
      return { ...list(String(at), size, filters), next: String(Number(position ?? 1) + 1) }
    })
    const result = await listing.sync()
    expect(result.scan).toMatchObject({
      result: 'complete',
      stop: 'past_end',
      distinct: count,
      passes: 1,
    })
  })
})

describe('changes of just now', () => {
  const changed = records(6).map((lead) => ({ ...lead, updated: '2026-11-21T05:59:30.000Z' }))

  it.each(['page', 'offset'] as const)('on one short page by %s are read once', async (kind) => {
    const profile = kind === 'page' ? PAGE : OFFSET
    await using listing = await openListing({ ...profile, ...SINCE }, paged(kind, records(40)))
    await listing.sync()
    listing.answer = paged(kind, changed.slice(0, 5))
    for (const count of ['updated', 'unchanged']) {
      listing.asked.length = 0
      const { scan, leads } = await listing.sync({ full: false })
      expect(scan).toMatchObject({ mode: 'incremental', result: 'complete', passes: 1 })
      expect(leads).toMatchObject({ seen: 5, [count]: 5 })
      expect(listing.asked).toHaveLength(2)
    }
  })

  it('on several pages are read again, and not by the next sync, which finds them unchanged', async () => {
    await using listing = await openListing({ ...PAGE, ...SINCE }, paged('page', records(40)))
    await listing.sync()
    listing.answer = paged(
      'page',
      records(15).map((lead) => ({ ...lead, updated: '2026-11-21T05:59:30.000Z' })),
    )
    for (const passes of [3, 1]) {
      const { scan } = await listing.sync({ full: false })
      expect(scan).toMatchObject({ mode: 'incremental', result: 'complete', passes })
    }
  })

  it.each([
    ['one lead is a wrong time, and no sign that rows moved', 1, null, 1],
    ['one lead is a sign if the clock of the upstream is ahead', 1, -3_600_000, 3],
    ['several leads may be that of a clock that is ahead', 2, null, 3],
  ])('an hour ahead in %s', async (_name, ahead, clockAheadMs, passes) => {
    const list = (from: number) =>
      paged('page', [
        ...records(ahead).map((lead) => ({ ...lead, updated: `2026-11-21T07:0${from}:00.000Z` })),
        ...records(39, ahead),
      ])
    await using listing = await openListing(PAGE, list(0))
    listing.clockAheadMs = clockAheadMs
    await listing.sync()
    listing.answer = list(1)
    const { scan, leads } = await listing.sync()
    expect(scan).toMatchObject({ result: 'complete', passes })
    expect(leads.updated).toBe(ahead)
  })
})

describe('a list without an end', () => {
  it.each<[string, Partial<ProfileInput>, (at: string | null) => string]>([
    ['the same page for ever, under new cursors', CURSOR, (at) => `${at}x`],
    ['the same page for every number', PAGE, (at) => String(Number(at ?? 1) + 1)],
    ['the same rows at every offset', OFFSET, (at) => String(Number(at ?? 0) + 10)],
    ['a cursor that comes again', CURSOR, (at) => (at === 'a' ? 'b' : 'a')],
  ])('ends the run after a few pages and keeps what was read: %s (row 30)', async (_name, profile, next) => {
    await using listing = await openListing(profile, (at) => ({ records: records(10), next: next(at) }))
    const result = await listing.sync()
    expect(result).toMatchObject({ outcome: 'partial', complete: false })
    expect(result.scan).toMatchObject({ result: 'incomplete', stop: 'loop' })
    expect(result.pages).toBeLessThanOrEqual(4)
    // Requests that were already on their way are counted too.
    expect(listing.asked.length).toBeLessThanOrEqual(4 + 6)
    expect(await ids(listing)).toHaveLength(10)
    // The next run does not continue inside the loop.
    listing.asked.length = 0
    await listing.sync()
    expect(listing.asked[0]).toBeNull()
  })

  it('ends at limits.max_pages', async () => {
    await using listing = await openListing({ ...CURSOR, limits: { max_pages: 5 } }, (position) => {
      const at = Number(position ?? 0)
      return { records: records(10, at * 10), next: String(at + 1) }
    })
    const result = await listing.sync()
    expect(result.scan).toMatchObject({ result: 'incomplete', stop: 'page_cap', pages: 5 })
    expect(result.problems[0]?.message).toContain('limits.max_pages')
  })
})

describe('a total', () => {
  it.each([
    ['right', () => 35, 'complete', 1, []],
    ['missing', () => null, 'complete', 1, []],
    ['0 past the end', (some: number) => (some > 0 ? 35 : 0), 'complete', 1, []],
    ['too low', () => 20, 'complete', 1, [expect.stringContaining('counts 20 leads, but gave 35')]],
    ['never reached', () => 50, 'unproven', 2, []],
  ] as const)('that is %s ends no list (row 31)', async (_name, counted, result, passes, warnings) => {
    for (const kind of ['page', 'offset'] as const) {
      await using listing = await openListing(kind === 'page' ? PAGE : OFFSET, (...asked) => {
        const page = paged(kind, records(35))(...asked)
        return { ...page, total: counted(page.records?.length ?? 0) }
      })
      const { scan, problems } = await listing.sync()
      expect(scan).toMatchObject({ result, passes, warnings, reportedTotal: counted(1), distinct: 35 })
      const told = result === 'unproven' ? ['ends after 35 leads, but the upstream counts 50'] : []
      expect(problems.map(({ message }) => message)).toEqual(
        told.map((text) => expect.stringContaining(text)),
      )
    }
  })

  it('of 0 on the first page is that of an empty list', async () => {
    await using listing = await openListing(PAGE, () => ({ records: [], next: null, total: 0 }))
    expect((await listing.sync()).scan).toMatchObject({ result: 'complete', reportedTotal: 0, passes: 1 })
  })

  it.each([
    [
      600,
      'incomplete',
      'partial',
      [expect.stringContaining('gave an empty page that says that more follow')],
    ],
    [
      null,
      'incomplete',
      'partial',
      [expect.stringContaining('gave an empty page that says that more follow')],
    ],
    [200, 'complete', 'ok', []],
  ])(
    'of %s beside an empty page that says that there are more leaves a list of 200 %s',
    async (total, proved, outcome, told) => {
      await using listing = await openListing(CURSOR, (position) => {
        const some = position === null ? 200 : 0
        return { records: records(some), next: some ? 'c2' : null, total, saysMore: true }
      })
      const result = await listing.sync({ pageSize: 200 })
      expect(result).toMatchObject({ outcome, scan: { result: proved, stop: 'empty_page', distinct: 200 } })
      expect(result.problems.map(({ message }) => message)).toEqual(told)
    },
  )

  it('that says more than a full first page without a next one shows that the cursor is gone', async () => {
    await using listing = await openListing(CURSOR, () => ({ records: records(10), next: null, total: 35 }))
    const result = await listing.sync()
    expect(result.scan).toMatchObject({ result: 'incomplete', stop: 'no_cursor' })
    expect(result.problems[0]).toMatchObject({ code: 'api_unexpected' })
    expect(result.problems[0]?.hint).toContain('paging.next')
  })
})

it('what the leads of a list let doubt is told in each full scan', async () => {
  const all = records(30)
  const other = (change: object) => ({ ...all[0], ...change })
  const dated = (day: string, index: number) =>
    `2026-${day}-${String(1 + (index % 20)).padStart(2, '0')}T08:00:00Z`
  const worth = ['1.234,56', '12.500', 'n/a', 7, '12.250', '']
  const lists: Readonly<Record<string, readonly unknown[]>> = {
    'times that cannot be right: none at all, and the same in all leads': records(60),
    'times that can': records(60).map(({ id }, index) => ({
      id,
      created: dated('10', index),
      updated: dated('11', index),
    })),
    'texts that are cleaned or cut': all.map(
      (lead, index) =>
        [lead, { ...lead, name: 'Com\u0000pany' }, { ...lead, name: 'x'.repeat(70_000) }][
          index === 5 ? 2 : index === 3 || index === 4 ? 1 : 0
        ],
    ),
    'values that may have been read wrongly': all.map((lead, index) => ({
      ...lead,
      worth: worth[index],
      size: index ? 1 : 'few',
    })),
    'an id of two records: other values of the same time': [
      ...all,
      ...all.slice(0, 2).map((lead) => ({ ...lead, name: 'Other' })),
    ],
    'an id of two records: other values without a time': [
      ...all,
      { id: 'x', name: 'Acme' },
      { id: 'x', name: 'Other' },
      { id: 'x' },
    ],
    'an id of two records: another time of creation': [
      ...all,
      { id: 'x', created: '2026-10-01', updated: '2026-10-01' },
      { id: 'x', created: '2026-10-02', updated: '2026-10-02' },
    ],
    'an id of two records: an older state': [
      ...all,
      other({ name: 'Old', updated: '2026-10-01T00:00:00.000Z' }),
    ],
    'an id of two records: the same record': [...all, all[0]],
    'an id of two records: the same values in another order': [
      ...all,
      { updated: all[0]?.updated, id: 'l000' },
    ],
  }
  const lead = { ...MAPPING.lead, value_amount: 'worth', company_employees: 'size' }
  const told: string[] = []
  for (const [name, list] of Object.entries(lists)) {
    await using listing = await openListing({ ...CURSOR, mapping: { lead } }, () => ({ records: list }))
    for (const time of ['first', 'second']) {
      const { scan } = await listing.sync()
      told.push(`${name} (${time} scan: ${scan?.result}, cleaned ${scan?.cleaned}, cut ${scan?.cut})`)
      told.push(...(scan?.warnings.map((warning) => `  ${warning}`) ?? []))
    }
  }
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/warnings.txt')
})

it('leads on more than one page are stored and counted once (row 28)', async () => {
  const all = [...records(10), ...records(10, 5), ...records(10, 15)]
  await using listing = await openListing(CURSOR, (position, size) => {
    const at = Number(position ?? 0)
    return { records: all.slice(at, at + size), next: at + size < all.length ? String(at + size) : null }
  })
  const result = await listing.sync()
  expect(result.leads).toMatchObject({ seen: 25, inserted: 25, updated: 0, unchanged: 0 })
  expect(result.scan?.distinct).toBe(25)
  expect(await ids(listing)).toEqual(idsOf(25))
})

it.each([CURSOR, PAGE, OFFSET])(
  'a page that says that it is not whole leaves the scan incomplete and deletes nothing: %j',
  async (profile) => {
    const all = records(40)
    const list = paged(profile === PAGE ? 'page' : 'offset', all)
    await using listing = await openListing(profile, list)
    await listing.sync()
    listing.answer = (...asked) => {
      const page = list(...asked)
      const isPartial = page.records?.some((record) => record === all[15])
      const fewer = page.records?.filter((record) => record !== all[15])
      return isPartial ? { ...page, records: fewer ?? [], partialSign: 'status 207' } : page
    }
    for (let round = 0; round < 3; round++) {
      const { scan, problems, complete } = await listing.sync()
      expect(complete).toBe(false)
      expect(scan).toMatchObject({ result: 'incomplete', distinct: 39 })
      expect(problems[0]?.message).toContain('(page 2: status 207)')
    }
    expect(await countDeleted(listing)).toBe(0)
    listing.answer = list
    expect((await listing.sync()).scan).toMatchObject({ result: 'complete', distinct: 40 })
  },
)

describe('a list without an order', () => {
  it(`is never called complete while leads are missing (SEED=${SEED_OF_TODAY})`, async () => {
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
})

it('a list that never holds still is unproven: the copy gets no younger, nothing is deleted, and the run says so', async () => {
  const next = random(5)
  await using listing = await openListing({ ...PAGE, ...SINCE }, (position) => {
    const at = Number(position ?? 1)
    const shuffled = records(200).sort(() => next() - 0.5)
    return {
      records: at > 10 ? [] : shuffled.slice(0, 10),
      next: at > 10 ? null : String(at + 1),
      total: 200,
    }
  })
  const result = await listing.sync()
  expect(result).toMatchObject({ complete: false, scan: { result: 'unproven', stop: 'empty_page' } })
  expect(result.problems[0]?.message).toContain('has no order')
  const run = await listing.store.db.selectFrom('sync_run').selectAll().executeTakeFirstOrThrow()
  expect(run.leads_as_of).toBeNull()
  const watermark = await listing.store.db.selectFrom('sync_watermark').selectAll().executeTakeFirst()
  expect(watermark?.updated_at || null).toBeNull()
})

it('an id that is gone from every record of a page stops the sync, and nothing of the page is stored', async () => {
  await using listing = await openListing(PAGE, paged('page', records(35)))
  await listing.sync()
  const renamed = records(35).map(({ id, updated }) => ({ uid: id, updated }))
  listing.answer = paged('page', renamed)
  const result = await listing.sync()
  expect(result).toMatchObject({ outcome: 'failed', problems: [{ code: 'api_unexpected' }] })
  expect(result.problems[0]?.message).toBe(
    'None of 10 leads on a page has an id at id; the first one has uid, updated',
  )
  const held = await listing.store.db.selectFrom('quarantined_record').selectAll().execute()
  expect(held).toEqual([])
})

describe('a scan', () => {
  it('keeps the pages before one that fails, also those that were to be stored together', async () => {
    const all = records(60)
    await using listing = await openListing(PAGE, paged('page', all, 60))
    await listing.sync()
    const changed = all.map((record, index) =>
      index % 7 === 0 ? { ...record, updated: '2026-11-20T00:00:00Z' } : record,
    )
    const list = paged('page', changed, 60)
    listing.answer = (position, size, filters) =>
      position === '4' ? unreachable() : list(position, size, filters)
    const broken = await listing.sync()
    expect(broken).toMatchObject({ complete: false, pages: 3, scan: { stop: 'failed' } })
    expect(broken.leads.updated).toBeGreaterThan(0)
    listing.asked.length = 0
    listing.answer = list
    const resumed = await listing.sync()
    expect(listing.asked[0]).toBe('4')
    expect(resumed.scan).toMatchObject({ result: 'complete', distinct: 60 })
    expect(broken.leads.updated + resumed.leads.updated).toBe(9)
  })

  it('goes back to where rows went on when many before them were deleted', async () => {
    for (const gone of [30, 200]) {
      let all = records(300)
      await using listing = await openListing(OFFSET, (position, size) => {
        if (listing.asked.length === 26) all = all.slice(gone)
        return paged('offset', all)(position, size, {})
      })
      const result = await listing.sync({ full: true })
      expect(result.scan, `${gone} deleted`).toMatchObject({ result: 'complete', distinct: 300 })
      expect(await ids(listing)).toEqual(idsOf(300))
    }
  })
})

describe('leads that are gone', () => {
  it(`are never marked by interrupted scans: ${SCANS} of them, at every page, by every kind of failure (row 33)`, async () => {
    const seed = SEED_OF_TODAY
    const next = random(seed)
    let failures = FAILURES
    const all = records(60)
    await using listing = await openListing(PAGE, paged('page', all, 60))
    await listing.sync()
    listing.answer = (...asked) =>
      asked[0] === '3' ? refused('api_not_found') : paged('page', all, 60)(...asked)
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
        if (failure === 4) refused('api_not_found')
        return failure === 3 ? { ...page, records: all.slice(0, 10) } : page
      }
      await listing.sync({ signal: stop.signal })
      expect(await countDeleted(listing), `SEED=${seed} round ${round}`).toBe(0)
    }
  })

  it('are marked after two complete scans, and by none between them that failed or read changes', async () => {
    const newest = { ...records(1, 59)[0], updated: '2026-11-02T00:00:00.000Z' }
    const all = [...records(59), newest]
    await using listing = await openListing({ ...PAGE, ...SINCE }, paged('page', all, 60))
    await listing.sync()
    const fewer = paged('page', all.slice(1), 59)
    listing.answer = fewer
    expect((await listing.sync()).leads.deleted).toBe(0)
    expect(await listing.sync({ full: false })).toMatchObject({
      scan: { mode: 'incremental' },
      leads: { deleted: 0 },
    })
    listing.answer = unreachable
    await listing.sync()
    listing.answer = fewer
    expect((await listing.sync()).leads.deleted).toBe(1)
  })
})

it('a filter that is inclusive loses none of three pages of one updated_at (row 29)', async () => {
  const answer = (rows: ReturnType<typeof records>): Answer => {
    return (position, size, { updatedSince = '' }) =>
      paged(
        'offset',
        rows.filter((row) => row.updated >= (updatedSince ?? '')),
      )(position, size, {})
  }
  await using listing = await openListing({ ...OFFSET, ...SINCE }, answer(records(30)))
  await listing.sync()
  listing.answer = answer(records(35))
  const { scan, leads } = await listing.sync({ full: false })
  expect(scan).toMatchObject({ mode: 'incremental', result: 'complete' })
  expect(leads).toMatchObject({ seen: 35, inserted: 5, unchanged: 30 })
})

describe('an interrupted scan', () => {
  /** Answers with 60 leads, but fails once at the third page. */
  function failing(kind: 'page' | 'offset', failure: () => never): Answer {
    let requests = 0
    return (...asked) => (requests++ === 2 ? failure() : paged(kind, records(60))(...asked))
  }

  it.each([
    ['page', 30, 1],
    ['offset', 30, 3],
    ['page', 10, 3],
  ] as const)(
    'by %s goes on with pages of %i only where its place is the same',
    async (kind, pageSize, first) => {
      const profile = { ...(kind === 'page' ? PAGE : OFFSET), limits: { concurrency: 1 } }
      await using listing = await openListing(profile, failing(kind, unreachable))
      expect((await listing.sync()).scan).toMatchObject({ result: 'incomplete', pages: 2 })
      listing.asked.length = 0
      const { scan } = await listing.sync({ pageSize })
      expect(scan).toMatchObject({ result: 'complete', distinct: 60 })
      expect(await ids(listing)).toEqual(idsOf(60))
      expect(listing.asked[0] === null).toBe(first === 1)
    },
  )

  it('goes on as long as it makes progress, however slow, and not two days after its last', async () => {
    let requests = 0
    await using listing = await openListing(CURSOR, (position) => {
      if (++requests % 4 === 0) unreachable()
      const at = Number(position ?? 0)
      return { records: records(10, at * 10), next: at < 8 ? String(at + 1) : null }
    })
    const pages = async (): Promise<(string | null)[]> => {
      listing.asked.length = 0
      listing.clock.now = new Date(listing.clock.now.getTime() + 23 * 3_600_000)
      await listing.sync()
      return [...listing.asked]
    }
    expect(await pages()).toEqual([null, '1', '2', '3'])
    expect(await pages()).toEqual(['3', '4', '5', '6'])
    expect(await pages()).toEqual(['6', '7', '8'])
    expect(await ids(listing)).toEqual(idsOf(90))
    requests = 0
    await pages()
    listing.clock.now = new Date(listing.clock.now.getTime() + 26 * 3_600_000)
    expect((await pages())[0]).toBeNull()
  })

  it.each<[string, Answer, object]>([
    ['404 or 410', () => refused('api_not_found'), { result: 'complete', distinct: 50 }],
    ['400', () => refused('api_rejected'), { result: 'complete', distinct: 50 }],
    ['an empty last page', () => ({ records: [] }), { result: 'complete', distinct: 50 }],
    [
      'the failure of any page',
      () => unreachable(),
      { result: 'incomplete', stop: 'failed', distinct: 20, pages: 2 },
    ],
  ])('whose cursor is answered with %s starts over, or stays where it is', async (_name, stale, expected) => {
    const list: Answer = (position) => {
      const at = Number(position ?? 0)
      return { records: records(10, at * 10), next: at < 4 ? String(at + 1) : null }
    }
    await using listing = await openListing(CURSOR, (...asked) =>
      asked[0] === '2' ? unreachable() : list(...asked),
    )
    await listing.sync()
    // The list gives other cursors when it is read anew.
    listing.asked.length = 0
    const anew = 'stop' in expected ? stale : list
    listing.answer = (...asked) => (listing.asked.includes(null) ? anew : stale)(...asked)
    expect((await listing.sync()).scan).toMatchObject(expected)
  })
})
