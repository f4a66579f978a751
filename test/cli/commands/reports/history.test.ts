import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { noteNotSent, saveIssue } from '../../../../src/store/reports/issue.ts'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { busyDay } from '../../../support/reports/figures.ts'

test('show lists what is kept and what became of it', async () => {
  const folder = folderWith()
  const run = (...args: string[]) => runWarm(['report', 'show', ...args], { cwd: folder })
  expect(await run()).toMatchObject({
    status: 0,
    stdout: '',
    stderr: expect.stringContaining('leadsheet report'),
  })

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

  const shown = await run('daily', '--list')
  expect(shown.stdout).toMatch(
    /daily +2026-11-20 +pipelines eu +not sent: quiet +2026-11-21 07:00Z +Daily leads: 59 new\n/,
  )
  expect(await run('weekly', '--list')).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('No issue of "weekly" has been made yet'),
  })
  const { stdout } = await run('--json')
  expect(JSON.parse(stdout).data).toEqual([
    {
      report: 'daily',
      period: { from: figures.period.from, to: figures.period.to, time_zone: 'Europe/Berlin' },
      filter: { pipeline_ids: ['eu'], conditions: [] },
      subject: 'Daily leads: 59 new',
      made_at: '2026-11-21T07:00:00.000Z',
      made_by: '1.2.3',
      not_sent: 'quiet',
      messages: { total: 0, sent: 0, failed: 0, unconfirmed: 0, withdrawn: 0 },
      copies: { total: 0, sent: 0, failed: 0, unconfirmed: 0, withdrawn: 0 },
    },
  ])
})
