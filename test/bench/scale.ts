/**
 * Measures PostgreSQL with many leads, for the plan in SCALE.md: `npx node --expose-gc test/bench/scale.ts
 * [leads]`, by default 100,000. One process syncs generated leads into a server of its own, 500 a page. Then
 * it prints the bytes of a lead in each table and index, and the time of the work for which other processes
 * wait.
 */
import { sql } from 'kysely'
import type { Store } from '../../src/store/db/store.ts'
import { loadFingerprints } from '../../src/store/leads/fingerprints.ts'
import { openStore } from '../../src/store/open.ts'
import { createSeenLeads } from '../../src/store/sync/scan-memory.ts'
import { recordMissing } from '../../src/store/sync/soft-delete.ts'
import { createDatabase, openPostgresServer, withClient } from '../support/postgres/postgres-server.ts'
import { runContender, startUpstream } from './programs.ts'

const TURNS = 500
/** One of a hundred leads is missing from the list. */
const MISSED = 100
/** Smaller tables are left out. */
const BYTES_MIN = 1

const leads = Number(process.argv[2] ?? 100_000)

await using server = await openPostgresServer(true)
await withClient(server.adminUrl, (admin) => admin.query("ALTER SYSTEM SET shared_buffers = '1GB'"))
await server.stop('fast')
await server.start()
const address = await withClient(server.adminUrl, (admin) => createDatabase(admin))
await syncAll()
await using store = await openStore(address, new Date())
await printSizes(store)
await printTurns(store)
await printFingerprints(store)
await printMissing(store)

async function syncAll(): Promise<void> {
  await using upstream = await startUpstream(leads)
  for await (const { step, ms, peakMb } of runContender('ours.ts', [
    ...[upstream.address, address, String(leads), 'first,unchanged'],
  ]))
    console.log(`${step}\t${(ms / 1000).toFixed(1)} s\t${peakMb.toFixed(0)} MB`)
}

async function printSizes({ db }: Store): Promise<void> {
  await sql`VACUUM ANALYZE`.execute(db)
  const { rows } = await sql<{ name: string; of: string; bytes: number }>`
    SELECT c.relname AS name, coalesce(i.indrelid::regclass::text, '') AS of,
      CASE WHEN c.relkind = 'r' THEN pg_table_size(c.oid) ELSE pg_relation_size(c.oid) END AS bytes
    FROM pg_class AS c LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'i')
    ORDER BY coalesce(i.indrelid::regclass::text, c.relname), i.indexrelid IS NOT NULL, bytes DESC`.execute(
    db,
  )
  const all = rows.reduce((sum, { bytes }) => sum + bytes, 0)
  console.log(`bytes a lead\t${(all / leads).toFixed(0)}`)
  for (const { name, of, bytes } of rows.filter((row) => row.bytes / leads >= BYTES_MIN))
    console.log(`${of === '' ? name : `  index ${name}`}\t${(bytes / leads).toFixed(0)}`)
}

/** Times a transaction that does nothing: one after the other, and four at once. */
async function printTurns(store: Store): Promise<void> {
  for (const name of ['write', 'writeSoon'] as const)
    for (const beside of [1, 4]) {
      const start = performance.now()
      const take = async (): Promise<void> => {
        for (let turn = 0; turn < TURNS / beside; turn++) await store[name]((trx) => sql`SELECT`.execute(trx))
      }
      await Promise.all(Array.from({ length: beside }, take))
      console.log(`${name}, ${beside} at once\t${((performance.now() - start) / TURNS).toFixed(2)} ms each`)
    }
}

async function printFingerprints({ db }: Store): Promise<void> {
  globalThis.gc?.()
  const before = process.memoryUsage()
  const start = performance.now()
  const fingerprints = await loadFingerprints(db)
  const ms = performance.now() - start
  globalThis.gc?.()
  const after = process.memoryUsage()
  const bytes = after.arrayBuffers - before.arrayBuffers
  console.log(`what is known of all leads\t${ms.toFixed(0)} ms\t${(bytes / leads).toFixed(1)} bytes a lead`)
  // The value is used here, because it could otherwise be freed before it is measured.
  if (fingerprints === undefined) throw new Error('no fingerprints')
}

/** Prints how long it takes to judge which leads a scan missed. The changes are rolled back. */
async function printMissing(store: Store): Promise<void> {
  const seenLeads = createSeenLeads()
  for (let no = 1; no <= leads; no++) if (no % MISSED !== 0) seenLeads.note(no, 1)
  const at = new Date().toISOString()
  const back = new Error('taken back')
  const start = performance.now()
  await store
    .write(async (trx) => {
      const { id } = await trx.selectFrom('sync_run').select('id').executeTakeFirstOrThrow()
      await recordMissing(trx, seenLeads, { runId: id, at, startedAt: at })
      console.log(`1 % missing, judged\t${(performance.now() - start).toFixed(0)} ms`)
      throw back
    })
    .catch((thrown: unknown) => {
      if (thrown !== back) throw thrown
    })
}
