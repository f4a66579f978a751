/** The same script by someone who knows SQLite: write-ahead log, fifty rows a statement, a transaction a page. */
import { timeStep, url } from '../step.ts'
import { pagesOf } from './pages.ts'
import { columnsOf, openPlain } from './plain.ts'

const BATCH_ROWS = 50

const db = await openPlain()

await timeStep('first', () => copy('v1'))
await timeStep('unchanged', () => copy('v1'))

async function copy(state: string): Promise<null> {
  for await (const page of pagesOf(`${url}/${state}`)) {
    await db.transaction().execute(async (trx) => {
      for (let at = 0; at < page.length; at += BATCH_ROWS) {
        const rows = page.slice(at, at + BATCH_ROWS).map(columnsOf)
        await trx
          .insertInto('lead')
          .values(rows)
          .onConflict((on) =>
            on.column('id').doUpdateSet(({ ref }) => {
              const names = Object.keys(rows[0] ?? {}) as (keyof (typeof rows)[number])[]
              return Object.fromEntries(names.map((name) => [name, ref(`excluded.${name}`)]))
            }),
          )
          .execute()
      }
    })
  }
  return null
}
