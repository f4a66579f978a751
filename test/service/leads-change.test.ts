/** Reading the list while agents change leads: the guarantees for clients, for each sort order. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HOUR_MS, startService, type TestService } from './support/service.ts'

let api: TestService
beforeEach(async () => {
  api = await startService({ historyDays: 7 })
})
afterEach(() => api[Symbol.asyncDispose]())

/** Returns the ids of leads that existed before the reading and still exist after it. */
async function lasting(walk: () => Promise<void>): Promise<string[]> {
  const ids = (): string[] => api.rows<{ id: string }>('select id from lead').map((row) => row.id)
  const before = ids()
  await walk()
  const after = new Set(ids())
  expect(after.size).toBeGreaterThan(before.length)
  return before.filter((id) => after.has(id))
}

test.each(['id', '-created_at'])('sorted by %s leaves no lead out and gives none twice', async (sort) => {
  const seen: string[] = []
  const stayed = await lasting(async () => {
    for (const lead of await api.walk(`sort=${sort}&limit=20`, () => api.pass(2 * HOUR_MS)))
      seen.push(lead.id)
  })
  expect(stayed.filter((id) => !seen.includes(id))).toEqual([])
  expect(new Set(seen).size).toBe(seen.length)
})

describe('sorted by updated_at', () => {
  test('leaves no lead out, and ends with each as it is then', async () => {
    const seen = new Map<string, string>()
    const stayed = await lasting(async () => {
      const walked = await api.walk('sort=updated_at&limit=20', () => api.pass(HOUR_MS / 2))
      for (const lead of walked) seen.set(lead.id, lead.updated_at)
    })
    expect(stayed.filter((id) => !seen.has(id))).toEqual([])
    for (const lead of await api.walk('limit=1000')) expect(seen.get(lead.id)).toBe(lead.updated_at)
  })

  test('lets a client that asks again from the highest instant it saw miss nothing', async () => {
    const copy = new Map((await api.walk('limit=1000')).map((lead) => [lead.id, lead]))
    for (let round = 0; round < 6; round++) {
      await api.pass(7 * HOUR_MS)
      const watermark = [...copy.values()]
        .map((lead) => lead.updated_at)
        .sort()
        .at(-1)
      for (const lead of await api.walk(`updated_since=${watermark}&limit=50`)) copy.set(lead.id, lead)
    }
    for (const lead of await api.walk('limit=1000')) expect(copy.get(lead.id)).toEqual(lead)
  })
})
