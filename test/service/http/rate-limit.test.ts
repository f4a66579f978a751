/** The rate limit: so many requests a minute for each key, stated in every answer. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { problemIn, startService, type TestService } from '../support/service.ts'

let api: TestService
beforeEach(async () => {
  api = await startService({ historyDays: 1, rateLimitPerMinute: 3 })
})
afterEach(() => api[Symbol.asyncDispose]())

const AGENTS = '/agents/status'

test('every answer says what is left of it, refusals of the request too', async () => {
  const answers = [await api.get(AGENTS), await api.get('/leads?limit=0'), await api.get('/leads/ld_none')]
  expect(answers.map((answer) => answer.status)).toEqual([200, 400, 404])
  expect(answers.map((answer) => answer.headers['ratelimit-remaining'])).toEqual(['2', '1', '0'])
  expect(answers[0]?.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-reset': '60' })
})

test('one request too many is refused, with the seconds to wait', async () => {
  for (let i = 0; i < 3; i++) await api.get(AGENTS)
  api.clock.at += 12_400
  const answer = await api.get(AGENTS)
  expect(answer.status).toBe(429)
  expect(answer.headers).toMatchObject({
    'retry-after': '48',
    'ratelimit-reset': '48',
    'ratelimit-remaining': '0',
  })
  expect(problemIn(answer)).toMatchObject({
    code: 'rate_limited',
    detail: expect.stringContaining('3 requests a minute'),
  })
  api.clock.at += 48_000
  expect((await api.get(AGENTS)).status).toBe(200)
})

test('one key’s requests are not another’s', async () => {
  for (let i = 0; i < 4; i++) await api.get(AGENTS)
  expect((await api.get(AGENTS, { authorization: `Bearer ${api.writeKey}` })).status).toBe(200)
})
