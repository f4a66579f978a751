/** What `status`, `schedule` and `outbox` say of a daemon that was stopped, or that has never run. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { saveMailOutage } from '../../../../src/store/outbox/send-limits.ts'
import { addScheduledRun } from '../../../../src/store/schedule/scheduled-run.ts'
import { beginUptime, endUptime } from '../../../../src/store/schedule/uptime.ts'
import { folderWith } from '../../../support/folder.ts'
import { clockAt } from '../../../support/process/shifted-clock.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

const NOW = '2026-11-24T12:00:30.000Z'
const AT = '2026-11-24T12:00:00.000Z'
const NEXT = '2026-11-25 06:00Z'
const RETRY = '2026-11-24 12:05Z'
const SETTINGS = `
time_zone: UTC
data_dir: data
mail: { from: reports@example.com }
reports:
  - { name: daily, schedule: every day at 06:00 }
`

/** Makes an installation whose daemon began at 12:00, and whose mail server is away since. */
async function installation(daemon: 'alive' | 'stopped' | 'none'): Promise<string> {
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS, 'data/readme': '' })
  await using store = await openStore(join(cwd, 'data/leadsheet.db'), new Date(AT))
  await store.write(async (trx) => {
    if (daemon !== 'none') {
      const id = await beginUptime(trx, { at: AT, after: 'down' })
      if (daemon === 'stopped') await endUptime(trx, id, AT)
    }
    await saveMailOutage(trx, {
      server: 'smtp://mail.example.com:587',
      kind: 'transient',
      beganAt: AT,
      failures: 4,
      nextAttemptAt: '2026-11-24T12:05:00.000Z',
      replyCode: null,
      response: 'ECONNREFUSED',
    })
    const run = { schedule: 'sync', not_before: null, message: null }
    await addScheduledRun(trx, { ...run, due_at: AT, noted_at: AT, state: 'pending' })
    const first = { ...run, schedule: 'report:daily', message: 'the schedule was set up' }
    await addScheduledRun(trx, { ...first, due_at: AT, noted_at: AT, state: 'skipped' })
  })
  return cwd
}

async function run(cwd: string, command: string): Promise<string> {
  const { stdout, stderr } = await runWarm(command.split(' '), { cwd, env: clockAt(NOW) })
  return stdout + stderr
}

describe('what comes next', () => {
  it('is said while a daemon runs', async () => {
    const cwd = await installation('alive')
    const away = `tried 4 times since 2026-11-24 12:00Z, next tried ${RETRY}: ECONNREFUSED`
    expect(await run(cwd, 'status')).toContain(NEXT)
    expect(await run(cwd, 'status')).toContain(away)
    expect(await run(cwd, 'outbox list')).toContain(away)
    expect(await run(cwd, 'schedule')).not.toContain('No daemon')
  })

  it.each(['stopped', 'none'] as const)('is not promised where the daemon is %s', async (daemon) => {
    const cwd = await installation(daemon)
    const status = await run(cwd, 'status')
    expect(status).not.toContain(NEXT)
    expect(status).toMatch(/^SCHEDULE .* NEXT/m)
    const outbox = await run(cwd, 'outbox list')
    for (const text of [status, outbox]) {
      expect(text).not.toContain(RETRY)
      expect(text).toContain('tried 4 times since 2026-11-24 12:00Z, and no daemon runs that tries again')
    }
    const schedule = await run(cwd, 'schedule')
    expect(schedule).toContain(NEXT)
    expect(schedule).toContain('No daemon is running, so nothing follows these schedules.')
  })
})

it('a schedule that was set up is no run that was skipped', async () => {
  const status = JSON.parse(await run(await installation('alive'), 'status --json'))
  expect(status.data.scheduled_runs).toMatchObject([{ schedule: 'sync', state: 'pending' }])
})
