// @both-stores
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { statement } from '../../../src/store/db/statement.ts'
import { folderWith } from '../../support/folder.ts'
import { openNewStore } from '../../support/store.ts'

const NOW = new Date('2026-11-21T06:00:00Z')

test('a statement is built once, and runs with the values of each call wherever they stand', async () => {
  await using store = await openNewStore(join(folderWith(), 'leadsheet.db'), NOW)
  let builds = 0
  const renamePipeline = statement((db, { id, name }: { name: string; id: string }) => {
    builds++
    return db
      .updateTable('pipeline')
      .set({ name, status: 'paused' })
      .where('id', '=', id)
      .returning('name')
      .compile()
  })
  const at = NOW.toISOString()
  const row = { name: 'old', status: null, first_seen_at: at, observed_at: at }
  await store.write(async (trx) => {
    for (const id of ['p1', 'p2', 'p3'])
      await trx
        .insertInto('pipeline')
        .values({ id, ...row })
        .execute()
    expect((await renamePipeline(trx, { name: 'one', id: 'p1' })).rows).toEqual([{ name: 'one' }])
    expect((await renamePipeline(trx, { id: 'p2', name: 'two' })).rows).toEqual([{ name: 'two' }])
  })
  const stored = await store.db
    .selectFrom('pipeline')
    .select(['id', 'name', 'status'])
    .orderBy('id')
    .execute()
  expect(stored).toEqual([
    { id: 'p1', name: 'one', status: 'paused' },
    { id: 'p2', name: 'two', status: 'paused' },
    { id: 'p3', name: 'old', status: null },
  ])
  expect(builds).toBe(1)
})
