import { describe, expect, it } from 'vitest'
import { nextPosition, requestPage } from '../../../src/upstream/paging/paging.ts'
import { type ProfileInput, parseProfile } from '../../../src/upstream/profile/profile.ts'

const LIST = 'https://crm.example/crm/v2/leads?limit=2'

function pagingOf(paging: ProfileInput['paging']) {
  return parseProfile({ name: 'test', paging, mapping: { lead: { id: 'id' } } }, 'test').paging
}

/** Returns the position behind a page, and the URL that is asked for there. */
function next(
  input: ProfileInput['paging'],
  body: unknown,
  headers: Record<string, string> = {},
  list = LIST,
  from: string | null = null,
  rows = 1,
) {
  const paging = pagingOf(input)
  const url = new URL(list)
  const records = Array.from({ length: rows }, (_, at) => ({ value: { id: at + 1 } }))
  const position = nextPosition(paging, from, { url, body, headers, records }, 2)
  return { position, asked: position === null ? null : requestPage(paging, url, {}, position, 2).href }
}

describe('a link to the next page', () => {
  it.each([
    ['http://crm.example/crm/v2/leads?after=2', 'https://crm.example/crm/v2/leads?after=2'],
    ['http://crm.example:80/crm/v2/leads?after=2', 'https://crm.example/crm/v2/leads?after=2'],
    ['https://CRM.example/crm/v2/leads?after=2', 'https://crm.example/crm/v2/leads?after=2'],
    ['/leads?after=2', 'https://crm.example/crm/v2/leads?after=2'],
    ['http://crm.example/v2/leads?after=2', 'https://crm.example/crm/v2/leads?after=2'],
    ['/crm/v2/query/01g-2', 'https://crm.example/crm/v2/query/01g-2'],
    ['/eads?after=2', 'https://crm.example/eads?after=2'],
    ['?after=2', 'https://crm.example/crm/v2/leads?after=2'],
    ['leads?after=2', 'https://crm.example/crm/v2/leads?after=2'],
    ['//crm.example//evil.example/x', 'https://crm.example//evil.example/x'],
    ['?a=x+y&b=%2F%20%7e&c=1/2:3', 'https://crm.example/crm/v2/leads?a=x+y&b=%2F%20%7e&c=1/2:3'],
  ])('%s leads to %s', (link, address) => {
    expect(next({ kind: 'next_url', next: 'next' }, { next: link }).asked).toBe(address)
    expect(next({ kind: 'link' }, {}, { link: `<${link}>; rel="next"` }).asked).toBe(address)
  })

  it('without a port, or with http and the port of the API, keeps the address of the API', () => {
    const list = 'https://crm.example:8443/leads'
    for (const link of [
      'http://crm.example/leads?p=2',
      'https://crm.example/leads?p=2',
      'http://crm.example:8443/leads?p=2',
    ])
      expect(next({ kind: 'next_url', next: 'next' }, { next: link }, {}, list).asked).toBe(`${list}?p=2`)
  })

  it('without TLS stays so where the API itself has none', () => {
    const list = 'http://127.0.0.1:8080/leads'
    const { asked } = next(
      { kind: 'next_url', next: 'next' },
      { next: 'https://127.0.0.1/leads?p=2' },
      {},
      list,
    )
    expect(asked).toBe('http://127.0.0.1:8080/leads?p=2')
  })

  it.each([
    'http://crm.example:8000/crm/v2/leads?p=2',
    'http://backend:8000/crm/v2/leads?p=2',
    'https://api.crm.example/leads',
    'ftp://crm.example/leads',
    'http://[x',
  ])('to another host or port is refused: %s', (link) => {
    expect(() => next({ kind: 'next_url', next: 'next' }, { next: link })).toThrow('which is not followed')
  })

  it.each([
    [`<?p=2>; rel="next"`, true],
    [`<?p=2>; rel='next'`, true],
    [`<?p=2>; title="x"; REL = 'last next'`, true],
    [`<?p=1>; rel='prev', <?p=2>; rel=next`, true],
    [`<?p=2>; rel='nextish'`, false],
    [`<?p=2>; title='next'; rel='last'`, false],
  ])('in a Link header is known by its relation: %s', (link, isNext) => {
    expect(next({ kind: 'link' }, {}, { link }).asked).toBe(
      isNext ? 'https://crm.example/crm/v2/leads?p=2' : null,
    )
  })
})

describe('a cursor', () => {
  const CURSOR = { kind: 'cursor', param: 'after', next: 'next' } as const
  it.each([
    ...[0, '0', -1, '-1', 'null', 'NULL', 'undefined', 'None', 'nil', '#'],
    ...['', null, false, undefined, Number.POSITIVE_INFINITY, [], {}, { href: null }, { href: '#' }],
  ])('of %j means the end by default', (cursor) => {
    expect(next(CURSOR, { next: cursor }).position).toBeNull()
  })

  it('means the end as the profile says, which takes the place of the default', () => {
    const ends = { ...CURSOR, end: ['end', -1] }
    for (const cursor of ['end', '-1', null]) expect(next(ends, { next: cursor }).position).toBeNull()
    expect(next(ends, { next: 0 }).position).toBe('0')
  })

  it('that means the end contradicts an answer that says that more follow', () => {
    expect(() => next({ ...CURSOR, has_more: 'more' }, { next: 0, more: true })).toThrow('but not where')
  })
})

describe('what names the next page', () => {
  const NEXT_URL = { kind: 'next_url', next: 'links.next' } as const
  it('may be a link of JSON:API, with the address inside', () => {
    const body = { links: { next: { href: '/crm/v2/leads?p=2', meta: { count: 10 } } } }
    expect(next(NEXT_URL, body).asked).toBe('https://crm.example/crm/v2/leads?p=2')
  })

  it.each([
    { id: { S: 'L1' } },
    ['2026-11-01', 7],
    { href: { url: '/leads?p=2' } },
    [{ href: '/leads?p=2' }],
    true,
  ])('is never the end if it is there and cannot be sent back: %j', (value) => {
    for (const [paging, body] of [
      [{ kind: 'cursor', param: 'after', next: 'next' }, { next: value }],
      [NEXT_URL, { links: { next: value } }],
    ] as const)
      expect(() => next(paging, body)).toThrow(/neither text nor a number/)
  })

  it.each(['#', 'undefined'])('is %s at the end, by a link too', (value) => {
    expect(next(NEXT_URL, { links: { next: value } }).position).toBeNull()
    expect(next({ kind: 'link' }, {}, { link: `<${value}>; rel="next"` }).position).toBeNull()
  })

  it('leads on if has_more is null, and not if it is false', () => {
    const paging = { kind: 'cursor', param: 'after', next: 'next', has_more: 'more' } as const
    expect(next(paging, { next: 'b', more: null }).position).toBe('b')
    expect(next(paging, { next: 'b', more: false }).position).toBeNull()
    expect(next(paging, { next: null, more: null }).position).toBeNull()
  })
})

describe('a total of Content-Range', () => {
  const after = (range: string, rows: number) =>
    next({ kind: 'range' }, {}, { 'content-range': range }, LIST, '4', rows).position
  it.each([
    ['items 4-5/6', 2, '6'],
    ['items 4-5/5', 2, '6'],
    ['items 4-5/0', 2, '6'],
    ['items 4-4/5', 1, null],
    ['items 4-4/3', 1, null],
    ['items 4-4/9', 1, '5'],
    ['items 4-4/*', 1, '5'],
    ['items 4-6/7', 3, null],
    ['items */4', 0, null],
  ])('ends no list behind a full page, since it may be an estimate: %s', (range, rows, position) => {
    expect(after(range, rows)).toBe(position)
  })
})

describe('a page number', () => {
  const COUNTED = { kind: 'page', param: 'page', pages: 'pages' } as const
  const TOTAL = { kind: 'page', param: 'page', total: 'total', stop_at_total: true } as const
  it.each([
    [COUNTED, { pages: 0 }, null, '2'],
    [COUNTED, { pages: 1 }, '2', '3'],
    [COUNTED, { pages: 1 }, null, null],
    [TOTAL, { total: 0 }, null, '2'],
    [{ ...TOTAL, size_param: 'limit' }, { total: 2 }, '2', '3'],
    [{ ...TOTAL, size_param: 'limit' }, { total: 3 }, '2', null],
    [{ ...TOTAL, kind: 'offset', param: 'from' }, { total: 0 }, null, '1'],
    [{ ...TOTAL, kind: 'offset', param: 'from' }, { total: 4 }, '4', '5'],
    [{ ...TOTAL, kind: 'offset', param: 'from' }, { total: 5 }, '4', null],
  ] as const)('goes on if a record lies behind the counted end: %j, %j at %j', (paging, body, from, to) => {
    expect(next(paging, body, {}, LIST, from).position).toBe(to)
  })
})
