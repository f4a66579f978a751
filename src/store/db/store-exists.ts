/** Checks whether a store exists, without creating one. */
import { existsSync } from 'node:fs'
import { sql } from 'kysely'
import type { StorePlace } from './place.ts'
import { openPostgres } from './postgres.ts'

/** @throws LeadsheetError store_unreachable, store_refused */
export async function isStoreThere(place: StorePlace): Promise<boolean> {
  if (place.kind === 'sqlite') return existsSync(place.file)
  const db = openPostgres(place)
  try {
    const { rows } = await sql<{ is_there: number }>`
      SELECT to_regclass('kysely_migration') IS NOT NULL AS is_there`.execute(db)
    return rows[0]?.is_there === 1
  } finally {
    await db.destroy()
  }
}
