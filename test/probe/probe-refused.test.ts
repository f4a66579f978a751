/** Upstreams without a readable list, or with a part of it only, and the messages of the probe about them. */
import { describe, expect, test } from 'vitest'
import {
  inHeader,
  KEY,
  PLAIN,
  pageIn,
  plainRecord,
  type Shape,
  startForeign,
} from '../support/source/foreign.ts'
import { probeForeign, probeShape, problemsOf, recordsOf, syncBy } from '../support/source/probing.ts'

const KEYED: Shape = { ...PLAIN, path: '/crm/leads', lets: inHeader('authorization', 'Bearer {key}') }

/** Zoho: one error for a wrong key, and another if the fields are not named. */
const ZOHO: Shape = {
  ...KEYED,
  path: '/crm/v8/Leads',
  lets: inHeader('authorization', 'Zoho-oauthtoken {key}'),
  refusal: { status: 401, body: { code: 'INVALID_TOKEN', message: 'invalid oauth token', status: 'error' } },
  list: (all, url) => {
    const message = 'One of the expected parameter is missing'
    const isNamed = url.searchParams.has('fields')
    if (!isNamed) return { status: 400, body: { code: 'REQUIRED_PARAM_MISSING', message, status: 'error' } }
    const { page, size, items: data, isLast } = pageIn(all, url, 'page', ['per_page', 200, 200])
    const info = { per_page: size, count: data.length, page, more_records: !isLast }
    return data.length === 0 ? { status: 204, body: '' } : { body: { data, info } }
  },
}

describe('a key', () => {
  test('is taken where only a parameter is missing, which is quoted', async () => {
    await using foreign = await startForeign(ZOHO)
    const probed = await probeForeign(foreign.url + ZOHO.path)
    expect(probed.findings).toMatchObject([
      { place: 'auth', value: 'Authorization: Zoho-oauthtoken {key}', confidence: 'proved' },
    ])
    expect(problemsOf(probed)).toMatch(
      /Leads -> 400: One of the expected parameter is missing; the key is taken/,
    )
    const { text } = await probeForeign(`${foreign.url}${ZOHO.path}?fields=id,company`)
    expect(await syncBy(text, `${foreign.url}${ZOHO.path}?fields=id,company`)).toEqual(recordsOf(foreign))
  })

  test('that is refused in every form at the address given is not shown to others', async () => {
    await using foreign = await startForeign(KEYED)
    const { gaps } = await probeForeign(foreign.url + KEYED.path, 'another-key')
    expect(gaps.map(({ place }) => place)).toEqual(['auth'])
    expect([...new Set(foreign.requests.map((request) => request.split('?')[0]))]).toEqual(['GET /crm/leads'])
  })

  test('and an id of the application go along as the user says, and are written down so', async () => {
    const key = inHeader('x-parse-rest-api-key')
    await using foreign = await startForeign({
      ...KEYED,
      lets: (request, url) => key(request, url) && request.headers['x-parse-application-id'] === 'app7',
      refusal: { status: 403, body: { error: 'unauthorized' } },
    })
    const url = foreign.url + KEYED.path
    const auth = { header: 'X-Parse-REST-API-Key', value: '{key}', headers: {} }
    const { text, input } = await probeForeign(url, KEY, null, {
      auth,
      headers: { 'X-Parse-Application-Id': 'app7' },
    })
    expect(input?.auth).toEqual({
      header: 'X-Parse-REST-API-Key',
      value: '{key}',
      headers: { 'X-Parse-Application-Id': 'app7' },
    })
    expect(await syncBy(text, url)).toEqual(recordsOf(foreign))
    const refused = await probeForeign(url, KEY, null, { auth })
    expect(problemsOf(refused)).toContain('the key goes along, but may not read this')
  })
})

describe('a key that is read', () => {
  test('and lacks a permission is told so, and not to be wrong', async () => {
    await using foreign = await startForeign({
      ...KEYED,
      list: () => ({ status: 403, body: { error: 'missing scope crm.leads.read' } }),
    })
    const probed = await probeForeign(foreign.url + KEYED.path)
    expect(problemsOf(probed)).toContain(
      'auth: GET /crm/leads -> 403: the key goes along, but may not read this: it lacks the permission',
    )
    expect(probed.findings).toMatchObject([{ place: 'auth', value: 'Authorization: Bearer {key}' }])
  })

  test('at the list is not said to be refused because another address refused it', async () => {
    await using foreign = await startForeign({
      ...KEYED,
      path: '/api/v1/leads',
      lets: () => false,
      others: { '/leads': { status: 400, body: { error: 'a segment is required' } } },
    })
    const auth = { header: 'X-Key', value: '{key}', headers: {} }
    const { gaps } = await probeForeign(foreign.url, KEY, null, { auth })
    expect(gaps.map(({ place }) => place)).toEqual(['endpoints.leads'])
  })

  test('in one of several headers is found with few requests', async () => {
    await using foreign = await startForeign({ ...KEYED, lets: inHeader('x-access-token') })
    const { input } = await probeForeign(foreign.url + KEYED.path)
    expect(input?.auth).toEqual({ header: 'X-Access-Token', value: '{key}' })
    expect(foreign.requests.filter((request) => request === 'GET /crm/leads').length).toBeLessThanOrEqual(13)
  })
})

test.each([
  [
    { status: 405, headers: { allow: 'POST, OPTIONS' }, body: '' },
    '-> 405, Allow: POST, OPTIONS: it takes no GET',
  ],
  [
    { status: 400, body: { errors: [{ message: 'Must provide query string.' }] } },
    '-> 400: Must provide query string.: this is GraphQL',
  ],
  [
    { headers: { 'content-type': 'application/xml' }, body: '<leads/>' },
    '-> 200, application/xml, and no JSON',
  ],
  [
    { headers: { 'content-type': 'text/xml' }, body: '<soap:Envelope/>' },
    'text/xml, and no JSON, NDJSON or CSV, which alone are read: <soap:Envelope/>',
  ],
])('an address that answers %j is told as what it is', async (answer, told) => {
  const probed = await probeShape({
    ...KEYED,
    first: (_, { pathname }) => (pathname === KEYED.path ? answer : null),
  })
  expect(problemsOf(probed)).toContain(told)
})

describe('beside the list', () => {
  test('a router that answers anything with it has no agents, statistics or single leads', async () => {
    const { input } = await probeShape({
      ...KEYED,
      record: (number) => ({ ...plainRecord(number), pipeline_id: 'p1' }),
      first: (_, url, all) =>
        url.pathname === KEYED.path
          ? null
          : { body: { won: 1, lost: 2, open: 3, ...all[0], data: all.slice(0, 50) } },
    })
    expect(input?.endpoints).toMatchObject({ agents: 'none', stats: 'none', lead: 'none' })
  })

  test('statistics that are there and not understood are told, and not said to be nowhere', async () => {
    const probed = await probeShape({
      ...KEYED,
      record: (number) => ({ ...plainRecord(number), pipeline_id: 'p1' }),
      others: { '/crm/leads/api/v1/pipelines/p1/stats': { body: { buckets: { a: 1 } } } },
    })
    expect(problemsOf(probed)).toContain(
      'endpoints.stats: GET /crm/leads/api/v1/pipelines/p1/stats -> 200, but',
    )
    expect(probed.text).not.toContain('no statistics at the usual paths')
  })

  test('a single lead that takes no query of the list is asked for without it', async () => {
    await using foreign = await startForeign({
      ...KEYED,
      first: (_, url, all) => {
        const record = all.find(({ id }) => url.pathname === `${KEYED.path}/${id}`)
        if (record === undefined) return null
        return url.search === ''
          ? { body: record }
          : { status: 400, body: { error: 'invalid parameter: where' } }
      },
    })
    const url = `${foreign.url}${KEYED.path}?where=all`
    const { input } = await probeForeign(url)
    expect(input?.endpoints?.lead).toBe(`${foreign.url}${KEYED.path}/{id}`)
  })
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
