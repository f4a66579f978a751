/** Questions to a server beside its tables: whether it accepts writes, and how much it holds. */

import { type Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { MACHINE_CHECKS } from '../../../src/checks/machine.ts'
import { readSize } from '../../../src/store/backup/backup.ts'
import { deleteRows, insertRows } from '../../../src/store/db/rows.ts'
import { openStore } from '../../../src/store/open.ts'
import { withClient } from '../../support/postgres/postgres-server.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { pick, random } from '../../support/random.ts'
import { lead, newStoreUrl, OPENED_AT, openInPostgres, save } from '../../support/store.ts'
import { factsOf } from '../../support/web/installation.ts'

describe.skipIf(!hasPostgres)('a PostgreSQL server', () => {
  it('that lets its user only read is no place to work', async () => {
    const url = await newStoreUrl()
    await (await openStore(url, OPENED_AT)).close()
    const name = decodeURIComponent(new URL(url).pathname.slice(1))
    await withClient(url, (client) =>
      client.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`),
    )
    await using store = await openStore(url, OPENED_AT)
    const [found] = await MACHINE_CHECKS.database_unwritable.find(factsOf(store, OPENED_AT))
    expect(found).toMatchObject({
      message: 'PostgreSQL lets this user only read',
      hint: expect.stringContaining('default_transaction_read_only'),
    })
  })

  it('is asked for the size of one schema, and not of all', async () => {
    const url = await newStoreUrl()
    await using store = await openStore(url, OPENED_AT)
    await using other = await openStore(`${url}?schema=other`, OPENED_AT)
    const [before, ofOther] = await Promise.all([readSize(store), readSize(other)])
    await save(
      store,
      Array.from({ length: 600 }, (_, n) => lead(`l${n}`)),
    )
    const after = await readSize(store)
    expect(after.room).toBeNull()
    expect(after.database).toBeGreaterThan(before.database + 150_000)
    expect(await readSize(other)).toEqual(ofOther)
  })
})

const SEED = 7
const TEXTS = ['', 'a', 'ä€🚀', '{"a":"\\u0000"}', '{NULL,\'"}', '\\x00', 'line\nbreak', ' '.repeat(3000)]
const NUMBERS = [0, -1, 1, 2 ** 31, -(2 ** 53), Number.MAX_SAFE_INTEGER]
const FRACTIONS = [0, -0.5, 1e-300, 1.7976931348623157e308, 0.1, 123456789.125]
const BYTES = [Buffer.alloc(0), Buffer.from([0, 255, 10]), Buffer.alloc(5000, 7)]

it.skipIf(!hasPostgres)(
  `rows in PostgreSQL are stored as they are, with nulls anywhere (seed ${SEED})`,
  async () => {
    await using store = await openInPostgres()
    const db = store.db as unknown as Kysely<Record<string, Record<string, unknown>>>
    await sql`CREATE TABLE each_type (no bigint PRIMARY KEY, t text, n bigint, x double precision, b bytea)`.execute(
      db,
    )
    const next = random(SEED)
    const oneOf = <T>(values: readonly T[]): T | null => (next() < 0.3 ? null : pick(next, values))
    for (let round = 0; round < 8; round++) {
      // Some rounds have a column without any value.
      const [hasT, hasN, hasX, hasB] = [0, 1, 2, 3].map(() => next() < 0.8)
      const rows = Array.from({ length: 1 + Math.floor(next() * 40) }, (_, no) => ({
        no,
        t: hasT ? oneOf(TEXTS) : null,
        n: hasN ? oneOf(NUMBERS) : null,
        x: hasX ? oneOf(FRACTIONS) : null,
        b: hasB ? oneOf(BYTES) : null,
      }))
      await store.write((trx) => insertRows(trx, 'each_type' as never, rows as never))
      const { rows: stored } = await sql<Record<string, unknown>>`
      SELECT no, t, CAST(n AS text) AS n, x, b FROM each_type ORDER BY no`.execute(db)
      expect(stored).toEqual(rows.map((row) => ({ ...row, n: row.n === null ? null : String(row.n) })))
      const gone = rows.filter(() => next() < 0.5)
      await store.write((trx) => deleteRows(trx, 'each_type' as never, gone as never, ['no']))
      const left = await sql<{ no: number }>`DELETE FROM each_type RETURNING no`.execute(db)
      expect(left.rows.map(({ no }) => no).sort((a, b) => a - b)).toEqual(
        rows.filter((row) => !gone.includes(row)).map(({ no }) => no),
      )
    }
  },
)
