import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SET_UP } from '../../../../src/jobs/schedule/note-due-runs.ts'
import { openStore } from '../../../../src/store/open.ts'
import { noteRun, saveUptime } from '../../../support/data/operation.ts'
import { folderWith } from '../../../support/folder.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'

const NOW = '2026-11-24T12:00:00Z'
const SETTINGS = `
time_zone: Europe/Vienna
data_dir: data
holidays: ["2026-11-30"]
sync: { full_schedule: every day at 03:30 }
reports:
  - { name: daily, schedule: every day at 02:30 }
  - { name: weekly, schedule: every Monday at 07:00, time_zone: America/New_York, catch_up: none }
  - { name: monthly, schedule: last working day of the month at 17:00, catch_up: all, period: month }
`
/** The state of the runs in the days in which the daemon was down. */
const MISSED = 'missed: nothing ran from 2026-11-20 12:00 UTC to 2026-11-24 06:00 UTC'

/** Makes an installation that was down from Friday noon until Tuesday, and holds today's report. */
async function installation(): Promise<string> {
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS, 'data/readme': '' })
  await using store = await openStore(join(cwd, 'data/leadsheet.db'), new Date('2026-11-20T12:00:00Z'))
  await saveUptime(store, '2026-11-20T06:00:00.000Z', '2026-11-20T12:00:00.000Z')
  await saveUptime(store, '2026-11-24T06:00:00.000Z', '2026-11-24T12:00:00.000Z')
  const daily = { schedule: 'report:daily', state: 'skipped', noted_at: '2026-11-24T06:00:00.000Z' } as const
  const due_at = '2026-11-20T06:00:00.000Z'
  await noteRun(store, { ...daily, due_at, noted_at: due_at, message: SET_UP })
  for (const day of ['21', '22', '23'])
    await noteRun(store, { ...daily, due_at: `2026-11-${day}T01:30:00.000Z`, message: MISSED })
  const today = '2026-11-24T01:30:00.000Z'
  await noteRun(store, { ...daily, due_at: today, state: 'held', message: 'the data are old' })
  await noteRun(store, {
    schedule: 'sync',
    due_at: '2026-11-24T11:45:00.000Z',
    state: 'pending',
    not_before: '2026-11-24T12:30:00.000Z',
    message: 'deferred',
  })
  return cwd
}

it('what runs when is listed, what became of it last and was missed, and what the clocks do to it; a held report is let go', async () => {
  const cwd = await installation()
  const options = { cwd, env: clockStandingAt(NOW) }
  const text = await checkTranscript(join(import.meta.dirname, 'golden/schedule.txt'), options)
  expect(text).not.toContain(SET_UP)
  await using store = await openStore(join(cwd, 'data/leadsheet.db'), new Date(NOW))
  const held = store.db.selectFrom('scheduled_run').where('state', '=', 'held').select('approved_at')
  expect(await held.execute()).toEqual([{ approved_at: '2026-11-24T12:00:00.000Z' }])
})

it('a report that could not be finished is tried again, and nobody is asked to approve it', async () => {
  const cwd = await installation()
  const path = join(cwd, 'data/archive/daily/2026-11-23/index.html')
  {
    await using store = await openStore(join(cwd, 'data/leadsheet.db'), new Date(NOW))
    await store.db
      .updateTable('scheduled_run')
      .where('state', '=', 'held')
      .set({ state: 'pending', attempts: 1, not_before: '2026-11-24T12:05:00.000Z' })
      .set({ message: `${path} cannot be written: EACCES: permission denied` })
      .execute()
  }
  const options = { cwd, env: clockStandingAt(NOW) }
  const text = await checkTranscript(join(import.meta.dirname, 'golden/schedule-again.txt'), options)
  expect(text).not.toContain('report approve')
})
