import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import { createFaultWatch } from '../../../src/jobs/alerts/store-fault.ts'
import { createClockTrust } from '../../../src/jobs/schedule/clock-trust.ts'
import { startDaemon } from '../../../src/jobs/schedule/daemon.ts'
import type { DueRun, Schedule } from '../../../src/jobs/schedule/schedule.ts'
import { createSerialTask, openOwnQueue } from '../../../src/jobs/schedule/serial-task.ts'
import { askSync } from '../../../src/jobs/sync/scheduled-sync.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { folderWith } from '../../support/folder.ts'
import { scheduleOf, timing } from '../../support/schedule/schedule.ts'
import { openTasks } from '../../support/schedule/tasks.ts'
import { SILENT } from '../../support/syncing.ts'

const MINUTELY = { timing: timing('* * * * *') }

/** A schedule whose runs do some work, and are then done. */
const working = (
  work: (due: DueRun, signal: AbortSignal) => unknown,
  settings: Partial<Schedule> = MINUTELY,
): Schedule =>
  scheduleOf({
    ...settings,
    run: async (due, _lease, signal) => {
      await work(due, signal)
      return { state: 'done', message: null }
    },
  })

type Running = Awaited<ReturnType<typeof start>>

/** Starts a daemon at 07:00 UTC on 20 November 2026, with a new store or that of an earlier daemon. */
async function start(
  schedules: readonly Schedule[],
  {
    file = `${folderWith()}/leadsheet.db`,
    at = '2026-11-20T07:00:00Z',
    trueTime = null as string | null,
    isUpstreamThere = (): boolean => true,
    faultOfWrites = (): LeadsheetError | null => null,
  } = {},
) {
  let now = new Date(at)
  let real = new Date(trueTime ?? at)
  const opened = await openStore(file, now)
  onTestFinished(opened.close)
  const store: Store = {
    ...opened,
    async write(work) {
      const fault = faultOfWrites()
      if (fault !== null) throw fault
      return opened.write(work)
    },
  }
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(line) })
  let posts = 0
  const tasks = openTasks(async () => void posts++, log)
  const end = new AbortController()
  const faults: string[] = []
  const tellFault = async ({ message }: Error) => faults.push(message) > 0
  const watch = createFaultWatch(tellFault, () => now)
  const uptime = { store, log, now: () => now, monotonicMs: () => real.getTime() }
  const upstreamClock = {
    last: () => null,
    ask: async () => (isUpstreamThere() ? now.getTime() - real.getTime() : null),
  }
  const clockTrust = createClockTrust({ ...uptime, upstreamClock })
  const daemon = await startDaemon({ ...uptime, schedules, ...tasks, faults: watch, clockTrust }, end.signal)
  const moveTo = (to: string, trueNow = to): void => {
    now = new Date(to)
    real = new Date(trueNow)
  }
  return {
    store,
    daemon,
    lines,
    /** The faults of the database of which operators were told. */
    faults,
    watch,
    moveTo,
    /** Counts the checks for due messages. */
    posts: () => posts,
    /** Moves the clock and ticks. Resolves before the work is done. `real` is the true time, if the clock is wrong. */
    async tick(at: string, real?: string): Promise<void> {
      moveTo(at, real)
      await daemon.tick()
    },
    async stop(): Promise<void> {
      end.abort()
      await daemon.stop()
    },
  }
}

async function scheduledRunsOf(store: Store): Promise<string[]> {
  const scheduledRuns = store.db.selectFrom('scheduled_run').orderBy('due_at').orderBy('schedule')
  return (await scheduledRuns.selectAll().execute()).map(
    ({ schedule, due_at, state }) => `${schedule} ${due_at.slice(11, 16)} ${state}`,
  )
}

describe('the daemon', () => {
  it('delivers while a sync hangs, and notes what comes meanwhile: the latest follows, the others are overlapped', async () => {
    const hanging = Promise.withResolvers<void>()
    let runs = 0
    const sync = working(() => (++runs === 1 ? hanging.promise : null), { ...MINUTELY, name: 'sync' })
    const running = await start([sync])
    for (const minute of ['00', '01', '02', '03', '04']) await running.tick(`2026-11-20T07:${minute}:00Z`)
    await expect.poll(running.posts).toBe(5)
    const states = async () =>
      (await scheduledRunsOf(running.store)).map((run) => run.split(' ')[2]).join(' ')
    expect(await states()).toBe('skipped running pending pending pending')
    hanging.resolve()
    await running.daemon.idle()
    expect(await states()).toBe('skipped done skipped skipped done')
    const skipped = running.store.db.selectFrom('scheduled_run').where('state', '=', 'skipped')
    expect((await skipped.select('message').execute()).at(-1)?.message).toBe(
      'overlapped: not begun when that of 2026-11-20 07:04 UTC came',
    )
    await running.stop()
  })

  it('lets every other due schedule run between two syncs that last longer than their interval', async () => {
    const ran: string[] = []
    const ends = new Map<string, () => void>()
    const named = (name: string, isSlow: boolean, leaseName = name) =>
      working(
        async () => {
          ran.push(name)
          if (isSlow) await new Promise<void>((resolve) => ends.set(name, resolve))
        },
        { ...MINUTELY, name, leaseName },
      )
    const running = await start([
      named('sync', true),
      named('sync-full', false, 'sync'),
      named('report:a', false),
      named('report:b', false),
    ])
    await running.tick('2026-11-20T07:00:00Z')
    const acquired: (string | undefined)[] = []
    const isSyncing = () => expect.poll(() => ends.has('sync')).toBe(true)
    for (const minute of [1, 2, 3, 4, 5, 6]) {
      await running.tick(`2026-11-20T07:0${minute}:00Z`)
      await isSyncing()
      const leases = running.store.db.selectFrom('lease').where('name', '=', 'sync').selectAll()
      acquired.push((await leases.executeTakeFirst())?.acquired_at.slice(11, 16))
      if (minute % 2 !== 0) continue
      const end = ends.get('sync')
      ends.clear()
      end?.()
      await isSyncing()
    }
    const turn = ['sync', 'sync-full', 'report:a', 'report:b']
    expect(ran).toEqual([...turn, ...turn, ...turn, 'sync'])
    // A lease that is as old as the first sync would be taken for a stuck job.
    expect(acquired).toEqual(['07:01', '07:01', '07:02', '07:02', '07:04', '07:04'])
    ends.get('sync')?.()
    await running.daemon.idle()
    await running.stop()
  })

  it('takes up again what a stop has broken off unless the settings no longer have it, and says what it has in hand', async () => {
    const begun = Promise.withResolvers<void>()
    const snapshot = working(
      async (_due, signal) => {
        begun.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        throw signal.reason
      },
      { ...MINUTELY, name: 'snapshot' },
    )
    const file = `${folderWith()}/leadsheet.db`
    const running = await start([snapshot], { file })
    for (const minute of ['00', '01']) await running.tick(`2026-11-20T07:${minute}:00Z`)
    await begun.promise
    expect(running.daemon.inFlight()).toEqual(['snapshot'])
    await running.stop()
    expect(running.daemon.inFlight()).toEqual([])
    expect(await scheduledRunsOf(running.store)).toContain('snapshot 07:01 pending')
    expect(running.lines.join()).not.toContain('"level":50')
    await (await start([], { file })).stop()
    expect(await scheduledRunsOf(running.store)).toContain('snapshot 07:01 skipped')
  })

  it('goes on with the other schedules where one cannot run', async () => {
    const ran: string[] = []
    const schedules = ['report:a', 'report:b', 'report:c'].map((name) =>
      working(
        () => {
          ran.push(name)
          if (name === 'report:b') throw new TypeError('a bug')
        },
        { ...MINUTELY, name },
      ),
    )
    const running = await start(schedules)
    await running.tick('2026-11-20T07:00:00Z')
    const lease = await claimLease(running.store, 'report:a', () => new Date('2026-11-20T07:00:30Z'))
    await running.tick('2026-11-20T07:01:00Z')
    await running.daemon.idle()
    expect(ran).toEqual(['report:b', 'report:c'])
    await lease.release()
    await running.tick('2026-11-20T07:01:30Z')
    await running.daemon.idle()
    expect(ran).toEqual(['report:b', 'report:c', 'report:a'])
    expect(running.lines.join()).toContain('a bug')
    await running.stop()
  })

  it('runs once on the same data', async () => {
    const file = `${folderWith()}/leadsheet.db`
    const running = await start([], { file })
    await expect(start([], { file })).rejects.toMatchObject({ code: 'job_busy' })
    await running.stop()
    await (await start([], { file })).stop()
  })
})

it('a serial task does nothing before it is opened, then its work one at a time, and once more when it was asked to meanwhile', async () => {
  let [count, inFlight] = [0, 0]
  const gate = Promise.withResolvers<void>()
  const task = createSerialTask(openOwnQueue(SILENT), 'alerts', async () => {
    expect(++inFlight).toBe(1)
    if (++count === 1) await gate.promise
    inFlight--
  })
  task.wake()
  await task.idle()
  expect(count).toBe(0)
  task.open(new AbortController().signal)
  for (let wake = 0; wake < 5; wake++) task.wake()
  gate.resolve()
  await task.idle()
  expect(count).toBe(2)
})

/** Copies a backup over a database, as `cp` does: the file stays the same one. */
function overwrite(file: string): string {
  const backup = `${file}.backup`
  const database = new Database(file)
  database.prepare('VACUUM INTO ?').run(backup)
  database.close()
  execFileSync('cp', [backup, file])
  return backup
}

const RAN = ['report:daily 07:00 skipped', 'report:daily 07:01 done']
/** Changes of the file, and whether all that was written before is in it afterwards. */
it.each<[string, (file: string) => unknown, isWhole?: true]>([
  ['is deleted', (file) => rmSync(file)],
  ['is moved away', (file) => renameSync(file, `${file}.old`)],
  [
    'is replaced by a copy',
    (file) => {
      copyFileSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    },
  ],
  ['is moved with its folder', (file) => renameSync(dirname(file), `${dirname(file)}.old`)],
  ['is overwritten by a backup, and is that backup to the byte', overwrite, true],
  ['has lost its log', (file) => rmSync(`${file}-wal`), true],
  ['has lost its shared memory', (file) => rmSync(`${file}-shm`), true],
])(
  'the database file of a running daemon %s: nothing more is written or run, operators are told, and the daemon ends',
  async (_, lose, isWhole) => {
    const file = `${folderWith({ 'data/.keep': '' })}/data/leadsheet.db`
    let runs = 0
    const running = await start([working(() => runs++)], { file })
    for (const minute of ['00', '01']) await running.tick(`2026-11-20T07:${minute}:00Z`)
    await running.daemon.idle()
    expect(await scheduledRunsOf(running.store)).toEqual(RAN)
    const backup = lose(file)
    await running.tick('2026-11-20T07:02:00Z')
    expect(running.daemon.signal.aborted).toBe(true)
    await expect(running.store.write((trx) => trx.deleteFrom('lease').execute())).rejects.toThrow(
      /leadsheet\.db.* was/,
    )
    await expect(running.stop()).rejects.toMatchObject({ code: 'store_lost' })
    expect([runs, await scheduledRunsOf(running.store)]).toEqual([1, RAN])
    expect(running.faults).toEqual([
      expect.stringMatching(/was (deleted|replaced|overwritten) .*while it was open$/),
    ])
    await running.store.close()
    // The content of a log would be applied to whichever file gets the name next.
    expect(existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0).toBe(0)
    if (!isWhole) return
    if (typeof backup === 'string') expect(readFileSync(file).equals(readFileSync(backup))).toBe(true)
    await using store = await openStore(file, new Date('2026-11-20T07:03:00Z'))
    expect(await scheduledRunsOf(store)).toEqual(RAN)
  },
)

/**
 * The clock at each tick, behind it the true time where that is another, and from where on the upstream is there or
 * away, or the daemon is started again after a stop or a kill.
 */
const CLOCKS: Readonly<Record<string, string>> = {
  'ahead for two minutes while the upstream says that it is wrong':
    'there 20T10:00 21T12:01/20T10:01 21T12:02/20T10:02 20T10:03 21T07:00',
  'ahead for two minutes while the upstream cannot be asked':
    'away 20T10:00 21T12:01/20T10:01 21T12:02/20T10:02 20T10:03 21T07:00',
  'right after the machine slept, when its monotonic clock stood, as the upstream confirms late':
    'away 20T10:00 21T12:00/20T10:01 there 21T12:01',
  'ahead for long, while the upstream does not tell its time':
    'away 20T10:00 21T12:00/20T10:00 21T12:15/20T10:15 21T12:29/20T10:29 21T12:30/20T10:30',
  'back after the daemon began with a clock that was ahead':
    'there 21T06:59/20T10:00 21T07:00/20T10:01 20T10:02 21T07:00',
  'ahead when the daemon starts':
    'there 20T10:00 restart 21T12:01/20T10:01 21T12:02/20T10:02 20T10:03 21T07:00',
  'right after the daemon was stopped for hours': 'there 20T06:00 20T06:01 restart 20T10:00',
  'right after the daemon was killed, and nothing ran for hours': 'there 20T06:00 20T06:01 kill 20T10:00',
  'right while the process was kept from its work for hours': 'there 20T06:31 20T09:10',
  'set back by half an hour': 'away 20T06:59 20T07:00 20T06:30/20T07:01 20T07:00/20T07:31',
  'as far from that of the upstream as before the daemon was started again':
    'there 20T10:00/20T05:00 restart 20T12:00/20T07:00 21T07:00/21T02:00',
}

it('what a daily report at 07:00 and the log make of a clock that was set', async () => {
  const told: string[] = []
  const daily = working(({ dueAt, late }) => {
    const since = late === null ? '' : `, late from ${late.from} to ${late.to}: ${late.why}`
    told.push(`    runs that of ${dueAt.toISOString().slice(8, 13)}${since}`)
  }, {})
  for (const [name, words] of Object.entries(CLOCKS)) {
    told.push(`a clock that is ${name}`)
    const file = `${folderWith()}/leadsheet.db`
    let isThere = true
    let running: Running | null = null
    for (const word of words.split(' ')) {
      told.push(`  ${word}`)
      if (word === 'restart' || word === 'kill') {
        if (word === 'kill') await running?.store.db.deleteFrom('lease').execute()
        else await running?.stop()
        running = null
      } else if (word === 'there' || word === 'away') isThere = word === 'there'
      else {
        const [at = '', trueTime = at] = word.split('/').map((time) => `2026-11-${time}:00Z`)
        running ??= await start([daily], { file, at, trueTime, isUpstreamThere: () => isThere })
        const before = running.lines.length
        await running.tick(at, trueTime)
        await running.daemon.idle()
        const logged = running.lines.slice(before).map((line) => JSON.parse(line))
        told.push(...logged.filter(({ level }) => level >= 40).map(({ msg }) => `    ${msg}`))
      }
    }
    await running?.stop()
  }
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/clocks.txt')
})

it('tells operators at once where the database cannot be written, and afterwards from when to when and why', async () => {
  const cause = 'leadsheet.db cannot be written: database or disk is full'
  let fault: LeadsheetError | null = null
  const running = await start([], { faultOfWrites: () => fault })
  await running.tick('2026-11-20T07:00:00Z')
  fault = new LeadsheetError('data_unwritable', cause)
  for (const minute of ['01', '02', '03', '04']) await running.tick(`2026-11-20T07:${minute}:00Z`)
  expect(running.faults).toEqual([cause])
  fault = null
  for (const minute of ['05', '06']) await running.tick(`2026-11-20T07:${minute}:00Z`)
  const logged = running.lines.join()
  expect(logged).toContain(`Nothing could be stored for 5 minutes: ${cause}`)
  expect(logged).not.toContain('kept from its work')
  expect(running.watch.last()).toMatchObject({
    from: '2026-11-20T07:01:00.000Z',
    to: '2026-11-20T07:05:00.000Z',
    message: cause,
  })
  const beats = await running.store.db.selectFrom('daemon_uptime').select('began_after').execute()
  expect(beats).toEqual([{ began_after: 'unwritable' }])
  await running.stop()
})

it('a sync that a person asks for runs once without the next tick, or when there is a daemon again, and those that are due come as ever', async () => {
  const ran: string[] = []
  const settings = { name: 'sync', timing: timing('*/15 * * * *'), runsAtFirstSight: true }
  const schedule = working(({ dueAt }) => ran.push(dueAt.toISOString().slice(11, 16)), settings)
  const file = `${folderWith()}/leadsheet.db`
  const at = (time: string) => `2026-11-20T07:${time}Z`
  const ask = ({ store, moveTo }: Running, time: string) => {
    moveTo(at(time))
    return askSync(store, schedule, () => new Date(at(time)))
  }
  const first = await start([schedule], { file })
  await first.tick(at('00:00'))
  await first.daemon.idle()
  for (const second of [1, 2, 3]) await ask(first, `04:0${second}`)
  first.daemon.wake()
  await first.daemon.idle()
  expect(ran).toEqual(['07:00', '07:04'])
  await ask(first, '05:30')
  await first.stop()
  const second = await start([schedule], { file, at: at('06:00') })
  for (const time of ['06:00', '15:00']) await second.tick(at(time))
  await second.daemon.idle()
  expect(ran).toEqual(['07:00', '07:04', '07:05', '07:15'])
  expect(await scheduledRunsOf(second.store)).toEqual(ran.map((time) => `sync ${time} done`))
  await second.stop()
})
