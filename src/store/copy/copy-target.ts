/**
 * The database that a store is moved to. Its one row in `installation` says from the first moment to the last that it
 * is not whole, so that nothing opens it.
 */
import { sql } from 'kysely'
import { LeadsheetError } from '../../errors.ts'
import { nameOf, type StorePlace } from '../db/place.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db, Trx } from '../db/store.ts'
import { type CopiedTable, listCopiedTables } from './copied-tables.ts'

/** `begun`: a move was cut off; `whole`: a move has ended, and perhaps the store is in use since. */
export type TargetState = 'empty' | 'begun' | 'whole'

/** What a daemon that found nothing to do has left, and whoever only looked at it. */
const OF_LOOKING: readonly string[] = ['daemon_span', 'settings_read', 'stage', 'pipeline']

/** @throws LeadsheetError store_taken where another installation has begun to work there */
export async function readTargetState(db: Db, place: StorePlace, sourceId: string): Promise<TargetState> {
  const found = await db.selectFrom('installation').selectAll().executeTakeFirst()
  if (found?.id === sourceId) return found.moving_from === null ? 'whole' : 'begun'
  for (const { name } of await listCopiedTables()) {
    if (OF_LOOKING.includes(name)) continue
    const { rows } = await sql`SELECT 1 AS one FROM ${sql.table(name)} LIMIT 1`.execute(db)
    if (rows.length > 0) throw taken(place, name)
  }
  return 'empty'
}

function taken(place: StorePlace, table: string): LeadsheetError {
  return new LeadsheetError(
    'store_taken',
    `${nameOf(place)} is another installation, with rows in ${table}`,
    {
      hint: 'Move to a place that is empty: another file, database or schema (?schema=NAME); nothing was changed.',
    },
  )
}

/** From here on nothing else can open it. */
export async function markBegun(
  trx: Trx,
  installation: { readonly id: string; readonly created_at: string },
  from: string,
): Promise<void> {
  await trx.deleteFrom('installation').execute()
  await trx
    .insertInto('installation')
    .values({ ...installation, moving_from: from })
    .execute()
}

export async function markWhole(trx: Trx): Promise<void> {
  await trx.updateTable('installation').set({ moving_from: null }).execute()
}

export async function emptyTables(trx: Trx, tables: readonly CopiedTable[]): Promise<void> {
  if (isPostgres(trx)) {
    // With what follows from them, and at once, since they refer to one another.
    await sql`TRUNCATE ${sql.join(tables.map(({ name }) => sql.table(name)))} CASCADE`.execute(trx)
    return
  }
  for (const { name } of tables.toReversed()) await sql`DELETE FROM ${sql.table(name)}`.execute(trx)
}

/** New rows are numbered from behind the greatest number that came; SQLite looks itself. */
export async function continueNumbers(trx: Trx): Promise<void> {
  if (!isPostgres(trx)) return
  const { rows } = await sql<{ table: string; column: string }>`
    SELECT relname AS "table", attname AS "column" FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r' AND attidentity <> ''`.execute(
    trx,
  )
  for (const { table, column } of rows) {
    await sql`SELECT setval(pg_get_serial_sequence(quote_ident(${table}), ${column}),
      coalesce(max(${sql.ref(column)}), 0) + 1, false) FROM ${sql.table(table)}`.execute(trx)
  }
}
