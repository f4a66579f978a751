/** Rows that are sent to PostgreSQL in one statement come back as they were. */
import { type Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { deleteRows, insertRows } from '../../../src/store/db/rows.ts'
import { openStore } from '../../../src/store/open.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { random } from '../../support/random.ts'
import { OPENED_AT } from '../../support/store.ts'

const SEED = 7
const TEXTS = ['', 'a', 'ä€🚀', '{"a":"\\u0000"}', '{NULL,\'"}', '\\x00', 'line\nbreak', ' '.repeat(3000)]
const NUMBERS = [0, -1, 1, 2 ** 31, -(2 ** 53), Number.MAX_SAFE_INTEGER]
const FRACTIONS = [0, -0.5, 1e-300, 1.7976931348623157e308, 0.1, 123456789.125]
const BYTES = [Buffer.alloc(0), Buffer.from([0, 255, 10]), Buffer.alloc(5000, 7)]

describe.skipIf(!hasPostgres)('rows in PostgreSQL', () => {
  it(`are stored as they are, with nulls anywhere (seed ${SEED})`, async () => {
    await using store = await openStore(await newDatabase(), OPENED_AT)
    const db = store.db as unknown as Kysely<Record<string, Record<string, unknown>>>
    await sql`CREATE TABLE each_type (no bigint PRIMARY KEY, t text, n bigint, x double precision, b bytea)`.execute(
      db,
    )
    const next = random(SEED)
    const oneOf = <T>(values: readonly T[]): T | null =>
      next() < 0.3 ? null : (values[Math.floor(next() * values.length)] ?? null)
    for (let round = 0; round < 20; round++) {
      // Some rounds have a column without any value.
      const has = [next() < 0.8, next() < 0.8, next() < 0.8, next() < 0.8]
      const rows = Array.from({ length: 1 + Math.floor(next() * 40) }, (_, no) => ({
        no,
        t: has[0] ? oneOf(TEXTS) : null,
        n: has[1] ? oneOf(NUMBERS) : null,
        x: has[2] ? oneOf(FRACTIONS) : null,
        b: has[3] ? oneOf(BYTES) : null,
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
  })
})
