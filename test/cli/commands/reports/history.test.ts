import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { noteNotSent, saveIssue } from '../../../../src/store/reports/issue.ts'
import { folderWith } from '../../../support/folder.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { busyDay } from '../../../support/reports/figures.ts'

test('show lists what is kept and what became of it', async () => {
  const folder = folderWith()
  const figures = busyDay()
  const variant = JSON.stringify({ pipelineIds: ['eu'], conditions: [] })
  const issue = { report: 'daily', period: figures.period, renderedAt: '2026-11-21T07:00:00.000Z', figures }
  const said = { subject: 'Daily leads: 59 new', html: 'h', text: 't' }
  mkdirSync(join(folder, 'data'))
  await using store = await openStore(join(folder, 'data', 'leadsheet.db'), new Date(issue.renderedAt))
  await store.write(async (trx) => {
    const { id } = await saveIssue(trx, { ...issue, ...said, variant, programVersion: '1.2.3' })
    await noteNotSent(trx, id, 'quiet')
  })

  await checkTranscript(join(import.meta.dirname, 'golden/history.txt'), { cwd: folder })
})
