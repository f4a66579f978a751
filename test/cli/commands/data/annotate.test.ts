/** `npx leadsheet annotate` and its rows in the snapshot. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { folderWithDatabase } from '../../../support/store.ts'
import { startUpstream } from '../../../support/upstream.ts'

it('writes, lists and removes annotations', async () => {
  const cwd = await folderWithDatabase({ 'leadsheet.yaml': '' })
  const options = { cwd, env: clockStandingAt('2026-11-21T12:00:00Z') }
  await checkTranscript(join(import.meta.dirname, 'golden/annotate.txt'), options)
})

it('shows the annotations of a pipeline to analysts', async () => {
  await using upstream = await startUpstream(5)
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key' }
  const options = { cwd: folderWith({ 'data/.keep': '', 'leadsheet.yaml': '' }), env }
  await runWarm(['sync'], options)
  const pipeline = [...upstream.leads.values()][0]?.pipeline_id ?? ''
  await runWarm(['annotate', '2026-11-13', 'campaign', '--pipeline', pipeline], options)
  await runWarm(['snapshot'], options)
  const { stdout } = await runWarm(['query', 'SELECT * FROM annotation', '--json'], options)
  expect(JSON.parse(stdout).data).toMatchObject([
    {
      first_day: '2026-11-13',
      last_day: '2026-11-13',
      text: 'campaign',
      pipeline_id: pipeline,
      is_left_out: 1,
    },
  ])
})
