/** The script that anyone would write: fetch, parse, one Kysely upsert a lead, a transaction a page. */
import { timeStep, url } from '../step.ts'
import { pagesOf } from './pages.ts'
import { columnsOf, openPlain } from './plain.ts'

const db = await openPlain()

await timeStep('first', copy)
await timeStep('unchanged', copy)

async function copy(): Promise<null> {
  for await (const page of pagesOf(`${url}/v1`)) {
    await db.transaction().execute(async (trx) => {
      for (const lead of page) {
        const row = columnsOf(lead)
        await trx
          .insertInto('lead')
          .values(row)
          .onConflict((on) => on.column('id').doUpdateSet(row))
          .execute()
      }
    })
  }
  return null
}
