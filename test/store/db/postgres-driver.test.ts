/**
 * Queries that a transaction sends together with its next one: they run in their order, and a failure of one of
 * them takes the whole transaction back.
 */
import { CompiledQuery, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { later } from '../../../src/store/db/postgres-driver.ts'
import { insertRows } from '../../../src/store/db/rows.ts'
import type { Store, Trx } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { migratedDatabase, OPENED_AT } from '../../support/store.ts'

const openShared = async () => openStore(await newDatabase({ template: await migratedDatabase() }), OPENED_AT)
const FAILING = later(CompiledQuery.raw('SELECT 1 / 0'))

const addPage = (trx: Trx, page: number, seen = '[]') =>
  insertRows(trx, 'sync_scan_page', [{ page, pass: 1, seen }])

const pagesIn = async ({ db }: Pick<Store, 'db'>) =>
  (await db.selectFrom('sync_scan_page').select('page').orderBy('page').execute()).map(({ page }) => page)

describe.skipIf(!hasPostgres)('a query that is sent with the next one', () => {
  it('is seen by the next one, whether it is small or large', async () => {
    await using store = await openShared()
    const seen = 'x'.repeat(100_000)
    await store.write(async (trx) => {
      await addPage(trx, 1)
      await addPage(trx, 2, seen)
      await addPage(trx, 3, seen)
      expect(await pagesIn({ db: trx })).toEqual([1, 2, 3])
      await addPage(trx, 4)
    })
    expect(await pagesIn(store)).toEqual([1, 2, 3, 4])
  })

  it('fails the next one, and the transaction with it', async () => {
    await using store = await openShared()
    const failed = store.write(async (trx) => {
      await addPage(trx, 1)
      await trx.executeQuery(FAILING)
      await pagesIn({ db: trx })
    })
    await expect(failed).rejects.toThrow('division by zero')
    await store.write((trx) => addPage(trx, 2))
    expect(await pagesIn(store)).toEqual([2])
  })

  it('fails the commit if it is the last', async () => {
    await using store = await openShared()
    const failed = store.write(async (trx) => {
      await addPage(trx, 1)
      await trx.executeQuery(FAILING)
    })
    await expect(failed).rejects.toThrow('division by zero')
    await store.write((trx) => addPage(trx, 2))
    expect(await pagesIn(store)).toEqual([2])
  })

  it('takes the transaction back, also where the failure of the next one is caught', async () => {
    await using store = await openShared()
    const failed = store.write(async (trx) => {
      await addPage(trx, 1)
      await trx.executeQuery(FAILING)
      await pagesIn({ db: trx }).catch(() => [])
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect(await pagesIn(store)).toEqual([])
  })

  it('may be checked, and nothing is committed before its check', async () => {
    await using store = await openShared()
    const check = ({ rows }: { rows: readonly unknown[] }) => {
      throw new Error(`found ${JSON.stringify(rows)}`)
    }
    const refused = store.write(async (trx) => {
      await addPage(trx, 1)
      await trx.executeQuery(later(CompiledQuery.raw('SELECT 1 AS n'), check))
    })
    await expect(refused).rejects.toThrow('found [{"n":1}]')
    expect(await pagesIn(store)).toEqual([])
  })

  it('is sent at once outside a transaction', async () => {
    await using store = await openShared()
    await expect(store.db.executeQuery(FAILING)).rejects.toThrow('division by zero')
  })

  it('is not kept where the connection ends before it is sent', async () => {
    await using store = await openShared()
    const broken = store.write(async (trx) => {
      const { rows: own } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(trx)
      await addPage(trx, 1)
      await sql`SELECT pg_terminate_backend(${own[0]?.pid})`.execute(store.db)
    })
    await expect(broken).rejects.toMatchObject({ code: 'store_unreachable' })
    await store.write((trx) => addPage(trx, 2))
    expect(await pagesIn(store)).toEqual([2])
  })
})
