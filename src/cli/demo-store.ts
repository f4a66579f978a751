/** Where the demo has its store, by its settings; a PostgreSQL is one that is the demo's own, and nobody else's. */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { nameOf } from '../store/db/place.ts'
import type { Store } from '../store/db/store.ts'
import { findLastRun } from '../store/sync/sync-run.ts'

/** In the folder of the demo: the address of its store, for the settings. */
const STORE_FILE = 'store-url'
/** And which installation it has made there. */
const INSTALLATION_FILE = 'installation'

/**
 * The settings that the demo leaves beside what it makes, for trying the commands on.
 * @param folder as people name it
 */
export function settingsOf(folder: string, isInPostgres: boolean): string {
  return `# What the demo has made: ${shellCommand(`report weekly --config ${folder}/leadsheet.yaml`)} and others work on it.
data_dir: .
${isInPostgres ? `store_file: ./${STORE_FILE}\n` : ''}\
time_zone: ${Intl.DateTimeFormat().resolvedOptions().timeZone}
mail: { url: file:./outbox, from: leadsheet <reports@leadsheet.example> }
recipients:
  - you@example.com
  - { address: sie@example.com, locale: de-DE }
reports:
  - name: daily
    schedule: "0 7 * * 1-5"
    attachments: [stalled.xlsx]
  - name: weekly
    schedule: "0 7 * * 1"
`
}

/** So that other commands find it by the settings of the demo. */
export async function writeStoreFile(folder: string, address: string): Promise<void> {
  await writeFile(join(folder, STORE_FILE), `${address}\n`, { mode: 0o600 })
}

/**
 * Real leads would be lost among those of the demo, and taken for gone.
 * @throws LeadsheetError usage_invalid
 */
export async function requireOwnStore(store: Store, folder: string): Promise<void> {
  const file = join(folder, INSTALLATION_FILE)
  const own = existsSync(file) ? (await readFile(file, 'utf8')).trim() : null
  if (own === store.installationId) return
  if ((await findLastRun(store.db)) !== null) {
    throw new LeadsheetError('usage_invalid', `${nameOf(store.place)} is in use, and not by this demo`, {
      hint: 'Name a schema of its own, such as ?schema=leadsheet_demo.',
    })
  }
  await writeFile(file, `${store.installationId}\n`)
}
