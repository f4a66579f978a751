/**
 * A program that runs one tick of a daemon with two schedules: `node run-scheduled-runs.ts FILE NOW RAN`. It
 * runs what is due at NOW, and writes each scheduled run as a line of RAN.
 */
import { appendFileSync } from 'node:fs'
import { pino } from 'pino'
import { startDaemon } from '../../../src/jobs/schedule/daemon.ts'
import type { Schedule } from '../../../src/jobs/schedule/schedule.ts'
import { openStore } from '../../../src/store/open.ts'
import { scheduleOf, timing } from '../../support/schedule/schedule.ts'
import { openTasks } from '../../support/schedule/tasks.ts'

const [file = '', at = '', ran = ''] = process.argv.slice(2)
const log = pino({ level: 'silent' })
const now = (): Date => new Date(at)
const run: Schedule['run'] = async ({ dueAt }) => {
  appendFileSync(ran, `${dueAt.toISOString()}\n`)
  return { state: 'done', message: null }
}
const store = await openStore(file, now())
const schedules = [
  scheduleOf({ name: 'sync', timing: timing('*/15 * * * *'), run }),
  scheduleOf({ name: 'report:daily', catchUp: { policy: 'all', windowHours: 48 }, run }),
]
const controller = new AbortController()
const daemon = await startDaemon(
  { store, log, now, monotonicMs: () => 0, schedules, ...openTasks() },
  controller.signal,
)
await daemon.tick()
await daemon.idle()
controller.abort()
await daemon.stop()
await store.close()
