// @both-stores
import { expect, test } from 'vitest'
import { findLastUpdate } from '../../../src/store/sync/watermark.ts'
import { lead, openEmptyStore, save } from '../../support/store.ts'

test('the last update is the latest one that the upstream dates, also below many leads without a time', async () => {
  await using store = await openEmptyStore()
  expect(await findLastUpdate(store.db)).toBe(null)
  const day = (number: number) => `2026-11-0${number}T00:00:00.000Z`
  const changed = (id: string, status: string, updatedAt: string | null) => lead(id, { status, updatedAt })
  await save(store, [changed('l1', 'new', day(3)), changed('l2', 'won', day(2)), changed('l3', 'won', null)])
  expect(await findLastUpdate(store.db)).toBe(day(3))
  const undated = Array.from({ length: 150 }, (_, index) => changed(`u${index}`, 'lost', null))
  await save(store, [...undated, changed('l4', 'lost', day(4))])
  expect(await findLastUpdate(store.db)).toBe(day(4))
  await store.db
    .updateTable('lead')
    .where('id', '=', 'l4')
    .set({ deleted_at: day(5) })
    .execute()
  expect(await findLastUpdate(store.db)).toBe(day(3))
})
