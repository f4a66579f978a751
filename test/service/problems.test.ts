/** Every failure is a problem of RFC 9457 with a stable code. Each code is provoked here. */
import SQLite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { PROBLEMS, type ProblemCode, problemSchema } from '../../src/contract/api.ts'
import { type Answer, problemIn, serviceOfFile } from './support/service.ts'

const logged: { readonly fields: object; readonly message: string }[] = []
const error = (fields: object, message: string): void => void logged.push({ fields, message })
const logger = { info: () => undefined, error }
const api = await serviceOfFile({ historyDays: 2, webhooksToLoopback: true, logger })

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

/** Requests that are refused: method, path, and the body of a POST. */
const REFUSED = [
  'GET /leads?colour=red',
  'GET /leads?status=open',
  'GET /leads?status=won&status=open',
  'GET /leads?limit=1001',
  'GET /leads?limit=',
  'GET /leads?min_score=high',
  'GET /leads?updated_since=yesterday',
  'GET /leads?created_since=2026-02-30T00:00:00Z',
  'GET /leads?q=',
  'GET /leads?cursor=abc',
  `GET /leads?cursor=${Buffer.from('{"list":"x","value":"1","id":2}').toString('base64url')}`,
  'GET /leads?q=%20%20',
  'GET /leads?pipeline_id=a&pipeline_id=b',
  'GET /leads?limit=0&sort=x&foo=1&bar=2',
  'GET /leads/ld_x?a=1',
  'GET /agents/status?a=1',
  'GET /leads/%zz',
  `GET /leads/${'x'.repeat(101)}`,
  'GET /pipelines/pl_none/stats',
  'GET /pipelines/pl_emea/stats?from=2026-11-01T00:00:00.500Z&to=2026-11-01T00:00:00Z',
  'POST /pipelines {"name":" ","criteria":{}}',
  'POST /pipelines {"name":"P"}',
  'POST /pipelines {"name":"P","criteria":{"sector":[]}}',
  'POST /pipelines {"name":"P","criteria":{"employees":{"min":9,"max":1}}}',
  'POST /pipelines {"name":"P","criteria":{},"__proto__":{"x":1}}',
  'POST /pipelines []',
  'POST /pipelines null',
  'POST /pipelines ',
  'POST /webhooks {"url":"ftp://a.example","events":["lead.created"]}',
  'POST /webhooks {"url":"https://a.example","events":[]}',
  'POST /webhooks {"url":"https://a.example","events":["lead.sold"]}',
]

test('what is wrong with a request is told with what is accepted', async () => {
  const told: string[] = []
  for (const request of REFUSED) {
    const [method, path = '', ...body] = request.split(' ')
    const answer =
      method === 'GET' ? await api.get(path) : await api.post(path, undefined, { body: body.join(' ') })
    const { code, detail, errors = [] } = problemIn(answer)
    const mistakes = errors.map(({ path, message }) => `    ${path}: ${message}`)
    told.push([request, `  ${answer.status} ${code}: ${detail}`, ...mistakes].join('\n'))
  }
  await expect(`${told.join('\n\n')}\n`).toMatchFileSnapshot('golden/problems.txt')
})

test('statistics may be asked for of half a second, however the instants are written', async () => {
  const query = 'from=2026-11-01T00:00:00Z&to=2026-11-01T00:00:00.500Z'
  expect((await api.get(`/pipelines/pl_emea/stats?${query}`)).status).toBe(200)
})

test('other refusals an unknown path is not found, whoever asks', async () => {
  const answer = await api.get('/leeds', { authorization: null })
  expect(problemIn(answer)).toMatchObject({
    code: 'not_found',
    detail: expect.stringContaining('/api/v1/leeds'),
  })
})
