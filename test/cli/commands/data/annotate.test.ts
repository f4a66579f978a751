/** `npx leadsheet annotate` and its rows in the snapshot. */
import { join } from 'node:path'
import { it } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { folderWithDatabase, lead, OPENED_AT, save, saveWholeRun } from '../../../support/store.ts'

it('writes, lists and removes annotations, and shows them to analysts', async () => {
  const cwd = await folderWithDatabase({ 'leadsheet.yaml': '' })
  await using store = await openStore(join(cwd, 'data/leadsheet.db'), OPENED_AT)
  await save(store, [lead('l1', { pipelineId: 'pl_emea' })])
  await saveWholeRun(store, '2026-11-21T06:00:00Z')
  const options = { cwd, env: clockStandingAt('2026-11-21T12:00:00Z') }
  await checkTranscript(join(import.meta.dirname, 'golden/annotate.txt'), options)
})
