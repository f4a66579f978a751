import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { tidyAfterWrites } from '../../src/store/db/dialect.ts'
import { fileOf } from '../../src/store/db/place.ts'
import { openSyncing } from '../support/syncing.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { IS_FULL } from './support/scale.ts'
import { expectSound } from './support/store.ts'

/** The number of leads that each sync rewrites while a reader is at work. */
const LEADS = IS_FULL ? 9_990 : 1_990
const SYNCS = 4
const LOG_MAX_BYTES = 64 * 1024 * 1024
const BLOCKED_MAX_MS = 250

function changeAll(upstream: Upstream, sync: number): void {
  for (let number = 0; number < LEADS; number++) {
    upstream.put(number, { score: sync, updated_at: `2026-11-21T05:0${sync}:00.000Z` })
  }
}

it('a query that lasts over many syncs sees its moment and blocks none of them, and the log shrinks after it', async () => {
  await using upstream = await startUpstream(LEADS)
  await using syncing = await openSyncing(upstream.url)
  const { store } = syncing
  const logBytes = (): number => statSync(`${fileOf(store)}-wal`).size
  await syncing.sync({ parts: ['leads'], pageSize: 500 })
  expect(logBytes()).toBeLessThan(1_000_000)

  const analyst = new Database(fileOf(store), { readonly: true })
  const question = analyst.prepare('SELECT count(*) AS n, sum(score) AS scores FROM lead')
  analyst.exec('BEGIN')
  const seen = question.get()
  for (let sync = 1; sync <= SYNCS; sync++) {
    changeAll(upstream, sync)
    const result = await syncing.sync({ full: true, parts: ['leads'], pageSize: 500 })
    expect(result).toMatchObject({ outcome: 'ok', leads: { updated: LEADS } })
  }
  expect(question.get()).toEqual(seen)
  expect(logBytes()).toBeGreaterThan(1_000_000)
  // The shortest of a few times counts, because the machine may be busy.
  const waits = []
  for (let attempt = 0; attempt < 5; attempt++) {
    const begun = performance.now()
    await tidyAfterWrites(store.db)
    waits.push(performance.now() - begun)
  }
  expect(Math.min(...waits)).toBeLessThan(BLOCKED_MAX_MS)
  analyst.close()

  await syncing.sync({ parts: ['leads'], pageSize: 500 })
  expect(logBytes()).toBeLessThan(LOG_MAX_BYTES / 64)
  await expectSound(fileOf(store))
})
