/**
 * Detects that the PostgreSQL server has lost recent commits. A crash loses commits that were not flushed,
 * and a standby that takes over lacks commits that had not reached it. Because PostgreSQL empties an unlogged
 * table in both cases, such a table holds a random text. A process that remembers what it has written has to
 * check it.
 */
import { type Kysely, sql } from 'kysely'
import { LeadsheetError } from '../../errors.ts'
import type { Tables } from '../tables/tables.ts'
import { isPostgres } from './postgres.ts'

/** The table exists in PostgreSQL only, because SQLite has no server. */
export const SERVER_LIFE: readonly string[] = [
  `CREATE UNLOGGED TABLE IF NOT EXISTS server_life (
    one bigint PRIMARY KEY CHECK (one = 1),
    life text COLLATE "C" NOT NULL
  )`,
  "COMMENT ON TABLE server_life IS 'one row, which PostgreSQL forgets with anything else that it forgets'",
  "COMMENT ON COLUMN server_life.one IS 'always 1'",
  "COMMENT ON COLUMN server_life.life IS 'random; another one after each crash of the server'",
]

/**
 * Reads the server's random text. Call it before reading what is remembered, and pass the result to {@link
 * checkLife} before relying on that.
 */
export async function readLife(db: Kysely<Tables>): Promise<string> {
  if (!isPostgres(db)) return ''
  const { rows } = await sql<{ life: string }>`SELECT life FROM server_life`.execute(db)
  if (rows[0] !== undefined) return rows[0].life
  const { rows: begun } = await sql<{ life: string }>`
    INSERT INTO server_life VALUES (1, gen_random_uuid()) ON CONFLICT (one) DO UPDATE SET one = 1
    RETURNING life`.execute(db)
  return begun[0]?.life ?? ''
}

/**
 * Checks that the server has lost nothing since `life` was read.
 * @throws LeadsheetError store_unreachable where recent writes may be lost
 */
export async function checkLife(db: Kysely<Tables>, life: string): Promise<void> {
  if ((await readLife(db)) === life) return
  throw new LeadsheetError(
    'store_unreachable',
    'PostgreSQL has crashed and may have lost what was written last',
    { hint: 'Nothing is to be done: what was lost is read again.' },
  )
}
