/** An invented next version of the program, and a store as the present version leaves it. */
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open.ts'
import { startRun } from '../../../src/store/sync/sync-run.ts'
import { folderWith } from '../folder.ts'
import { lead, OPENED_AT, save } from '../store.ts'

const ROOT = join(import.meta.dirname, '../../..')

export const PRESENT_SCHEMA = ['001-initial']
export const NEXT_SCHEMA = [...PRESENT_SCHEMA, '002-next']

/** The migration has many small steps, so that a test can kill it between them. */
const NEXT_MIGRATION = `import { sql } from 'kysely'

export async function up(db) {
  for (let n = 0; n < 40; n++) await sql.raw(\`ALTER TABLE lead ADD COLUMN next_\${n} TEXT\`).execute(db)
  await sql\`UPDATE lead SET next_0 = id\`.execute(db)
}
`

/** Copies the project and adds one migration to its schema. Returns the folder of the copied sources. */
export function makeNextVersion(folder = folderWith()): string {
  for (const name of readdirSync(ROOT)) if (name !== 'src') symlinkSync(join(ROOT, name), join(folder, name))
  const sources = join(folder, 'src')
  cpSync(join(ROOT, 'src'), sources, { recursive: true })
  const migrate = join(sources, 'store/schema/migrate.ts')
  const text = readFileSync(migrate, 'utf8')
  const next = text
    .replace(/^import /m, "import * as next from './002-next.ts'\n$&")
    .replace(/'001-initial': .*,$/m, "$& '002-next': next,")
  if (!next.includes("'002-next': next")) throw new Error(`${migrate} has no list of migrations`)
  writeFileSync(migrate, next)
  writeFileSync(join(sources, 'store/schema/002-next.ts'), NEXT_MIGRATION)
  return sources
}

/** Makes a store of the present version with three leads and a run. */
export async function makePresentStore(file: string): Promise<void> {
  await using store = await openStore(file, OPENED_AT)
  const run = { mode: 'full', parts: ['leads'], at: OPENED_AT.toISOString() } as const
  await store.write((trx) => startRun(trx, run))
  await save(store, [lead('l1'), lead('l2'), lead('l3')])
}
