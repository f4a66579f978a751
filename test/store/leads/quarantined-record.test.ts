// @both-stores
import { describe, expect, it } from 'vitest'
import type { QuarantinedRecord } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import {
  countQuarantinedRecords,
  releaseQuarantinedRecords,
  saveQuarantinedRecords,
} from '../../../src/store/leads/quarantined-record.ts'
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
  it('have each record once, as it was last', async () => {
    await using store = await openEmptyStore()
    await hold(store, held('1', '{"id":1,"n":1}'), held(null, '{}'))
    await hold(store, held('1', '{"id":1,"n":2}'), held(null, '{}'), held(null, '{"x":1}'))
    const rows = await store.db.selectFrom('quarantined_record').selectAll().orderBy('raw').execute()
    expect(rows.map((row) => row.raw)).toEqual(['{"id":1,"n":2}', '{"x":1}', '{}'])
  })

  it('are let go when the record could be read', async () => {
    await using store = await openEmptyStore()
    await hold(store, held('1', '{"id":1}'), held('2', '{"id":2}'))
    await store.write((trx) => releaseQuarantinedRecords(trx, 'agent', ['1', '2']))
    await store.write((trx) => releaseQuarantinedRecords(trx, 'lead', ['1']))
    expect(await countQuarantinedRecords(store.db)).toBe(1)
  })

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
