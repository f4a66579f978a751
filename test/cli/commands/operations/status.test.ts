/** The words of `status`, `schedule` and `outbox` on a daemon that was stopped, or that has never run. */
import { join } from 'node:path'
import { it } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { saveMailOutage } from '../../../../src/store/outbox/send-limits.ts'
import { beginUptime, endUptime } from '../../../../src/store/schedule/uptime.ts'
import { mailOutage, noteRun, saveSync } from '../../../support/data/operation.ts'
import { folderWith } from '../../../support/folder.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'

const NOW = '2026-11-24T12:00:30.000Z'
const AT = '2026-11-24T12:00:00.000Z'
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
    const nextAttemptAt = '2026-11-24T12:05:00.000Z'
    const problem = {
      part: 'leads',
      code: 'run_interrupted',
      message: 'stopped by SIGTERM',
      hint: null,
    } as const
    if (daemon === 'stopped') await saveSync(trx, AT, { outcome: 'partial', problems: [problem] })
    await saveMailOutage(trx, mailOutage(AT, { nextAttemptAt }))
  })
  await noteRun(store, { schedule: 'sync', due_at: AT, state: 'pending' })
  const first = { state: 'skipped', message: 'the schedule was set up' } as const
  await noteRun(store, { schedule: 'report:daily', due_at: AT, ...first })
  return cwd
}

it.each(['alive', 'stopped', 'none'] as const)(
  'what comes next is promised only while a daemon runs: %s',
  async (daemon) => {
    const options = { cwd: await installation(daemon), env: clockStandingAt(NOW) }
    await checkTranscript(join(import.meta.dirname, `golden/status-${daemon}.txt`), options)
  },
)
