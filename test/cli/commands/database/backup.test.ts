import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { startService } from '../../../support/service.ts'

const NOW = '2026-11-21T07:00:00Z'
const SETTINGS = `
data_dir: data
mail: { url: file:./outbox, from: reports@example.com }
recipients: [ana@example.com]
reports: [{ name: daily }]
enrichment: { policy: none }
`

test('what is backed up comes back, the snapshot with it, and no preference is lost; a lost database is no new installation', async () => {
  await using service = await startService(folderWith(), new Date(NOW), 3)
  const env = {
    ...clockStandingAt(NOW),
    LEADSHEET_API_URL: service.url,
    LEADSHEET_API_KEY: await service.createKey({ name: 'test', scope: 'read' }),
  }
  const options = { cwd: folderWith({ 'leadsheet.yaml': SETTINGS }), env }
  const text = await checkTranscript(join(import.meta.dirname, 'golden/backup.txt'), options)
  expect(text).not.toMatch(/-wal|-shm|restoring/)
})
