/** `leadsheet report`: previewing a report as its recipients see it, and sending it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { it } from 'vitest'
import { syncedForFile } from '../../../support/process/synced-installation.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'

const SETTINGS = `
enrichment: { policy: none }
snapshot: { when: never }
mail: { url: file:./outbox, from: reports@example.com }
recipients:
  - ana@example.com
  - address: dana@example.com
    name: Dana Lopes
    locale: de-DE
    filter: { pipelines: [pl_emea] }
    blocks: [headline, freshness, kpis, trend]
    attachments: [top_leads.csv]
reports:
  - name: daily
`

const NOW = '2026-11-24T12:00:00Z'

const { env, copy } = syncedForFile(SETTINGS, NOW, 16)

/** Changes a row to a state that only a fault can cause. */
function change(cwd: string, sql: string): void {
  const database = new Database(join(cwd, 'data', 'leadsheet.db'))
  database.exec(sql)
  database.close()
}

const GOLDEN = join(import.meta.dirname, 'golden')

it('a report is shown as a recipient gets it, in any language, and sent to each, of an issue for each choice of leads', async () => {
  const options = { cwd: copy(), env }
  await checkTranscript(join(GOLDEN, 'preview.txt'), options)
  await checkTranscript(join(GOLDEN, 'send.txt'), options)
})

it('sends none that the settings would hold, unless it is forced to, and then says why they would', async () => {
  const options = { cwd: copy(), env }
  const holding = SETTINGS.replace('name: daily', 'name: daily\n    on_stale_data: hold')
  writeFileSync(join(options.cwd, 'leadsheet.yaml'), holding)
  change(options.cwd, "UPDATE sync_run SET leads_as_of = '2026-01-01T00:00:00.000Z'")
  await checkTranscript(join(GOLDEN, 'send-refused.txt'), options)
})

it('says of each part that could not be made why, and leaves as done in part', async () => {
  const options = { cwd: copy(), env }
  change(options.cwd, "UPDATE sync_scan_result SET drift = '{', ended_at = '2026-11-23T12:00:00.000Z'")
  await checkTranscript(join(GOLDEN, 'send-in-part.txt'), options)
})
