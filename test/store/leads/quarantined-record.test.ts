// @both-stores
import { describe, expect, it } from 'vitest'
import type { QuarantinedRecord } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveQuarantinedRecords } from '../../../src/store/leads/quarantined-record.ts'
import { createSeenLeads } from '../../../src/store/sync/scan-memory.ts'
import { recordMissing } from '../../../src/store/sync/soft-delete.ts'
import { lead, observedAt, openEmptyStore, save } from '../../support/store.ts'

const NOON = '2026-11-21T12:00:00.000Z'
const held = (id: string | null, raw: string): QuarantinedRecord => ({
  resource: 'lead',
  id,
  reason: 'created_at: missing',
  raw,
  isWhole: true,
})
const hold = (store: Store, ...rows: QuarantinedRecord[]): Promise<void> =>
  store.write((trx) => saveQuarantinedRecords(trx, rows, NOON))

describe('held rows', () => {
  it('without an identifier keep a whole scan from speaking of absence', async () => {
    await using store = await openEmptyStore()
    await save(store, [lead('1')])
    await hold(store, held(null, '{}'))
    const scan = { ...observedAt(NOON), startedAt: '2026-11-21T11:59:00.000Z' }
    for (let round = 0; round < 3; round++) {
      expect((await store.write((trx) => recordMissing(trx, createSeenLeads(), scan))).deleted).toBe(0)
    }
    const next = { ...observedAt(NOON), startedAt: '2026-11-21T12:01:00.000Z' }
    expect((await store.write((trx) => recordMissing(trx, createSeenLeads(), next))).deleted).toBe(0)
    expect((await store.write((trx) => recordMissing(trx, createSeenLeads(), next))).deleted).toBe(1)
  })
})
