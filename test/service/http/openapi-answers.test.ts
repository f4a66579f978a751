/** The answers of the service agree with its OpenAPI document. Webhooks have their own file. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PATHS } from '../../../src/contract/api.ts'
import { type Described, readDescription } from '../support/openapi.ts'
import { type Answer, startService, type TestService } from '../support/service.ts'

let api: TestService
let described: Described
beforeAll(async () => {
  api = await startService({ historyDays: 30, webhooksToLoopback: true })
  described = await readDescription(api)
})
afterAll(() => api[Symbol.asyncDispose]())

describe('an answer is as the document says', () => {
  const asReader = () => ({ authorization: `Bearer ${api.readKey}` })
  const asXml = { headers: { 'content-type': 'text/xml' } }

  test.each([
    ...['', '?limit=1000', '?status=won', '?pipeline_id=none', '?sort=-score'].map(
      (query) => [PATHS.leads, query] as const,
    ),
    [PATHS.agents, ''],
    ['/api/v1/pipelines/{id}/stats', ''],
    ['/api/v1/pipelines/{id}/stats', '?from=2026-11-01T00:00:00Z&to=2026-11-08T00:00:00Z'],
  ] as const)('GET %s%s', async (path, query) => {
    const answer = await api.get(path.replace('/api/v1', '').replace('{id}', 'pl_emea') + query)
    expect(answer.status).toBe(200)
    expect(described.deviations(path, 'get', answer)).toEqual([])
  })

  test('GET a lead of each status', async () => {
    const leads = await api.walk('limit=1000')
    const byStatus = Map.groupBy(leads, (lead) => lead.status)
    expect(byStatus.size).toBe(9)
    for (const [lead] of byStatus.values()) {
      const answer = await api.get(`/leads/${lead?.id}`)
      expect(described.deviations('/api/v1/leads/{id}', 'get', answer)).toEqual([])
    }
  })

  test.each([
    [PATHS.pipelines, { name: 'P', criteria: { employees: { min: 1 }, limit: 3 } }],
    [PATHS.webhooks, { url: 'http://127.0.0.1:65535/', events: ['lead.created'] }],
  ])('POST %s', async (path, body) => {
    const validate = described.validator(
      described.operation(path, 'post').requestBody?.content['application/json']?.schema ?? {},
    )
    expect([validate(body), validate.errors]).toEqual([true, null])
    const answer = await api.post(path.replace('/api/v1', ''), body)
    expect(answer.status).toBe(201)
    expect(described.deviations(path, 'post', answer)).toEqual([])
  })

  test.each<readonly [string, string, string, () => Promise<Answer>]>([
    ['400', 'get', PATHS.leads, () => api.get('/leads?limit=0')],
    ['400', 'get', PATHS.leads, () => api.get('/leads?cursor=0')],
    ['401', 'get', PATHS.leads, () => api.get('/leads', { authorization: null })],
    ['404', 'get', '/api/v1/leads/{id}', () => api.get('/leads/none')],
    ['404', 'get', '/api/v1/pipelines/{id}/stats', () => api.get('/pipelines/none/stats')],
    ['400', 'post', PATHS.pipelines, () => api.post('/pipelines', {})],
    ['403', 'post', PATHS.pipelines, () => api.post('/pipelines', {}, asReader())],
    ['413', 'post', PATHS.webhooks, () => api.post('/webhooks', 'x'.repeat(300_000))],
    ['415', 'post', PATHS.webhooks, () => api.post('/webhooks', 'x', asXml)],
  ])('problem %s of %s %s', async (status, method, path, provoke) => {
    const answer = await provoke()
    expect(String(answer.status)).toBe(status)
    expect(described.deviations(path, method, answer)).toEqual([])
  })

  test('problem 429', async () => {
    await using limited = await startService({ historyDays: 1, rateLimitPerMinute: 0 })
    expect(described.deviations(PATHS.agents, 'get', await limited.get('/agents/status'))).toEqual([])
  })

  test('and a deviation would be seen', async () => {
    const answer = await api.get('/leads?limit=1')
    const { data, page } = await api.leads('limit=1')
    const wrong = (json: unknown): readonly unknown[] =>
      described.deviations(PATHS.leads, 'get', { ...answer, json })
    expect(wrong({ data, page })).toEqual([])
    expect(wrong({ data: [{ ...data[0], id: 1 }], page })).toHaveLength(1)
    expect(wrong({ data: [{ ...data[0], updated_at: 'today' }], page })).toHaveLength(1)
    expect(wrong({ data })).toHaveLength(1)
    const headers = { ...answer.headers, 'ratelimit-reset': undefined }
    expect(described.deviations(PATHS.leads, 'get', { ...answer, headers })).toEqual([
      'header RateLimit-Reset is missing',
    ])
  })
})
