/** Shows how a database would execute a statement. */
import { CompiledQuery } from 'kysely'
import type { Store } from '../../../src/store/db/store.ts'
import { IN_POSTGRES } from '../store.ts'

/** Returns the plan. In PostgreSQL, it excludes the plans that are only used while a table is small. */
export async function explainPlan(store: Store, statement: string): Promise<string> {
  if (!IN_POSTGRES) {
    const { rows } = await store.db.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`EXPLAIN QUERY PLAN ${statement}`),
    )
    return rows.map(({ detail }) => detail).join('\n')
  }
  return store.write(async (trx) => {
    for (const way of ['seqscan', 'bitmapscan', 'sort'])
      await trx.executeQuery(CompiledQuery.raw(`SET LOCAL enable_${way} = off`))
    const { rows } = await trx.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`EXPLAIN (COSTS off) ${statement}`),
    )
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
}
