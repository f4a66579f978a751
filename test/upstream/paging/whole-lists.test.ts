/** Answers that are a whole list without saying so. */
import { expect, it } from 'vitest'
import type { ProfileInput } from '../../../src/upstream/profile/profile.ts'
import { openHttpServer } from '../../support/network/http-server.ts'
import { openTestSource, profileWith } from '../../support/source/test-source.ts'

const PAGE = { kind: 'page', param: 'page', total: 'count' } as const
const CURSOR = { kind: 'cursor', param: 'after', next: 'next' } as const
const RANGE = { kind: 'range' } as const
const SPRING = { kind: 'page', param: 'page', start: 0, total: 'page.totalElements' } as const
const OFFSET = { kind: 'offset', param: 'from' } as const

/** Asks an upstream that always gives the same answer, or one by the page that is asked for. */
async function ask(paging: ProfileInput['paging'], body: unknown, position: string | null, size = 10) {
  let requests = 0
  await using server = await openHttpServer((request, response) => {
    requests++
    const page = Number(new URL(request.url ?? '', 'http://test').searchParams.get('page'))
    const answer = typeof body === 'function' ? body(page) : body
    response.statusCode = typeof answer === 'number' ? answer : 200
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  const envelope = { leads: Array.isArray(body) ? '' : 'items' }
  const source = openTestSource({ baseUrl: server.url, profile: profileWith({ paging, envelope }) })
  const { records, next, partialSign } = await source.listLeads({}, position, size)
  const asked = typeof body === 'function' ? { requests } : {}
  return { rows: records.length, next, ...asked, ...(partialSign == null ? {} : { partialSign }) }
}

it.each([
  [PAGE, {}, null],
  [PAGE, { count: 40, next: null, more: false }, '3'],
  [CURSOR, {}, null],
  [CURSOR, { items: null, next: null }, 'c2'],
  [{ ...CURSOR, has_more: 'more' }, { items: null, more: false }, 'c2'],
  [SPRING, { _links: { self: { href: '/leads' } }, page: { size: 20, totalElements: 0 } }, null],
  [SPRING, { _links: { self: { href: '/leads' } }, page: { size: 20, totalElements: 40 } }, '3'],
  [CURSOR, { links: { self: '/leads' }, meta: { count: 0 }, next: '' }, null],
] as const)('an empty list may be left out: %j, %j at %j', async (paging, body, position) => {
  expect(await ask(paging, body, position)).toEqual({ rows: 0, next: null })
})

/** Answers without a list, by the paging and the position that they answer. */
const WITHOUT_LIST: readonly (readonly [ProfileInput['paging'], object, string | null])[] = [
  [CURSOR, {}, 'c2'],
  [CURSOR, { items: null }, 'c2'],
  [CURSOR, { items: {} }, 'c2'],
  [{ kind: 'link' }, { items: '' }, '/leads?p=2'],
  [SPRING, { _links: {}, page: { totalElements: 40 } }, null],
  [SPRING, { _links: {}, page: { totalElements: 0 }, _embedded: { people: [] } }, null],
  [SPRING, { _links: {}, page: { status: 500 } }, null],
  [PAGE, { meta: { rows: [{ id: 1 }] } }, null],
  [PAGE, { links: '/leads' }, null],
  [PAGE, { rows: [] }, null],
  [PAGE, { message: 'Please sign in' }, null],
  [PAGE, { error: { message: 'no tenant' } }, null],
  [PAGE, { items: 0 }, null],
]

it('an answer with anything else has no list, which is told with what it says', async () => {
  const told: string[] = []
  for (const [paging, body, position] of WITHOUT_LIST) {
    const failure = await ask(paging, body, position).catch((thrown: unknown) => thrown)
    const said = `${Object(failure).code}: ${failure}`.replace(/127[.\d:]+/, 'HOST')
    told.push(`${JSON.stringify(body)} to ${position}\n  ${said}\n`)
  }
  await expect(told.join('')).toMatchFileSnapshot('golden/without-list.txt')
})

const WITH_TOKEN = { next: null, partialSign: 'a next page at page.nextToken' }

it.each([
  [CURSOR, { items: [{ id: 1 }], done: false }, { next: null, partialSign: 'done: false' }],
  [CURSOR, { items: [], done: false }, { next: null, partialSign: 'done: false' }],
  [CURSOR, { items: [{ id: 1 }], done: false, next: 'c3' }, { next: 'c3' }],
  [OFFSET, { items: [{ id: 1 }], truncated: true }, { next: '3' }],
  [{ kind: 'none' }, { items: [{ id: 1 }], links: { next: '' }, page: { nextToken: 'x' } }, WITH_TOKEN],
  [OFFSET, { items: [], truncated: true }, { next: null }],
] as const)(
  'an answer that says that more follow names the next page: %j, %j',
  async (paging, body, page) => {
    expect(await ask(paging, body, '2')).toEqual({ rows: body.items.length, ...page })
  },
)

const rows = (count: number) => Array.from({ length: count }, (_, id) => ({ id: `l${id}` }))

it.each([
  ['the whole list, where the range is ignored', 30, null],
  ['the whole list, shorter than the range', 7, null],
  ['a part, where it has as many records as were asked for', 10, '10'],
])('an answer to a range without Content-Range is %s', async (_name, count, next) => {
  expect(await ask(RANGE, rows(count), null)).toEqual({ rows: count, next })
})

const COUNTED = { kind: 'page', param: 'page', size_param: 'n', pages: 'pages' } as const
const TO_TOTAL = { ...PAGE, size_param: 'n', stop_at_total: true } as const

it.each([
  ['leads on, where more records are there', rows(5), 10, '3', 2],
  ['is the end, where that page is empty', [], 10, null, 2],
  ['is the end, where that page is not found', 404, 10, null, 2],
  ['is the end, where that page is refused', 400, 10, null, 2],
  ['is the end, where the page comes once more', null, 10, null, 2],
  ['is the end, if it is short', rows(5), 9, null, 1],
])(
  'a last page by the number of pages or of records, which may be old, %s',
  async (_name, behind, count, next, requests) => {
    const counts = { pages: 2, count: 20 }
    const last = { ...counts, items: rows(20).slice(10, 10 + count) }
    const answer = (page: number) =>
      page < 3 || behind === null ? last : typeof behind === 'number' ? behind : { ...counts, items: behind }
    expect(await ask(COUNTED, answer, '2')).toEqual({ rows: count, next, requests })
    if (count === 10) expect(await ask(TO_TOTAL, answer, '2')).toEqual({ rows: count, next, requests })
  },
)

it('a last page by the number of pages is the end, if it says that no more follow', async () => {
  const answer = () => ({ pages: 2, more: false, items: rows(10) })
  expect(await ask({ ...COUNTED, has_more: 'more' }, answer, '2')).toMatchObject({ next: null, requests: 1 })
})
