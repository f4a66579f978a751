/** Scheduled runs under kills and beside rivals. Each run is done, and only by one of them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { startDaemon } from '../../../src/jobs/schedule/daemon.ts'
import type { RunEnd } from '../../../src/jobs/schedule/schedule.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { folderWith } from '../../support/folder.ts'
import { finished } from '../../support/leadsheet.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { random } from '../../support/random.ts'
import { hourlyNotNow, makeReportDue, zoneAtNoon } from '../../support/reports/due-report.ts'
import { scheduleOf } from '../../support/schedule/schedule.ts'
import { openTasks } from '../../support/schedule/tasks.ts'
import { startService } from '../../support/service.ts'
import { SILENT } from '../../support/syncing.ts'
import { listPoints, type Program, run, runKilledAt, start } from '../support/program.ts'
import { forEachCase, IS_FULL, SEED, sampleOf } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'

const RACES = IS_FULL ? 20 : 2
const RUN_SCHEDULED_RUNS = join(import.meta.dirname, '../support/run-scheduled-runs.ts')
const SET_UP_AT = '2026-01-12T06:50:00.000Z'
const DUE_AT = '2026-01-13T07:05:00.000Z'
const RESTARTED_AT = '2026-01-13T07:06:00.000Z'

function query<T>(file: string, sql: string): T[] {
  const database = new Database(file)
  try {
    return database.prepare<[], T>(sql).all()
  } finally {
    database.close()
  }
}

function beatAt(cwd: string, now: string): Program {
  const env = { EVERY_STATEMENT: '1' }
  return { main: RUN_SCHEDULED_RUNS, args: [join(cwd, 'leadsheet.db'), now, join(cwd, 'ran')], cwd, env }
}

it('a daemon killed before or after any of its statements does each scheduled run at its next start, and none that it had noted as done (row 55)', async () => {
  const setUp = async (): Promise<string> => {
    const cwd = folderWith()
    expect(await run(beatAt(cwd, SET_UP_AT))).toMatchObject({ status: 0 })
    return cwd
  }
  const points = await listPoints(beatAt(await setUp(), DUE_AT))
  expect(points.length).toBeGreaterThan(40)
  const numbers = points.map((_name, index) => index + 1)
  await forEachCase(sampleOf(numbers, 6), async (point) => {
    const cwd = await setUp()
    const file = join(cwd, 'leadsheet.db')
    expect(await runKilledAt(point, beatAt(cwd, DUE_AT))).toBe(true)
    const doneBefore = query<{ due_at: string }>(
      file,
      "SELECT due_at FROM scheduled_run WHERE state = 'done'",
    )
    const ranBefore = linesOf(join(cwd, 'ran'))
    expect(await run(beatAt(cwd, RESTARTED_AT))).toMatchObject({ status: 0 })
    const ran = linesOf(join(cwd, 'ran'))
    const expected = ['2026-01-12T07:00:00.000Z', '2026-01-13T07:00:00.000Z', '2026-01-13T07:00:00.000Z']
    const done = query<{ due_at: string }>(
      file,
      "SELECT due_at FROM scheduled_run WHERE state = 'done' ORDER BY due_at",
    )
    expect(
      done.map(({ due_at }) => due_at),
      points[point],
    ).toEqual(expected)
    // At most the run in progress is done again, because nothing records how far it has come.
    const again = ran.length - expected.length
    expect(again, points[point - 1]).toBe(ranBefore.length > doneBefore.length ? 1 : 0)
    expect(query(file, "SELECT due_at FROM scheduled_run WHERE state IN ('pending', 'running')")).toEqual([])
    await expectSound(file)
  })
})

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

it(`of two daemons and a report by hand on the same data one daemon stays, and each recipient gets one message; ${RACES} races, SEED=${SEED} (row 45)`, async () => {
  const next = random(SEED)
  await using service = await startService(folderWith(), new Date(), 3, 1_000_000)
  const key = await service.createKey({ name: 'race', scope: 'read' })
  for (let race = 0; race < RACES; race++) {
    await using mail = await openMailServer()
    const cwd = folderWith({ 'leadsheet.yaml': settings() })
    const file = join(cwd, 'leadsheet.db')
    await makeReportDue(file)
    const env = {
      LEADSHEET_API_URL: service.url,
      LEADSHEET_API_KEY: key,
      LEADSHEET_SMTP_URL: mail.url,
      LEADSHEET_FROM: 'reports@example.com',
    }
    const daemons = [start({ args: ['run'], cwd, env }), start({ args: ['run'], cwd, env })]
    const ends = daemons.map(finished)
    await new Promise((resolve) => setTimeout(resolve, next() * 1_000))
    const byHand = run({ args: ['report', 'send', 'daily', '--json'], cwd, env })
    const loser = await Promise.race(ends)
    expect(loser.status).toBe(1)
    expect(loser.stderr).toContain('A daemon is already running')

    const { status, stdout, stderr } = await byHand
    if (status !== 0 && stderr !== '') expect(stderr, stderr).toMatch(/job_busy|report_no_data/)
    // If the daemon is sending, the command lists the messages that it leaves to the daemon.
    if (status !== 0 && stderr === '') expectLeft(stdout)
    const sent = "SELECT recipient FROM delivery WHERE state = 'sent'"
    // If the command was in the way, the daemon would send the message at its next tick.
    const isLeft = (): boolean => query(file, sent).length < RECIPIENTS.length
    if (isLeft() && status === 0) await run({ args: ['report', 'send', 'daily'], cwd, env })
    while (isLeft()) await new Promise((resolve) => setTimeout(resolve, 50))
    for (const daemon of daemons) daemon.kill('SIGTERM')
    expect((await Promise.all(ends)).map((end) => end.status).sort()).toEqual([0, 1])
    expect(mail.received.flatMap(({ to }) => to).sort()).toEqual(RECIPIENTS)
    await expectSound(file)
  }
})

function expectLeft(stdout: string): void {
  const { deliveries } = JSON.parse(stdout).data as {
    deliveries: readonly { readonly state: string; readonly response: string | null }[]
  }
  const left = deliveries.filter(({ state }) => state !== 'sent')
  expect(left.length, stdout).toBeGreaterThan(0)
  for (const { state, response } of left)
    if (state === 'pending') expect(response).toBe('another process is sending')
}

it('a scheduled run whose daemon hung until another had taken over is done by the other, and the first changes nothing of it when it wakes up (row 46)', async () => {
  const file = join(folderWith(), 'leadsheet.db')
  const clock = { now: new Date('2026-01-12T06:59:00Z') }
  await using store = await openStore(file, clock.now)
  await using otherStore = await openStore(file, clock.now)
  const hung = Promise.withResolvers<RunEnd>()
  const begun = Promise.withResolvers<void>()
  const first = await openTicking(store, clock, () => {
    begun.resolve()
    return hung.promise
  })
  await first.tick()
  clock.now = new Date('2026-01-12T07:00:00Z')
  void first.tick()
  await begun.promise
  // The lease names another machine, so its process id tells nothing.
  await store.write((trx) => trx.updateTable('lease').set({ host: 'another' }).execute())
  await expect(openTicking(otherStore, clock, done)).rejects.toMatchObject({ code: 'job_busy' })
  clock.now = new Date(clock.now.getTime() + 90_000)
  const second = await openTicking(otherStore, clock, done)
  await second.tick()
  const rows =
    "SELECT due_at, state, attempts, message FROM scheduled_run WHERE due_at = '2026-01-12T07:00:00.000Z'"
  const taken = [{ due_at: '2026-01-12T07:00:00.000Z', state: 'done', attempts: 2, message: 'by the second' }]
  expect(query(file, rows)).toEqual(taken)
  hung.resolve({ state: 'failed', message: 'by the first' })
  await first.idle()
  expect(query(file, rows)).toEqual(taken)
  await first.stop()
  await second.stop()
})

async function done(): Promise<RunEnd> {
  return { state: 'done', message: 'by the second' }
}

/** Opens a daemon with one report and the clock of the test. */
async function openTicking(store: Store, clock: { readonly now: Date }, work: () => Promise<RunEnd>) {
  const controller = new AbortController()
  const daemon = await startDaemon(
    {
      store,
      log: SILENT,
      now: () => clock.now,
      monotonicMs: () => clock.now.getTime(),
      schedules: [scheduleOf({ run: work })],
      ...openTasks(),
    },
    controller.signal,
  )
  return {
    async tick() {
      await daemon.tick()
      await daemon.idle()
    },
    idle: daemon.idle,
    async stop() {
      controller.abort()
      await daemon.stop()
    },
  }
}

const RECIPIENTS = ['ana@example.com', 'ben@example.com', 'cem@example.com']

const settings = () => `
data_dir: .
snapshot: { when: never }
time_zone: ${zoneAtNoon()}
reports: [{ name: daily, schedule: '${hourlyNotNow()}' }]
recipients: [${RECIPIENTS.join(', ')}]
`
