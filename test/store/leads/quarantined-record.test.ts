// @both-stores
import { expect, it } from 'vitest'
import { saveQuarantinedRecords } from '../../../src/store/leads/quarantined-record.ts'
import { createSeenLeads } from '../../../src/store/sync/scan-memory.ts'
import { recordMissing } from '../../../src/store/sync/soft-delete.ts'
import { lead, observedAt, openEmptyStore, save } from '../../support/store.ts'

const NOON = '2026-11-21T12:00:00.000Z'
/** A record without an identifier. */
const HELD = { resource: 'lead', id: null, reason: 'created_at: missing', raw: '{}', isWhole: true } as const

it('held rows without an identifier keep a whole scan from speaking of absence', async () => {
  await using store = await openEmptyStore()
  await save(store, [lead('1')])
  await store.write((trx) => saveQuarantinedRecords(trx, [HELD], NOON))
  const deletedIn = async (startedAt: string) => {
    const scan = { ...observedAt(NOON), startedAt }
    return (await store.write((trx) => recordMissing(trx, createSeenLeads(), scan))).deleted
  }
  const [before, after] = ['2026-11-21T11:59:00.000Z', '2026-11-21T12:01:00.000Z']
  const deleted = []
  for (const startedAt of [before, before, before, after, after]) deleted.push(await deletedIn(startedAt))
  expect(deleted).toEqual([0, 0, 0, 0, 1])
})
