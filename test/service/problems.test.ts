/** Every failure is a problem of RFC 9457 with a stable code. Each code is provoked here. */
import SQLite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROBLEMS, type ProblemCode, problemSchema } from '../../src/contract/api.ts'
import { type Answer, problemIn, startService, type TestService } from './support/service.ts'

let api: TestService
const logged: { readonly fields: object; readonly message: string }[] = []
beforeAll(async () => {
  const error = (fields: object, message: string): void => void logged.push({ fields, message })
  api = await startService({
    historyDays: 2,
    webhooksToLoopback: true,
    logger: { info: () => undefined, error },
  })
})
afterAll(() => api[Symbol.asyncDispose]())

const JSON_TYPE = { 'content-type': 'application/json' }
const PIPELINE = { name: 'P', criteria: {} }

const CASES: Readonly<Record<Exclude<ProblemCode, 'internal' | 'rate_limited'>, () => Promise<Answer>>> = {
  unauthorized: () => api.get('/leads', { authorization: null }),
  forbidden: () => api.post('/pipelines', PIPELINE, { authorization: `Bearer ${api.readKey}` }),
  not_found: () => api.get('/leads/ld_none'),
  invalid_request: () => api.get('/leads?limit=0'),
  invalid_cursor: () => api.get('/leads?cursor=x'),
  invalid_json: () => api.post('/pipelines', PIPELINE, { body: '{"name":' }),
  body_too_large: () => api.post('/pipelines', { ...PIPELINE, name: 'x'.repeat(256 * 1024) }),
  unsupported_media_type: () =>
    api.post('/pipelines', PIPELINE, { headers: { 'content-type': 'text/plain' } }),
  idempotency_conflict: async () => {
    const headers = { 'idempotency-key': 'conflict' }
    await api.post('/pipelines', PIPELINE, { headers })
    return api.post('/pipelines', { ...PIPELINE, name: 'another' }, { headers })
  },
  too_many_webhooks: async () => {
    const body = { url: 'http://127.0.0.1:65535/', events: ['lead.created'] }
    for (let made = 0; made < 50; made++) await api.post('/webhooks', body)
    return api.post('/webhooks', body)
  },
}

describe('each code', () => {
  test.each(Object.entries(CASES))(
    '%s comes as a problem with its own status and title',
    async (code, provoke) => {
      const answer = await provoke()
      const { status, title } = PROBLEMS[code as ProblemCode]
      expect(answer.status).toBe(status)
      expect(answer.headers['content-type']).toMatch(/^application\/problem\+json\b/)
      expect(problemSchema.parse(answer.json)).toMatchObject({
        type: `urn:leadsheet:problem:${code}`,
        title,
        status,
        code,
        detail: expect.stringMatching(/\.$/),
      })
    },
  )

  test('internal hides the cause from the caller and logs it', async () => {
    const sqlite = new SQLite(api.file)
    sqlite.exec('alter table agent_error rename to lost')
    const answer = await api.get('/agents/status')
    sqlite.exec('alter table lost rename to agent_error')
    sqlite.close()
    expect(answer.status).toBe(500)
    expect(problemIn(answer)).toMatchObject({
      code: 'internal',
      detail: 'The service failed; its log says why.',
    })
    expect(logged).toEqual([
      {
        fields: { err: expect.objectContaining({ message: 'no such table: agent_error' }) },
        message: 'request failed',
      },
    ])
  })
})

describe('a wrong query', () => {
  test.each([
    ['colour=red', 'colour', 'there is no such name here'],
    ['status=open', 'status.0', '"lost"|"disqualified"; got "open"'],
    ['status=won&status=open', 'status.1', 'got "open"'],
    ['limit=1001', 'limit', '<=1000; got 1001'],
    ['limit=', 'limit', 'expected number'],
    ['min_score=high', 'min_score', 'got "high"'],
    ['sort=name', 'sort', '"created_at"|"-created_at"'],
    ['updated_since=yesterday', 'updated_since', 'such as 2026-11-20T08:15:00.000Z; got "yesterday"'],
    ['created_since=2026-02-30T00:00:00Z', 'created_since', 'got "2026-02-30T00:00:00Z"'],
    ['q=', 'q', 'got ""'],
    ['q=%20%20', 'q', 'Too small'],
    ['pipeline_id=a&pipeline_id=b', 'pipeline_id', 'got ["a","b"]'],
  ])('%s is told with what is accepted', async (query, path, message) => {
    const answer = await api.get(`/leads?${query}`)
    expect(problemIn(answer)).toMatchObject({
      code: 'invalid_request',
      errors: [{ path, message: expect.stringContaining(message) }],
    })
  })

  test('is told with all its mistakes at once', async () => {
    const { errors, detail } = problemIn(await api.get('/leads?limit=0&sort=x&foo=1&bar=2'))
    expect(errors?.map((error) => error.path).sort()).toEqual(['bar', 'foo', 'limit', 'sort'])
    expect(detail).toContain('(and 3 more)')
  })

  test.each(['/leads/ld_x?a=1', '/agents/status?a=1'])(
    '%s is refused: the path takes no parameter',
    async (path) => {
      expect(problemIn(await api.get(path))).toMatchObject({
        code: 'invalid_request',
        errors: [{ path: 'a' }],
      })
    },
  )

  test('of statistics must not end before it begins, however the instants are written', async () => {
    const wrong = await api.get(
      '/pipelines/pl_emea/stats?from=2026-11-01T00:00:00.500Z&to=2026-11-01T00:00:00Z',
    )
    expect(problemIn(wrong).errors).toEqual([{ path: 'from', message: expect.stringContaining('before to') }])
    const right = await api.get(
      '/pipelines/pl_emea/stats?from=2026-11-01T00:00:00Z&to=2026-11-01T00:00:00.500Z',
    )
    expect(right.status).toBe(200)
  })
})

describe('a wrong body', () => {
  test.each([
    ['an empty name', { ...PIPELINE, name: ' ' }, 'name', 'Too small'],
    ['no criteria', { name: 'P' }, 'criteria', 'received undefined'],
    [
      'an unknown criterion',
      { name: 'P', criteria: { sector: [] } },
      'criteria.sector',
      'there is no such name here',
    ],
    [
      'a range upside down',
      { name: 'P', criteria: { employees: { min: 9, max: 1 } } },
      'criteria.employees',
      'min is above max',
    ],
    ['a list', [], '', 'expected object'],
    ['null', null, '', 'expected object'],
  ])('with %s is told', async (_, body, path, message) => {
    const answer = await api.post('/pipelines', body)
    expect(problemIn(answer)).toMatchObject({
      code: 'invalid_request',
      errors: [{ path, message: expect.stringContaining(message) }],
    })
  })

  test.each([
    [{ url: 'ftp://a.example', events: ['lead.created'] }, 'url'],
    [{ url: 'https://a.example', events: [] }, 'events'],
    [{ url: 'https://a.example', events: ['lead.sold'] }, 'events.0'],
  ])('of a webhook is told: %j', async (body, path) => {
    expect(problemIn(await api.post('/webhooks', body)).errors?.map((error) => error.path)).toEqual([path])
  })

  test.each(['', ' '])('of nothing but %j is not JSON', async (body) => {
    expect(problemIn(await api.post('/pipelines', undefined, { body })).code).toBe('invalid_json')
  })

  test('that tries to set a prototype is refused', async () => {
    const body = '{"name":"P","criteria":{},"__proto__":{"x":1}}'
    expect(problemIn(await api.post('/pipelines', undefined, { body, headers: JSON_TYPE })).code).toBe(
      'invalid_json',
    )
  })
})

describe('other refusals', () => {
  test('an unknown path is not found, whoever asks', async () => {
    const answer = await api.get('/leeds', { authorization: null })
    expect(problemIn(answer)).toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('/api/v1/leeds'),
    })
  })

  test('HEAD answers as GET does, without the body', async () => {
    const answer = await api.get('/leads', { method: 'HEAD' })
    expect([answer.status, answer.text]).toEqual([200, ''])
  })

  test('an address with broken percent-encoding is an invalid request', async () => {
    expect(problemIn(await api.get('/leads/%zz')).code).toBe('invalid_request')
  })

  test('an id that is longer than any is not found', async () => {
    expect(problemIn(await api.get(`/leads/${'x'.repeat(101)}`)).code).toBe('not_found')
  })

  test('a statistic of an unknown pipeline is not found', async () => {
    expect(problemIn(await api.get('/pipelines/pl_none/stats'))).toMatchObject({
      code: 'not_found',
      detail: 'There is no pipeline "pl_none".',
    })
  })

  test('an Idempotency-Key with blanks is refused', async () => {
    const answer = await api.post('/pipelines', PIPELINE, { headers: { 'idempotency-key': 'a b' } })
    expect(problemIn(answer)).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('Idempotency-Key'),
    })
  })
})
