/** Upstreams without a readable list, or with a part of it only, and the messages of the probe about them. */
import { expect, test } from 'vitest'
import {
  type ForeignAnswer,
  inHeader,
  PLAIN,
  plainRecord,
  type Shape,
  startForeign,
} from '../support/source/foreign.ts'
import { type ProbeCase, probeForeign, probeShape, tellProbes } from '../support/source/probing.ts'
import { shapeOf } from '../support/source/vendors/vendor.ts'
import { ZOHO } from '../support/source/vendors/zoho.ts'

const KEYED: Shape = { ...PLAIN, path: '/crm/leads', lets: inHeader('authorization', 'Bearer {key}') }

const keyed = (what: string, parts: Partial<Shape>, more: Omit<ProbeCase, 'shape'> = {}) =>
  [what, { shape: { ...KEYED, ...parts }, ...more }] as const
const answering = (what: string, answer: ForeignAnswer) =>
  keyed(what, { first: (_, { pathname }) => (pathname === KEYED.path ? answer : null) })
const auth = (header: string) => ({ header, value: '{key}', headers: {} })

/** Wants an id of the application beside the key. */
const parse: Partial<Shape> = {
  lets: (request, url) =>
    inHeader('x-parse-rest-api-key')(request, url) && request.headers['x-parse-application-id'] === 'app7',
  refusal: { status: 403, body: { error: 'unauthorized' } },
}
const PARSE_AUTH = auth('X-Parse-REST-API-Key')
const inPipeline = (number: number) => ({ ...plainRecord(number), pipeline_id: 'p1' })
const ZOHO_FIELDS = '?fields=Company,Full_Name,Lead_Status,Owner,Tag,Created_Time,Modified_Time'
const GRAPHQL = { errors: [{ message: 'Must provide query string.' }] }

/** Upstreams, by what they refuse or what is odd. */
const CASES: readonly (readonly [string, ProbeCase])[] = [
  keyed('a list whose key is taken', {}),
  ['a list that wants the names of its fields', { shape: shapeOf(ZOHO) }],
  ['the same list with the names of its fields', { shape: shapeOf(ZOHO), query: ZOHO_FIELDS }],
  keyed('a key without the id of the application beside it', parse, { auth: PARSE_AUTH }),
  keyed('a key with the id of the application, as the user says', parse, {
    auth: PARSE_AUTH,
    headers: { 'X-Parse-Application-Id': 'app7' },
  }),
  keyed('a permission that the key lacks', {
    list: () => ({ status: 403, body: { error: 'missing scope crm.leads.read' } }),
  }),
  keyed(
    'another address than the list that refuses the request',
    {
      path: '/api/v1/leads',
      lets: () => false,
      others: { '/leads': { status: 400, body: { error: 'a segment is required' } } },
    },
    { at: '', auth: auth('X-Key') },
  ),
  keyed('a key in one of several headers', { lets: inHeader('x-access-token') }),
  answering('an address that takes no GET', { status: 405, headers: { allow: 'POST, OPTIONS' }, body: '' }),
  answering('an address of GraphQL', { status: 400, body: GRAPHQL }),
  answering('an address of XML', { headers: { 'content-type': 'application/xml' }, body: '<leads/>' }),
  answering('an address of SOAP', { headers: { 'content-type': 'text/xml' }, body: '<soap:Envelope/>' }),
  keyed('a router that answers anything with the list', {
    record: inPipeline,
    first: (_, url, all) => {
      const body = { won: 1, lost: 2, open: 3, ...all[0], data: all.slice(0, 50) }
      return url.pathname === KEYED.path ? null : { body }
    },
  }),
  keyed('statistics that are not understood', {
    record: inPipeline,
    others: { '/crm/leads/api/v1/pipelines/p1/stats': { body: { buckets: { a: 1 } } } },
  }),
  keyed(
    'a single lead that takes no query of the list',
    {
      first: (_, url, all) => {
        const record = all.find(({ id }) => url.pathname === `${KEYED.path}/${id}`)
        if (record === undefined) return null
        if (url.search === '') return { body: record }
        return { status: 400, body: { error: 'invalid parameter: where' } }
      },
    },
    { query: '?where=all' },
  ),
]

test('of an upstream that refuses something is told what it is, and what it is not is not said', async () => {
  await expect(await tellProbes(CASES)).toMatchFileSnapshot('golden/refused.txt')
})

test('a key that is refused in every form at the address given is not shown to others', async () => {
  await using foreign = await startForeign(KEYED)
  const { gaps } = await probeForeign(foreign.url + KEYED.path, 'another-key')
  expect(gaps.map(({ place }) => place)).toEqual(['auth'])
  expect([...new Set(foreign.requests.map((request) => request.split('?')[0]))]).toEqual(['GET /crm/leads'])
})

test('an upstream that dies half-way leaves what was proved, and what was not asked for is a gap', async () => {
  const { input, profile, gaps, text } = await probeShape({
    ...KEYED,
    first: (_, url) => (url.searchParams.has('updated_since') ? 'crash' : null),
  })
  expect(profile?.paging).toMatchObject({ kind: 'offset', param: 'offset', size_max: 100 })
  expect(input?.mapping.lead).toMatchObject({ id: 'id', status: 'status' })
  expect(gaps[0]).toMatchObject({ place: 'filters', problem: expect.stringContaining('ended here') })
  expect(gaps[0]?.remedy).not.toBeNull()
  expect(text).toContain('param: offset')
})
