/** The server or the network ends a connection. Nothing is half-written, and the store goes on. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Store, Trx } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { addressOf, OPENED_AT, openInPostgres } from '../../support/store.ts'

const UNREACHABLE = expect.objectContaining({ code: 'store_unreachable' })

async function pidOf(db: Store['db']): Promise<number> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)
  return rows[0]?.pid ?? 0
}

const addPage = (trx: Trx, page: number) =>
  trx.insertInto('sync_scan_page').values({ page, pass: 1, seen: '[]' }).execute()

const pagesIn = async (store: Store) =>
  (await store.db.selectFrom('sync_scan_page').select('page').orderBy('page').execute()).map(
    ({ page }) => page,
  )

describe.skipIf(!hasPostgres)('a connection that is ended', () => {
  it('in the midst of a write takes all of it away, says so, and the next write has another', async () => {
    await using store = await openInPostgres()
    await using other = await openStore(addressOf(store), OPENED_AT)
    await store.write((trx) => addPage(trx, 1))
    const broken = store.write(async (trx) => {
      await addPage(trx, 2)
      await sql`SELECT pg_terminate_backend(${await pidOf(trx)})`.execute(other.db)
      await addPage(trx, 3)
    })
    await expect(broken).rejects.toEqual(UNREACHABLE)
    await store.write((trx) => addPage(trx, 4))
    expect(await pagesIn(store)).toEqual([1, 4])
  })

  it('by the server, since a transaction did nothing for too long, gives its turn to others', async () => {
    await using store = await openInPostgres()
    await using other = await openStore(addressOf(store), OPENED_AT)
    const [begun, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const stuck = store.write(async (trx) => {
      await addPage(trx, 1)
      await sql`SET LOCAL idle_in_transaction_session_timeout = '200ms'`.execute(trx)
      begun.resolve()
      await gone.promise
      await addPage(trx, 2)
    })
    const judged = expect(stuck).rejects.toEqual(UNREACHABLE)
    await begun.promise
    await other.write((trx) => addPage(trx, 3))
    gone.resolve()
    await judged
    expect(await pagesIn(store)).toEqual([3])
  })
})

it.skipIf(!hasPostgres)(
  'a server whose commits wait for no disk by themselves has on its disk what is told as done',
  async () => {
    await using store = await openInPostgres()
    const howOf = async (db: Store['db']): Promise<unknown> =>
      (await sql<{ synchronous_commit: string }>`SHOW synchronous_commit`.execute(db)).rows[0]
    expect(await howOf(store.db)).toEqual({ synchronous_commit: 'off' })
    expect(await store.write(howOf)).toEqual({ synchronous_commit: 'on' })
    expect(await store.writeSoon(howOf)).toEqual({ synchronous_commit: 'off' })
  },
)
