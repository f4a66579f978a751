/**
 * Whether the server of the store has forgotten anything since it was asked last. A crash takes away what was committed
 * and not yet on its disk, a standby that takes over what had not come to it, and both are back before anybody notices:
 * whoever remembers what it has written has to know. PostgreSQL empties an unlogged table at each of these.
 */
import { type Kysely, sql } from 'kysely'
import { LeadsheetError } from '../../errors.ts'
import type { Tables } from '../tables/tables.ts'
import { isPostgres } from './postgres.ts'

/** In PostgreSQL alone: a file has no server that could end without those who write it. */
export const SERVER_LIFE: readonly string[] = [
  `CREATE UNLOGGED TABLE IF NOT EXISTS server_life (
    one bigint PRIMARY KEY CHECK (one = 1),
    life text COLLATE "C" NOT NULL
  )`,
  "COMMENT ON TABLE server_life IS 'one row, which PostgreSQL forgets with anything else that it forgets'",
  "COMMENT ON COLUMN server_life.one IS 'always 1'",
  "COMMENT ON COLUMN server_life.life IS 'random; another one after each crash of the server'",
]

/** To be read before what is remembered is read, and given to {@link checkLife} wherever that is relied on. */
export async function readLife(db: Kysely<Tables>): Promise<string> {
  if (!isPostgres(db)) return ''
  const { rows } = await sql<{ life: string }>`SELECT life FROM server_life`.execute(db)
  if (rows[0] !== undefined) return rows[0].life
  const { rows: begun } = await sql<{ life: string }>`
    INSERT INTO server_life VALUES (1, gen_random_uuid()) ON CONFLICT (one) DO UPDATE SET one = 1
    RETURNING life`.execute(db)
  return begun[0]?.life ?? ''
}

/** @throws LeadsheetError store_unreachable where what was written since is perhaps not there any more */
export async function checkLife(db: Kysely<Tables>, life: string): Promise<void> {
  if ((await readLife(db)) === life) return
  throw new LeadsheetError(
    'store_unreachable',
    'PostgreSQL has crashed and may have lost what was written last',
    { hint: 'Nothing is to be done: what was lost is read again.' },
  )
}
