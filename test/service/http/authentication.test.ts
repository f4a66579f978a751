/** API keys: their rights, their forms, and what is stored of a key. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { problemIn, serviceOfFile } from '../support/service.ts'

const api = await serviceOfFile({ historyDays: 2 })

describe('a request', () => {
  test('without a key is refused with a challenge', async () => {
    const answer = await api.get('/leads', { authorization: null })
    expect(answer.status).toBe(401)
    expect(problemIn(answer)).toMatchObject({
      code: 'unauthorized',
      detail: expect.stringContaining('Bearer <key>'),
    })
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="lead pipeline service"')
  })

  test.each([
    ['another scheme', 'Basic bHNrOng=', 'not of the form', 'error="invalid_request"'],
    ['no key after the scheme', 'Bearer', 'not of the form', 'error="invalid_request"'],
    ['a key of another kind', 'Bearer secret', 'is unknown', 'error="invalid_token"'],
    ['a key that was never given out', `Bearer lsk_${'a'.repeat(32)}`, 'is unknown', 'error="invalid_token"'],
  ])('with %s is refused', async (_, authorization, detail, challenge) => {
    const answer = await api.get('/leads', { authorization })
    expect(answer.status).toBe(401)
    expect(problemIn(answer).detail).toContain(detail)
    expect(answer.headers['www-authenticate']).toContain(challenge)
  })
})

test('the database keeps nothing that a key could be made from', async () => {
  const key = await api.service.createKey({ name: 'secret', scope: 'read' })
  const kept = [api.file, `${api.file}-wal`].map((file) => readFileSync(file, 'latin1')).join('')
  expect(kept).toContain('secret')
  expect(kept).not.toContain(key.slice(4))
})
