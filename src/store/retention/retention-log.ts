/** How far back each table is whole: what has been pruned of it, by which rule and up to when. */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Trx } from '../db/store.ts'
import type { PrunedTable } from '../tables/retention-tables.ts'

/** To be called in the transaction that deletes the rows, so that none is missing without a word. */
export async function addPruned(trx: Trx, gone: Omit<PrunedTable, 'pruned_at'>, at: Instant): Promise<void> {
  if (gone.rows === 0) return
  await trx
    .insertInto('pruned')
    .values({ ...gone, pruned_at: at })
    .onConflict((conflict) =>
      conflict.columns(['table_name', 'rule']).doUpdateSet({
        // Settings that keep more bring nothing back.
        before: sql<string>`max(pruned.before, excluded.before)`,
        pruned_at: at,
        rows: sql<number>`pruned.rows + excluded.rows`,
      }),
    )
    .execute()
}
