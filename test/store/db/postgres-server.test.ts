/**
 * Questions to a server beside its tables: whether it accepts writes, how much it holds, and stopping long
 * work.
 */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { checkServer } from '../../../src/checks/machine.ts'
import { readSize } from '../../../src/store/backup/backup.ts'
import { placeOf } from '../../../src/store/db/place.ts'
import { cancellableQuery } from '../../../src/store/db/postgres.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { readLastHeartbeat } from '../../../src/store/schedule/uptime.ts'
import { withClient } from '../../support/postgres/postgres-server.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { lead, migratedDatabase, OPENED_AT, save } from '../../support/store.ts'

const migrated = async () => newDatabase({ template: await migratedDatabase() })

const MINUTE_MS = 60_000

describe.skipIf(!hasPostgres)('a PostgreSQL server', () => {
  it('that lets its user only read is no place to work', async () => {
    const url = await migrated()
    await (await openStore(url, OPENED_AT)).close()
    const name = new URL(url).pathname.slice(1)
    await withClient(url, (client) =>
      client.query(`ALTER DATABASE "${decodeURIComponent(name)}" SET default_transaction_read_only = on`),
    )
    await using store = await openStore(url, OPENED_AT)
    expect(await checkServer(store.db)).toMatchObject({
      what: 'database',
      status: 'fail',
      found: 'PostgreSQL lets this user only read',
      remedy: expect.stringContaining('default_transaction_read_only'),
    })
  })

  it('is asked for the size of one schema, and not of all', async () => {
    const url = await migrated()
    await using store = await openStore(url, OPENED_AT)
    await using other = await openStore(`${url}?schema=other`, OPENED_AT)
    const [before, ofOther] = await Promise.all([readSize(store), readSize(other)])
    const raw = Array.from({ length: 2_000 }, (_, n) => lead(`l${n}`))
    await save(store, raw)
    const after = await readSize(store)
    expect(after.room).toBeNull()
    expect(after.database).toBeGreaterThan(before.database + 500_000)
    expect(await readSize(other)).toEqual(ofOther)
  })

  it('is not made a store of by who asks for the last heartbeat', async () => {
    const url = await newDatabase()
    expect(await readLastHeartbeat(placeOf(url))).toBeUndefined()
    const { rows } = await withClient(url, (client) =>
      client.query("SELECT FROM pg_namespace WHERE nspname = 'leadsheet'"),
    )
    expect(rows).toHaveLength(0)
  })
})

describe.skipIf(!hasPostgres)('reading that takes too long', () => {
  const sleep = (one: Store['db']) => sql`SELECT pg_sleep(60)`.execute(one)
  const countOpen = async (db: Store['db']) => {
    const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '%pg_sleep(60)%' AND state = 'active'
        AND pid <> pg_backend_pid()`.execute(db)
    return rows[0]?.n
  }

  it('is stopped at the server by the signal, whose reason is thrown', async () => {
    await using store = await openStore(await migrated(), OPENED_AT)
    const stop = new AbortController()
    const reading = cancellableQuery(store.db, sleep, { signal: stop.signal, timeoutMs: MINUTE_MS })
    await expect.poll(() => countOpen(store.db)).toBe(1)
    stop.abort(new Error('stopped'))
    await expect(reading).rejects.toThrow('stopped')
    expect(await countOpen(store.db)).toBe(0)
  })

  it('is ended after its time, and the connection is as it was', async () => {
    await using store = await openStore(await migrated(), OPENED_AT)
    const { signal } = new AbortController()
    await expect(cancellableQuery(store.db, sleep, { signal, timeoutMs: 50 })).rejects.toThrow(
      /statement timeout/,
    )
    // The connections of the whole pool, which include the one that was stopped.
    const samples = await Promise.all(
      Array.from({ length: 6 }, () => sql<{ t: string }>`SHOW statement_timeout`.execute(store.db)),
    )
    expect(new Set(samples.map(({ rows }) => JSON.stringify(rows)))).toEqual(
      new Set(['[{"statement_timeout":"0"}]']),
    )
  })
})
