/** Creating pipelines: once, however often the request is sent. Agents then work on them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pipelineSchema } from '../../src/contract/pipeline.ts'
import { type Answer, DAY_MS, HOUR_MS, NOW, startService, type TestService } from './support/service.ts'

let api: TestService
beforeEach(async () => {
  api = await startService({ historyDays: 1 })
})
afterEach(() => api[Symbol.asyncDispose]())

const NORDIC = {
  name: ' Nordic ',
  criteria: { countries: ['Sweden', 'Denmark'], employees: { min: 2, max: 300 } },
}

async function created(body: unknown, headers: Record<string, string> = {}): Promise<string> {
  const answer = await api.post('/pipelines', body, { headers })
  expect(answer.status).toBe(201)
  return pipelineSchema.parse(answer.json).id
}

describe('a new pipeline', () => {
  test('is answered whole, with its criteria filled up', async () => {
    const answer = await api.post('/pipelines', NORDIC)
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^pl_[0-9a-f]{16}$/),
      name: 'Nordic',
      criteria: { industries: [], regions: [], keywords: [], ...NORDIC.criteria },
      status: 'active',
      created_at: new Date(NOW).toISOString(),
      updated_at: new Date(NOW).toISOString(),
    })
  })

  test('has its first leads within the hour, all within its criteria', async () => {
    const id = await created(NORDIC)
    await api.pass(HOUR_MS)
    const { data } = await api.leads(`pipeline_id=${id}`)
    expect(data.length).toBeGreaterThan(2)
    for (const { company } of data) {
      expect(['Sweden', 'Denmark']).toContain(company.country)
      expect(company.employees).toBeGreaterThanOrEqual(2)
      expect(company.employees).toBeLessThanOrEqual(300)
    }
    expect(data.every((lead) => lead.created_at > new Date(NOW).toISOString())).toBe(true)
  })

  test.each([
    [{ industries: ['fintech'] }, 'industry', /^Fintech$/],
    [{ industries: ['Payments'] }, 'subindustry', /^Payments$/],
    [{ regions: ['oceania'] }, 'region', /^Oceania$/],
    [{ countries: ['UK'] }, 'country', /^United Kingdom$/],
  ] as const)('with the criteria %j finds such companies', async (criteria, field, pattern) => {
    const id = await created({ name: 'P', criteria })
    await api.pass(2 * HOUR_MS)
    const { data } = await api.leads(`pipeline_id=${id}`)
    expect(data.length).toBeGreaterThan(0)
    for (const lead of data) expect(lead.company[field]).toMatch(pattern)
  })

  test('is completed when its limit is reached, and stays so', async () => {
    const id = await created({ name: 'Five', criteria: { limit: 5 } })
    await api.pass(2 * HOUR_MS)
    expect((await api.leads(`pipeline_id=${id}`)).page.total).toBe(5)
    expect((await api.get(`/pipelines/${id}/stats`)).json).toMatchObject({ status: 'completed' })
    await api.pass(3 * DAY_MS)
    expect((await api.leads(`pipeline_id=${id}`)).page.total).toBe(5)
    const events = api.rows<{ type: string; data: string }>(
      `select type, data from event where pipeline_id = '${id}' and lead_id is null`,
    )
    expect(events.map((event) => [event.type, JSON.parse(event.data).status])).toEqual([
      ['pipeline.created', 'active'],
      ['pipeline.updated', 'completed'],
    ])
  })
})

describe('an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'order-1' }
  const count = (): number => api.rows<{ n: number }>('select count(*) as n from pipeline')[0]?.n ?? 0

  test('makes one pipeline of ten requests at the same time, and of one that is sent again later', async () => {
    const before = count()
    const sent = Array.from({ length: 10 }, () => api.post('/pipelines', NORDIC, { headers }))
    const answers = await Promise.all<Answer>(sent)
    expect(answers.filter((answer) => answer.headers['idempotency-replayed'] === undefined)).toHaveLength(1)
    const again = await api.post('/pipelines', NORDIC, { headers })
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
    expect(new Set([...answers, again].map((answer) => answer.text)).size).toBe(1)
    expect(count()).toBe(before + 1)
  })

  test('is forgotten after 24 hours', async () => {
    const first = await created(NORDIC, headers)
    api.clock.at += DAY_MS - 1
    expect(await created(NORDIC, headers)).toBe(first)
    api.clock.at += 1
    expect(await created(NORDIC, headers)).not.toBe(first)
  })

  test('is one key’s own, and one path’s', async () => {
    const first = await created(NORDIC, headers)
    const other = await api.service.createKey({ name: 'other', scope: 'write' })
    const answer = await api.post('/pipelines', NORDIC, { headers, authorization: `Bearer ${other}` })
    expect(pipelineSchema.parse(answer.json).id).not.toBe(first)
    const webhook = await api.post(
      '/webhooks',
      { url: 'https://a.example', events: ['lead.created'] },
      { headers },
    )
    expect(webhook.status).toBe(201)
  })
})
