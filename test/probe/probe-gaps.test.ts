/** The findings of the probe by which a list can be read whole, and its words in place of a guess. */
import { describe, expect, test } from 'vitest'
import {
  type ForeignRecord,
  factsOf,
  filtered,
  inHeader,
  iso,
  KEY,
  numberIn,
  PLAIN,
  pageIn,
  plainRecord,
  type Shape,
  startForeign,
} from '../support/source/foreign.ts'
import { type ProbeCase, probeShape, tellProbes } from '../support/source/probing.ts'
import { openSyncing } from '../support/syncing.ts'

type Case = readonly [string, ProbeCase]

const bearer = inHeader('authorization', 'Bearer {key}')
const KEYED: Shape = { ...PLAIN, lets: bearer }
const keyed = (what: string, parts: Partial<Shape>, more: Omit<ProbeCase, 'shape'> = {}): Case => [
  what,
  { shape: { ...KEYED, ...parts }, ...more },
]

/** Records whose stages at the end are these, and another one in every second record. */
const ending = (last: object): Case =>
  keyed(`records such as ${JSON.stringify(last)}`, {
    record: (number) => ({
      ...plainRecord(number),
      ...(number % 2 === 0 ? last : { ...last, stage_id: 1, status: 'open' }),
    }),
  })

const INDEX = { contacts: '/sales/v9/persons', health: '/health' }
const PATHS = { '/v9/persons': { get: {} }, '/v9/persons/{id}': { get: {} } }
const OPEN_API = { openapi: '3.1.0', servers: [{ url: '/sales' }], paths: PATHS }
const persons = (what: string, body: object): Case =>
  keyed(what, { path: '/sales/v9/persons', others: { '/': { body } } }, { at: '' })

/** Records with two unique fields, by one of which they can be asked for. */
const withDocument = (number: number) => ({
  ...plainRecord(number),
  id: number + 1,
  documentId: `doc${number}x`,
})

/** Records of texts alone, because a list of rows has nothing else. */
const texts = (number: number) => ({ ...plainRecord(number), score: String(number) })
const asRows = (what: string, type: string, write: (all: readonly ForeignRecord[]) => string): Case => {
  const list: Shape['list'] = (all) => ({ headers: { 'content-type': type }, body: write(all) })
  return keyed(what, { record: texts, list }, { count: 47 })
}
const csvOf = (row: readonly string[]) => row.map((text) => `"${text}"`).join(';')

/** The fields beside the records of the only page that is found. */
const SINGLE = [
  ['a page that counts its own records', 40, { size: 40 }],
  ['a page whose total is a usual size', 40, { total: 40 }],
  ['a page that names a next one', 33, { count: 33, nextToken: 'x33' }],
  ['a page with the key of the last record', 33, { Count: 33, LastEvaluatedKey: { id: 'r33' } }],
  ['a page that says that more follow', 33, { count: 33, hasMoreRows: true }],
  ['a page that says that no more follow', 40, { count: 40, next: null }],
] as const

const LISTS: readonly Case[] = [
  keyed('a list', {}),
  asRows('CSV', 'text/csv', (all) =>
    [Object.keys(texts(0)).join(';'), ...all.map((each) => csvOf(Object.values(each).map(String))), ''].join(
      '\r\n',
    ),
  ),
  asRows('NDJSON', 'application/x-ndjson', (all) => all.map((each) => `${JSON.stringify(each)}\n`).join('')),
  keyed('a full first page that seems to be the only one', {
    list: (all) => ({ body: { data: all.slice(0, 100) } }),
  }),
  ...SINGLE.map(([what, rows, beside]) =>
    keyed(what, { list: (all) => ({ body: { data: all.slice(0, rows), ...beside } }) }),
  ),
  keyed('a refusal with status 200', {
    refusal: { status: 200, body: { errors: [{ code: '601', message: 'Access token invalid' }] } },
  }),
  keyed('a short list whose total says so is a single page', {}, { count: 7 }),
  keyed('a list without a key', {}, { key: '' }),
  keyed('an empty list', { list: () => ({ body: { result: { leads: [] } } }) }),
  keyed('no list at the usual paths', { path: '/hidden/away' }, { at: '' }),
  keyed('a list below the base', { path: '/contacts' }, { at: '' }),
  keyed('another list below the base', { path: '/items/leads' }, { at: '' }),
  keyed(
    'a list below a base that wants the key too',
    {
      path: '/crm/contacts',
      first: (request, url) =>
        url.pathname === '/crm' && !bearer(request, url) ? { status: 401, body: {} } : null,
    },
    { at: '/crm' },
  ),
  persons('a list that an index names', INDEX),
  persons('a list that an OpenAPI document names', OPEN_API),
  keyed(
    'a list behind a base with a path and a query of its own',
    { path: '/app/v2/leads', knows: ['workspace', 'limit', 'offset'] },
    { at: '/app/v2', query: '?workspace=7' },
  ),
  keyed('times and amounts in a form that is not read, and marks of deletion', {
    record: (n) => ({ ...plainRecord(n), created_at: '1.9.2026', value: '€ 7', deleted: n % 50 === 7 }),
  }),
  ending({ stage_id: 4, status: 'won' }),
  ending({ stage: 'Closed Lost', status: 'lost' }),
  ending({ stage_id: 4, status: 'open' }),
  [
    'two unique fields, by one of which a record can be asked for',
    {
      shape: {
        ...PLAIN,
        record: withDocument,
        first: (_, url, all) => {
          const id = /^\/leads\/(.+)$/.exec(url.pathname)?.[1]
          const record = all.find(({ documentId }) => documentId === id)
          return id === undefined ? null : record ? { body: { data: record } } : { status: 404, body: {} }
        },
      },
    },
  ],
  ['two unique fields, by which no record can be asked for', { shape: { ...PLAIN, record: withDocument } }],
]

/**
 * Without page parameters, the whole list. With them, pages in an envelope of their own, and an error after
 * the last one.
 */
const PAGED_ON_DEMAND: Shape = {
  path: '/queues',
  lets: inHeader('authorization', 'Basic {basic}'),
  refusal: { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' }, body: '' },
  record: (number) => ({ name: `q-${number}`, state: factsOf(number).status }),
  idOf: (record) => String(record.name),
  list: (all, url) => {
    const { items, isBehind } = sliceOf(all, url)
    if (!url.searchParams.has('page')) return { body: all }
    return isBehind ? OUT_OF_RANGE : { body: { items, total_count: all.length } }
  },
}
const OUT_OF_RANGE = { status: 400, body: { error: 'page_out_of_range' } }

/** Returns at most 20 records. A larger page is an error. */
function sliceOf(all: readonly ForeignRecord[], url: URL) {
  const page = pageIn(all, url, 'page', ['page_size', 10])
  const items = page.size > 20 ? [] : page.items
  return { items, isBehind: items.length === 0 }
}

const queues = (what: string, parts: Partial<Shape>, count?: number, key = KEY): Case => [
  what,
  { shape: { ...PAGED_ON_DEMAND, ...parts }, key, ...(count && { count }) },
]
/** Pages with these counts. The page that begins with the failing record is answered with 500. */
const counting = (what: string, counts: object, failing?: number): Case =>
  queues(what, {
    list: (all, url) => {
      const { items, isBehind } = sliceOf(all, url)
      if (isBehind) return OUT_OF_RANGE
      return items[0] === all[failing ?? -1] ? { status: 500, body: '' } : { body: { items, ...counts } }
    },
  })

const ENDS: readonly Case[] = [
  queues('a total that only pages tell, with an error behind the last one', {}, 233),
  queues('an error behind the last page, and nothing tells how many there are', {
    list: (all, url) => {
      const { items, isBehind } = sliceOf(all, url)
      return isBehind ? OUT_OF_RANGE : { body: items }
    },
  }),
  counting('a page in the middle that fails', { total: 230 }, 40),
  counting('a total that is too low, with an error behind the last page', { total: 60 }),
  counting('an estimated total of as many as a search gives', { estimated_total: 1000 }),
  queues(
    'an id that repeats behind the first page gives way to one that does not',
    {
      record: (number) => ({ ref: `r${number % 15}`, code: `c${number}`, number: number % 50 }),
      idOf: ({ code }) => String(code),
      list: (all, url) => ({ body: sliceOf(all, url).items }),
    },
    60,
  ),
  queues(
    'an id that repeats behind the first page, and there is no other',
    {
      record: (number) => ({ name: `q-${number % 50}`, size: number % 7 }),
      list: (all, url) => ({ body: sliceOf(all, url).items }),
    },
    60,
  ),
  queues(
    'an answer of 400 to a key that cannot be read in some form',
    {
      lets: (request, url) => /^\S+$/.test(request.headers.authorization ?? '') || bearer(request, url),
      list: (all, url, request) =>
        bearer(request, url) ? { body: all } : { status: 400, body: { error: 'bad_request' } },
    },
    undefined,
    'another-key',
  ),
  queues(
    'an empty page that names a next one is no end',
    {
      list: (all, url) => {
        const at = numberIn(url, 'after', 0)
        // The third page is empty: what it had is left out after the page was cut.
        const from = at > 2 ? at - 1 : at
        const data = at === 2 ? [] : all.slice(from * 10, from * 10 + 10)
        return { body: { data, next: from * 10 + 10 < all.length || at === 2 ? String(at + 1) : null } }
      },
    },
    35,
  ),
]

function timed(number: number): ForeignRecord {
  const { company, created, updated } = factsOf(number)
  const status = number % 2 === 0 ? 'lead' : 'customer'
  return { id: `r${number}`, company, status, created: iso(created), changed: iso(updated) }
}
/** Some have no time of change. The creation is late, so that new records are among the latest. */
const halfTimed = (number: number): ForeignRecord => ({
  ...timed(number),
  created: iso(factsOf(number).updated),
  ...(number % 2 === 0 && { changed: null }),
})

/** Understands `$filter` with `status eq '…'` and `changed ge …`, joined by `and`. */
const ODATA = filtered((query) => {
  const text = query.get('$filter') ?? ''
  const [, status] = /status eq '(\w+)'/.exec(text) ?? []
  const [, since = ''] = /changed ge ([^\s)]+)/.exec(text) ?? []
  return (record) => (status === undefined || record.status === status) && String(record.changed) >= since
})
const FROM = filtered((query) => (each) => String(each.changed) >= (query.get('from') ?? ''))
const OF_CHANGED = filtered((query) => {
  const since = query.get('updated_since')
  return ({ changed }) => since === null || (changed !== null && String(changed) >= since)
})
const sinceOfBoth = (query: URLSearchParams) =>
  /"changed":\{"_gte":"([^"]+)"\}.*"created":\{"_gte":"\1"/.exec(query.get('filter') ?? '')?.[1]
const OF_BOTH = filtered((query) => {
  const since = sinceOfBoth(query) ?? ''
  return ({ changed, created }) => String(changed ?? created) >= since
})
const OF_CREATIONS = filtered((query) => (record) => String(record.created_at) >= (query.get('since') ?? ''))

/** A filter of changes must keep what the list's address asks for, and give records that never changed too. */
const FILTERS: readonly Case[] = [
  [
    'a filter in the address is combined with the one of changes',
    { shape: { ...ODATA, record: timed }, query: "?$filter=status eq 'lead'" },
  ],
  [
    'a filter in the address is not overwritten where both cannot be combined',
    { shape: { ...FROM, record: timed }, query: '?from=2026-04-20' },
  ],
  [
    'the path of a list is left without the parameters of its paging',
    { shape: { ...PLAIN, record: timed }, key: '', at: '', path: '/leads?limit=5&view=all' },
  ],
  ['the address itself sets the size of pages', { shape: { ...PLAIN, record: timed }, query: '?limit=5' }],
  ['a filter leaves out records that never changed', { shape: { ...OF_CHANGED, record: halfTimed } }],
  [
    'a filter for both times, as Directus has it',
    {
      shape: {
        ...OF_BOTH,
        record: halfTimed,
        list: (all, url, request) =>
          url.searchParams.has('filter') && sinceOfBoth(url.searchParams) === undefined
            ? { status: 400, body: { error: 'invalid query' } }
            : OF_BOTH.list(all, url, request),
      },
    },
  ],
  [
    'a filter of creations is none of changes: old records that change would be lost',
    {
      shape: {
        ...OF_CREATIONS,
        record: (number) => {
          const created = new Date(Date.UTC(2026, 0, 1) + number * 86_400_000)
          const updated = new Date(created.getTime() + ((number * 17) % 37) * 86_400_000)
          return { id: `r${number}`, created_at: iso(created), updated_at: iso(updated) }
        },
      },
    },
  ],
]

test('of a list is told what it is and what cannot be told, and a sync by what was written stores its records', async () => {
  await expect(await tellProbes([...LISTS, ...ENDS, ...FILTERS])).toMatchFileSnapshot('golden/lists.txt')
})

describe('the written file', () => {
  test('proposes a field that nothing reads with its type, and with an example unless it is personal', async () => {
    const { text, gaps } = await probeShape({
      ...KEYED,
      record: (number) => ({
        ...plainRecord(number),
        contact: { mail: `p${number}@private.example` },
        opened: 1_760_000_000 + number,
        board: 'north',
        cents: number,
        tags: ['a'],
        isHot: number % 2 === 0,
        mixed: number % 2 === 0 ? 1 : 'x',
      }),
    })
    expect(gaps.map(({ problem }) => problem)).toContain(
      'nothing reads 6 further fields; the profile proposes them as columns',
    )
    await expect(text.slice(text.indexOf('#fields:'))).toMatchFileSnapshot('golden/proposed-fields.txt')
    expect(text).not.toContain('private.example')
  })

  test('names no person', async () => {
    const person = (number: number) => ({ name: `Ada${number} Byron`, email: `ada${number}@example.com` })
    const record = (number: number) => ({ ...plainRecord(number), ...person(number) })
    const { text } = await probeShape({ ...KEYED, record })
    expect(text).toContain('contact_email: email')
    expect(text).not.toMatch(/Byron|@example/)
  })
})

test.each([
  ['a list without the paging of the reference service', () => ({ body: { data: [{ id: '1' }] } })],
  ['a list in another place', () => ({ body: { items: [{ id: '1' }] } })],
])('without a profile %s ends the sync, which names the probe', async (_, list) => {
  await using foreign = await startForeign({ ...KEYED, path: '/api/v1/leads', list })
  await using syncing = await openSyncing(foreign.url, KEY)
  const { outcome, problems } = await syncing.sync()
  expect(outcome).toBe('failed')
  expect(problems[0]?.hint).toContain('leadsheet probe')
})
