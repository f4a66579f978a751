import { describe, expect, it } from 'vitest'
import { parseFaults } from '../../src/service/faults/rules.ts'
import { startService } from '../service/support/service.ts'
import { openSyncing } from '../support/syncing.ts'

const LEADS = { parts: ['leads'] as const, pageSize: 20 }

describe('a sync from a service on a bad day', () => {
  it.each([1, 2, 3])(
    'stores every lead once and as it is, whatever fails in passing, by chance %i',
    async (seed) => {
      const path = '/leads'
      const faults = parseFaults(
        {
          seed,
          faults: [
            { fault: 'status', status: 503, path, probability: 0.1 },
            { fault: 'status', status: 429, headers: { 'Retry-After': '0' }, path, probability: 0.1 },
            { fault: 'reset', path, at_byte: 700, probability: 0.05 },
            { fault: 'cut', path, chunked: true, probability: 0.05 },
            { fault: 'truncate', path, probability: 0.05 },
            { fault: 'duplicate', rows: 3, path, probability: 0.2 },
            { fault: 'delay', ms: 2, path, probability: 0.3 },
          ],
        },
        'test',
      )
      await using service = await startService({ historyDays: 20, faults })
      const backoff = { attempts: 12, baseMs: 0, maxMs: 0 }
      await using syncing = await openSyncing(service.service.url, service.readKey, { source: { backoff } })
      const result = await syncing.sync(LEADS)
      expect(result).toMatchObject({ complete: true, problems: [] })
      expect(result.retries).toBeGreaterThan(0)
      const stored = await syncing.store.db
        .selectFrom('lead')
        .select(['id', 'status'])
        .orderBy('id')
        .execute()
      expect(stored).toEqual(service.rows('SELECT id, status FROM lead ORDER BY id'))
      expect(result.leads).toMatchObject({ seen: stored.length, inserted: stored.length })
    },
  )
})
