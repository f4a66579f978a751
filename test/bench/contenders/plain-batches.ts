/**
 * The same script by someone who knows SQLite: write-ahead log, fifty rows in a statement, one transaction
 * for each page.
 */
import { timeStep, url } from '../step.ts'
import { pagesOf } from './pages.ts'
import { openPlain, saveBatches } from './plain.ts'

const db = await openPlain()

await timeStep('first', copy)
await timeStep('unchanged', copy)

async function copy(): Promise<void> {
  for await (const page of pagesOf(`${url}/v1`)) await saveBatches(db, page)
}
