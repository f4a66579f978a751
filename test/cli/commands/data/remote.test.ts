/** The commands that call the upstream directly, run by the real program against the reference service. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startService } from '../../../support/service.ts'

test('leads are listed by every filter of the service, page by page, and shown; pipelines are created, and have statistics', async () => {
  await using service = await startService(folderWith(), new Date('2026-11-20T09:00:00Z'), 20)
  const key = await service.createKey({ name: 'test', scope: 'write' })
  const cwd = folderWith({ 'leadsheet.yaml': 'api: { page_size: 100 }\n' })
  const options = { cwd, env: { LEADSHEET_API_URL: service.url, LEADSHEET_API_KEY: key } }
  const list = async (line: string) => {
    const { stdout } = await runWarm(`leads list --remote --json ${line}`.split(' '), options)
    return JSON.parse(stdout)
  }
  const { data: leads } = await list('--status contacted --limit 1')
  await checkTranscript(join(import.meta.dirname, 'golden/remote.txt'), options, { LEAD: leads[0].id })

  const whole = await list('--all')
  expect(whole.meta.page).toEqual({ next_cursor: null, has_more: false, total: whole.data.length })
  const first = await list('--limit 2')
  const rest = await list(`--all --cursor ${first.meta.page.next_cursor}`)
  expect([...first.data, ...rest.data]).toEqual(whole.data)
})
