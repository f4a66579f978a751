/** The rate limit: so many requests a minute for each key, stated in every answer. */
import { expect, test } from 'vitest'
import { problemIn, serviceOfFile } from '../support/service.ts'

const AGENTS = '/agents/status'
const api = await serviceOfFile({ historyDays: 1, rateLimitPerMinute: 3 })

test('each answer says what is left of it, one request too many of a key is refused, with the seconds to wait, and none of another', async () => {
  const answers = [await api.get(AGENTS), await api.get('/leads?limit=0'), await api.get('/leads/ld_none')]
  expect(answers.map((answer) => answer.status)).toEqual([200, 400, 404])
  expect(answers.map((answer) => answer.headers['ratelimit-remaining'])).toEqual(['2', '1', '0'])
  expect(answers[0]?.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-reset': '60' })
  api.clock.at += 12_400
  const refused = await api.get(AGENTS)
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '48', 'ratelimit-reset': '48', 'ratelimit-remaining': '0' },
  })
  expect(problemIn(refused)).toMatchObject({
    code: 'rate_limited',
    detail: expect.stringContaining('3 requests a minute'),
  })
  expect((await api.get(AGENTS, { authorization: `Bearer ${api.writeKey}` })).status).toBe(200)
  api.clock.at += 48_000
  expect((await api.get(AGENTS)).status).toBe(200)
})
