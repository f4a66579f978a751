/** What is asked for behind a page: golden/next-pages.txt has the position and the address, or why it is refused. */
import { expect, it } from 'vitest'
import { nextPosition, requestPage } from '../../../src/upstream/paging/paging.ts'
import { type ProfileInput, parseProfile } from '../../../src/upstream/profile/profile.ts'

interface Answered {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly list?: string
  readonly from?: string | null
  readonly rows?: number
}

/** Returns the position behind a page of two records at most, and the URL that is asked for there. */
function next(input: ProfileInput['paging'], answered: Answered): string {
  const {
    body = {},
    headers = {},
    list = 'https://crm.example/crm/v2/leads?limit=2',
    from = null,
    rows = 1,
  } = answered
  const { paging } = parseProfile({ name: 'test', paging: input, mapping: { lead: { id: 'id' } } }, 'test')
  const url = new URL(list)
  const records = Array.from({ length: rows }, (_, at) => ({ value: { id: at + 1 } }))
  try {
    const position = nextPosition(paging, from, { url, body, headers, records }, 2)
    return position === null ? 'the end' : `${position}, ${requestPage(paging, url, {}, position, 2).href}`
  } catch (thrown) {
    return String(thrown)
  }
}

const NEXT_URL = { kind: 'next_url', next: 'next' } as const
const LINK = { kind: 'link' } as const
const CURSOR = { kind: 'cursor', param: 'after', next: 'next' } as const
const MORE = { ...CURSOR, has_more: 'more' } as const
const ENDS = { ...CURSOR, end: ['end', -1] }
const RANGE = { kind: 'range' } as const
const COUNTED = { kind: 'page', param: 'page', pages: 'pages' } as const
const TOTAL = { kind: 'page', param: 'page', total: 'total', stop_at_total: true } as const
const SIZED = { ...TOTAL, size_param: 'limit' } as const
const OFFSET = { ...TOTAL, kind: 'offset', param: 'from' } as const

const LINKS = [
  'http://crm.example/crm/v2/leads?after=2',
  'http://crm.example:80/crm/v2/leads?after=2',
  'https://CRM.example/crm/v2/leads?after=2',
  '/leads?after=2',
  'http://crm.example/v2/leads?after=2',
  '/crm/v2/query/01g-2',
  '/eads?after=2',
  '?after=2',
  'leads?after=2',
  '//crm.example//evil.example/x',
  '?a=x+y&b=%2F%20%7e&c=1/2:3',
  'http://crm.example:8000/crm/v2/leads?p=2',
  'http://backend:8000/crm/v2/leads?p=2',
  'https://api.crm.example/leads',
  'ftp://crm.example/leads',
  'http://[x',
  '#',
  'undefined',
]
const RELATIONS = [
  `<?p=2>; rel="next"`,
  `<?p=2>; rel='next'`,
  `<?p=2>; title="x"; REL = 'last next'`,
  `<?p=1>; rel='prev', <?p=2>; rel=next`,
  `<?p=2>; rel='nextish'`,
  `<?p=2>; title='next'; rel='last'`,
]
/** Values that mean the end, and some that can neither mean it nor be sent back. */
const VALUES = [
  ...[0, '0', -1, '-1', 'null', 'NULL', 'undefined', 'None', 'nil', '#', '', null, false, [], {}],
  ...[{ href: null }, { href: '#' }, { href: '/crm/v2/leads?p=2', meta: { count: 10 } }],
  ...[
    { id: { S: 'L1' } },
    ['2026-11-01', 7],
    { href: { url: '/leads?p=2' } },
    [{ href: '/leads?p=2' }],
    true,
  ],
]
const RANGES: readonly (readonly [string, number])[] = [
  ['items 4-5/6', 2],
  ['items 4-5/5', 2],
  ['items 4-5/0', 2],
  ['items 4-4/5', 1],
  ['items 4-4/3', 1],
  ['items 4-4/9', 1],
  ['items 4-4/*', 1],
  ['items 4-6/7', 3],
  ['items */4', 0],
]

const CASES: readonly (readonly [ProfileInput['paging'], Answered])[] = [
  ...LINKS.map((link) => [NEXT_URL, { body: { next: link } }] as const),
  ...[
    'http://crm.example/leads?p=2',
    'https://crm.example/leads?p=2',
    'http://crm.example:8443/leads?p=2',
  ].map((link) => [NEXT_URL, { body: { next: link }, list: 'https://crm.example:8443/leads' }] as const),
  [NEXT_URL, { body: { next: 'https://127.0.0.1/leads?p=2' }, list: 'http://127.0.0.1:8080/leads' }],
  ...[...LINKS.map((link) => `<${link}>; rel="next"`), ...RELATIONS].map(
    (link) => [LINK, { headers: { link } }] as const,
  ),
  ...[CURSOR, NEXT_URL].flatMap((paging) =>
    VALUES.map((value) => [paging, { body: { next: value } }] as const),
  ),
  [CURSOR, { body: { next: Number.POSITIVE_INFINITY } }],
  [CURSOR, { body: { next: 'end' } }],
  ...['end', -1, '-1', '', null, 0].map((value) => [ENDS, { body: { next: value } }] as const),
  [MORE, { body: { next: 0, more: true } }],
  [MORE, { body: { next: 'b', more: null } }],
  [MORE, { body: { next: 'b', more: false } }],
  [MORE, { body: { next: null, more: null } }],
  ...RANGES.map(
    ([range, rows]) => [RANGE, { headers: { 'content-range': range }, from: '4', rows }] as const,
  ),
  [COUNTED, { body: { pages: 0 } }],
  [COUNTED, { body: { pages: 1 }, from: '2' }],
  [COUNTED, { body: { pages: 1 } }],
  [TOTAL, { body: { total: 0 } }],
  ...[1, 2].map((total) => [SIZED, { body: { total } }] as const),
  ...[2, 3].map((total) => [SIZED, { body: { total }, from: '2' }] as const),
  [OFFSET, { body: { total: 0 } }],
  ...[4, 5].map((total) => [OFFSET, { body: { total }, from: '4' }] as const),
]

it('behind each page is asked for what it names or counts, at the address of the API alone', async () => {
  const told = CASES.map(([paging, answered]) => [
    JSON.stringify(paging),
    `  ${JSON.stringify(answered)}`,
    `  ${next(paging, answered)}`,
  ])
  await expect(`${told.flat().join('\n')}\n`).toMatchFileSnapshot('golden/next-pages.txt')
})
