/**
 * The first load of all leads into an empty SQLite store. To be fast, the load drops the indexes, and looks up
 * no lead in the store: an index in memory tells whether a lead is new. Its end restores the indexes and counts
 * all leads in `lead_day`. The load ends after the last lead, or when a lead occurs again.
 */
import { sql } from 'kysely'
import { dropIndexes, restoreIndexes } from '../db/dropped-index.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db, Store } from '../db/store.ts'
import { createNumberIndex } from './fingerprints.ts'
import { COUNT_ALL_DAYS } from './lead-day.ts'

export interface FirstLoad extends AsyncDisposable {
  /**
   * Returns whether a page has only leads that the load has not had, and no other record of one of its leads.
   * Remembers the leads. Returns false once the load has ended.
   */
  isAllNew(leadIds: readonly string[], otherIds: readonly string[]): boolean
  /** Restores the indexes once. After an abort it throws, and the next sync restores them. */
  end(signal: AbortSignal): Promise<void>
}

/** Returns null if the store has leads, and for PostgreSQL, where other processes may read meanwhile. */
export async function beginFirstLoad(store: Store): Promise<FirstLoad | null> {
  if (isPostgres(store.db) || (await hasLeads(store.db))) return null
  // Turns off the check of foreign keys, because the check needs the indexes. Rows that refer to each other
  // are written in one transaction.
  await checkForeignKeys(store.db, false)
  const isBegun = await store.write(async (trx) => {
    // An event may have inserted a lead meanwhile.
    if (await hasLeads(trx)) return false
    await dropIndexes(trx, COUNT_ALL_DAYS)
    return true
  })
  if (!isBegun) {
    await checkForeignKeys(store.db, true)
    return null
  }
  const seen = createNumberIndex()
  let count = 0
  let isOpen = true

  function isMet(id: string): boolean {
    const { high, low } = hashText(id)
    return seen.find(high, low) !== null
  }

  return {
    isAllNew(leadIds, otherIds) {
      if (!isOpen) return false
      for (const id of leadIds) {
        const { high, low } = hashText(id)
        if (seen.find(high, low) !== null) return false
        seen.set(++count, high, low)
      }
      return !otherIds.some(isMet)
    },
    async end(signal) {
      if (!isOpen) return
      isOpen = false
      await restoreIndexes(store.db, signal)
      await checkForeignKeys(store.db, true)
    },
    async [Symbol.asyncDispose]() {
      await checkForeignKeys(store.db, true)
    },
  }
}

/** Deleted leads count too. */
export async function hasLeads(db: Db): Promise<boolean> {
  return (await db.selectFrom('lead').select('no').limit(1).executeTakeFirst()) !== undefined
}

/** Turns the check of foreign keys on or off. Has no effect inside a transaction. */
async function checkForeignKeys(db: Db, isOn: boolean): Promise<void> {
  await sql`PRAGMA foreign_keys = ${sql.lit(isOn ? 1 : 0)}`.execute(db)
}

/** Hashes by cyrb53, without its cut to 53 bits. Equal hashes only end the first load early. */
function hashText(text: string): { high: number; low: number } {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 0x9e3779b1)
    low = Math.imul(low ^ code, 0x5f356495)
  }
  const mixedHigh = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  const mixedLow =
    Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(mixedHigh ^ (mixedHigh >>> 13), 0xc2b2ae35)
  return { high: mixedHigh >>> 0, low: mixedLow >>> 0 }
}
