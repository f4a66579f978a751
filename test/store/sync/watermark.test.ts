// @both-stores
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { saveLeads } from '../../../src/store/leads/lead.ts'
import { findLastUpdate } from '../../../src/store/sync/watermark.ts'
import { isQuarantined, mapLead } from '../../../src/upstream/mapping/lead-mapping.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { folderWith } from '../../support/folder.ts'
import { openNewStore } from '../../support/store.ts'

const NOW = new Date('2026-11-21T06:00:00Z')

async function save(store: Store, records: readonly object[]): Promise<void> {
  const leads = records.flatMap((record) => {
    const lead = mapLead(record, REFERENCE_PROFILE)
    return isQuarantined(lead) ? [] : [lead]
  })
  expect(leads).toHaveLength(records.length)
  await store.write((trx) => saveLeads(trx, leads, { runId: 'run', at: NOW.toISOString() }))
}

test('the last update is the latest one that the upstream dates, also below many leads without a time', async () => {
  await using store = await openNewStore(join(folderWith(), 'leadsheet.db'), NOW)
  expect(await findLastUpdate(store.db)).toBe(null)
  const lead = (id: string, status: string, updated_at: string | null) => ({
    id,
    pipeline_id: 'p1',
    status,
    company: { name: id },
    created_at: '2026-11-01T00:00:00.000Z',
    updated_at,
    status_changed_at: null,
  })
  await save(store, [
    lead('l1', 'new', '2026-11-03T00:00:00.000Z'),
    lead('l2', 'won', '2026-11-02T00:00:00.000Z'),
    lead('l3', 'won', null),
  ])
  expect(await findLastUpdate(store.db)).toBe('2026-11-03T00:00:00.000Z')
  const undated = Array.from({ length: 150 }, (_, index) => lead(`u${index}`, 'lost', null))
  await save(store, [...undated, lead('l4', 'lost', '2026-11-04T00:00:00.000Z')])
  expect(await findLastUpdate(store.db)).toBe('2026-11-04T00:00:00.000Z')
  await store.db.updateTable('lead').where('id', '=', 'l4').set({ deleted_at: NOW.toISOString() }).execute()
  expect(await findLastUpdate(store.db)).toBe('2026-11-03T00:00:00.000Z')
})
