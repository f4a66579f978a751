/**
 * The program under libfaketime. Its clock is set while it runs, which the timers of the process do not
 * notice. In another test, time passes sixty times as fast through a clock change of its zone.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { it } from 'vitest'
import { finished, startLeadsheet } from '../support/leadsheet.ts'
import { openInstallation, type RunningDaemon, stopWhen } from '../support/process/daemon-run.ts'
import { findInstalled, isSkipped } from '../support/process/programs.ts'
import { IS_FULL } from './scale.ts'

const LIBRARY = findInstalled('/usr/lib/*/faketime/libfaketimeMT.so.1')
const IS_SKIPPED = isSkipped('a clock that is set', LIBRARY === null ? 'apt-get install faketime' : null)

interface FakedDaemon {
  readonly running: RunningDaemon
  /** Sets the clock in the format of libfaketime: `+3600s`, or `@2026-03-29 00:58:30 x60`. */
  setClock(spec: string): void
  /** Returns the first column. */
  query(sql: string): string[]
  /** Waits for a condition while the daemon runs. */
  until(isReached: () => boolean): Promise<void>
}

async function startFaked(
  schedule: string,
  spec: string,
  env: Readonly<Record<string, string>>,
): Promise<FakedDaemon> {
  const installation = await openInstallation(['ana@example.com'], 'file:outbox')
  const clock = join(installation.cwd, 'clock')
  const settings = `
data_dir: data
time_zone: Europe/Vienna
sync: { schedule: "${schedule}" }
snapshot: { when: never }
enrichment: { policy: none }
`
  writeFileSync(join(installation.cwd, 'leadsheet.yaml'), settings)
  writeFileSync(clock, spec)
  const child = startLeadsheet(['run'], {
    cwd: installation.cwd,
    env: {
      ...installation.env,
      LEADSHEET_RECIPIENTS: 'ana@example.com',
      LEADSHEET_FROM: 'reports@example.com',
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      ...env,
    },
  })
  return {
    running: { child, end: finished(child) },
    async until(isReached) {
      while (!isReached() && child.exitCode === null) await sleep(100)
    },
    setClock: (next) => writeFileSync(clock, next),
    query(sql) {
      try {
        const database = new Database(installation.file, { readonly: true, fileMustExist: true })
        using _ = { [Symbol.dispose]: () => void database.close() }
        return database.prepare<[], string>(sql).pluck().all()
      } catch {
        // The table is still being made.
        return []
      }
    },
  }
}

const CLOCK_SETS = `SELECT began_at FROM daemon_uptime WHERE began_after = 'clock'`

it.skipIf(IS_SKIPPED || !IS_FULL)(
  'a running daemon goes on after its clock was set back and forth by two hours, and tells of it; takes four minutes, in the full run',
  async () => {
    const { running, setClock, query, until } = await startFaked('* * * * *', '+0s', {
      DONT_FAKE_MONOTONIC: '1',
    })
    await until(() => query('SELECT id FROM daemon_uptime').length > 0)
    let setAt: unknown
    for (const hours of [-2, 0]) {
      setClock(hours === 0 ? '+0s' : `${hours}h`)
      await until(() => query(CLOCK_SETS).some((at) => at !== setAt))
      setAt = query(CLOCK_SETS)[0]
      const noted = `SELECT due_at FROM scheduled_run WHERE noted_at > '${query(CLOCK_SETS).at(-1)}' AND due_at > '${query(CLOCK_SETS).at(-1)}'`
      // In the repeated hours nothing runs again, so only the ticks go on.
      await until(() => hours < 0 || query(noted).length > 0)
    }
    await stopWhen(running, () => query(`SELECT check_id FROM alert WHERE check_id = 'clock_set'`).length > 0)
  },
)

it.skipIf(IS_SKIPPED)(
  'a running daemon runs at 03:00 what is due at 02:30 on the night on which there is no 02:30',
  async () => {
    const { running, setClock, query, until } = await startFaked(
      'every day at 02:30',
      '@2026-03-29 00:40:00',
      {},
    )
    await until(() => query('SELECT id FROM daemon_uptime').length > 0)
    setClock('@2026-03-29 00:58:00 x30')
    const done = `SELECT due_at FROM scheduled_run WHERE schedule = 'sync' AND state = 'done' AND due_at = '2026-03-29T01:00:00.000Z'`
    await stopWhen(running, () => query(done).length > 0)
  },
)
