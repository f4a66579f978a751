/**
 * A daemon is told to stop during every kind of work, both as a usual process and as process 1 of a
 * container.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ask } from '../support/data/publishing.ts'
import { folderWith } from '../support/folder.ts'
import { type Finished, finished } from '../support/leadsheet.ts'
import { untilSaid } from '../support/process/daemon-address.ts'
import { readLedger } from '../support/process/daemon-run.ts'
import { isSkipped } from '../support/process/programs.ts'
import { HAS_TERMINAL } from '../support/process/typed.ts'
import { random } from '../support/random.ts'
import { hourlyNotNow, makeReportDue } from '../support/reports/due-report.ts'
import { startUpstream } from '../support/upstream.ts'
import { type HoldingServer, openHoldingServer } from './support/holding-server.ts'
import { MAIN, type Program, start } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'
import { expectSound } from './support/store.ts'

/** The number of stops of each kind. Every second one is of process 1, where the machine allows it. */
const STOPS = IS_FULL ? 10 : 2
const STOPPED_WITHIN_MS = 10_000
const CAN_UNSHARE = spawnSync('unshare', ['--fork', '--pid', 'true']).status === 0
/** The settings for a single sync. No other one comes due during the test. */
const SYNCED_ONCE = `data_dir: .\nsync: { schedule: '${hourlyNotNow()}' }\n`
/** The replies of the mail server that are held, and whether they come in the end. */
const HOLDS = [
  ['RCPT', true],
  ['reply', true],
  ['reply', false],
] as const
const RECIPIENTS = ['ana', 'ben', 'cem', 'dia', 'eva'].map((name) => `${name}@example.com`)

isSkipped('the daemon as process 1', CAN_UNSHARE ? null : 'it needs root and unshare')

interface Daemon {
  readonly child: ChildProcess
  /** The id of the daemon's process, as this process sees it. */
  readonly pid: () => number
  readonly end: Promise<Finished>
}

/** Starts the daemon. At stops with an odd number it is the first process of its own namespace, if that is possible. */
function startDaemon(program: Program, stop: number): Daemon {
  const within = CAN_UNSHARE && stop % 2 > 0 ? ['unshare', '--fork', '--pid', '--kill-child'] : []
  const child = start({ ...program, within })
  const childrenOf = (pid?: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const pid = () => (within.length === 0 ? (child.pid ?? 0) : Number(childrenOf(child.pid)))
  return { child, pid, end: finished(child) }
}

/**
 * Tells the daemon to stop. It must end in time and with the status of success, and leave a store in which nothing is
 * locked or in progress. A stopped first load leaves the indexes to the next sync.
 */
async function stopDaemon({ pid, end }: Daemon, file: string): Promise<void> {
  const begun = performance.now()
  process.kill(pid(), 'SIGTERM')
  const { status, stderr } = await end
  expect(status, stderr).toBe(0)
  expect(performance.now() - begun).toBeLessThan(STOPPED_WITHIN_MS)
  // The last process that closes the store also empties the log.
  expect(existsSync(`${file}-wal`)).toBe(false)
  expect(ask(file, 'SELECT name FROM lease')).toEqual([])
  expect(ask(file, "SELECT * FROM scheduled_run WHERE state = 'running'")).toEqual([])
  expect(ask(file, "SELECT * FROM delivery WHERE state IN ('sending', 'data')")).toEqual([])
  await expectSound(file, ['indexes are put aside only until a sync is complete'])
}

/** Awaits a promise. Fails if the daemon ends before. */
async function whileAlive(daemon: Daemon, awaited: Promise<unknown>): Promise<void> {
  const ended = await Promise.race([awaited.then(() => null), daemon.end])
  if (ended !== null) throw new Error(`the daemon ended by itself: ${ended.stderr}`)
}

describe(`a daemon that gets SIGTERM, ${STOPS} times of each kind; SEED=${SEED}`, () => {
  it('while somebody holds connections to its pages, cuts them off', async () => {
    const cwd = folderWith({ 'leadsheet.yaml': 'data_dir: .' })
    await using upstream = await startUpstream(5)
    const daemon = startDaemon(daemonOf(cwd, { LEADSHEET_API_URL: upstream.url }), 0)
    const { listen } = JSON.parse(await untilSaid(daemon.child.stderr, /"msg":"running"/))
    const requests = ['GET /web.css HTTP/1.1\r\nHost: localhost\r\n\r\n', 'GET /web.css HTTP/1.1\r\nHost: lo']
    const cut = requests.map(async (request) => {
      const socket = connect(Number(new URL(listen).port), '127.0.0.1')
      socket.on('error', () => {})
      socket.resume()
      socket.write(request)
      await once(socket, 'close')
    })
    await untilSaid(daemon.child.stderr, /"schedule":"sync",.*"state":"done"/)
    await stopDaemon(daemon, join(cwd, 'leadsheet.db'))
    await Promise.all(cut)
  })

  it('while it makes a snapshot leaves none that is half-made', async () => {
    const cwd = folderWith({
      'leadsheet.yaml': 'data_dir: .\napi: { page_size: 1000 }\nenrichment: { policy: none }',
    })
    await using upstream = await startUpstream(1_000)
    const daemon = startDaemon(daemonOf(cwd, { LEADSHEET_API_URL: upstream.url }), 0)
    const isBegun = (): boolean => readdirSync(cwd).some((name) => name.startsWith('snapshot.db.tmp-'))
    while (!isBegun()) await whileAlive(daemon, new Promise((resolve) => setTimeout(resolve, 2)))
    await stopDaemon(daemon, join(cwd, 'leadsheet.db'))
    expect(readdirSync(cwd).filter((name) => name.startsWith('snapshot'))).toEqual([])
  })

  it.skipIf(!HAS_TERMINAL)('or whose terminal is closed, stops as well', async () => {
    const cwd = folderWith({ 'leadsheet.yaml': 'data_dir: .' })
    await using upstream = await startUpstream(5)
    const { args, env } = daemonOf(cwd, { LEADSHEET_API_URL: upstream.url })
    const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
    const terminal = spawn('script', ['-qefc', `exec ${command}`, 'typescript'], {
      cwd,
      env: { ...process.env, ...env },
    })
    onTestFinished(() => void terminal.kill('SIGKILL'))
    const file = join(cwd, 'leadsheet.db')
    const isDone = (): boolean =>
      existsSync(file) &&
      existsSync(join(cwd, 'snapshot.db')) &&
      ask(file, 'SELECT * FROM lease').length === 1
    await expect.poll(isDone, { interval: 200 }).toBe(true)
    terminal.kill('SIGKILL')
    await expect.poll(() => ask(file, 'SELECT * FROM lease'), { timeout: STOPPED_WITHIN_MS }).toEqual([])
    expect(ask(file, 'SELECT * FROM daemon_uptime WHERE ended_at IS NULL')).toEqual([])
  })

  it('in the middle of a sync keeps the pages it has, and the next one goes on with the same scheduled run', async () => {
    const next = random(SEED)
    for (let stop = 0; stop < STOPS; stop++) {
      await using upstream = await startUpstream(200)
      const cwd = folderWith({ 'leadsheet.yaml': `${SYNCED_ONCE}api: { page_size: 10 }` })
      const file = join(cwd, 'leadsheet.db')
      const program = daemonOf(cwd, { LEADSHEET_API_URL: upstream.url })
      const page = 2 + Math.floor(next() * 17)
      const held = Promise.withResolvers<void>()
      // The answer for this page never comes, or only its beginning does.
      upstream.faults.push(...Array.from({ length: page }, () => () => false), (_request, response) => {
        if (stop % 4 > 1) response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":[')
        held.resolve()
        return true
      })
      const daemon = startDaemon(program, stop)
      await whileAlive(daemon, held.promise)
      await stopDaemon(daemon, file)
      expect(ask(file, "SELECT state FROM scheduled_run WHERE schedule = 'sync'")).toEqual([
        { state: 'pending' },
      ])

      const read = ask(file, 'SELECT id FROM lead').length
      expect(read).toBeGreaterThan(0)
      upstream.requests.length = 0
      const second = startDaemon(program, stop)
      await untilSaid(second.child.stderr, /"schedule":"sync",.*"state":"done"/)
      // It has nothing to do.
      await stopDaemon(second, file)
      expect(upstream.requests[0]?.path).toContain('cursor=')
      expect(ask(file, 'SELECT id FROM lead')).toHaveLength(200)
    }
  })

  it('in the middle of a mail loses no message, and sends none twice that it does not doubt', async () => {
    const next = random(SEED)
    await using upstream = await startUpstream(20)
    for (let stop = 0; stop < STOPS; stop++) {
      const [hold, isAnswered] = HOLDS[stop % HOLDS.length] ?? HOLDS[0]
      await using mail = await openHoldingServer(hold, 1 + Math.floor(next() * RECIPIENTS.length))
      const cwd = folderWith({ 'leadsheet.yaml': settings() })
      const file = join(cwd, 'leadsheet.db')
      await makeReportDue(file)
      const program = daemonOf(cwd, { LEADSHEET_API_URL: upstream.url, LEADSHEET_MAIL_URL: mail.url })
      const daemon = startDaemon(program, stop)
      await whileAlive(daemon, mail.isHeld)
      if (hold === 'reply' && isAnswered) setTimeout(mail.letGo, 1_000)
      await stopDaemon(daemon, file)
      expectKept(file, mail)

      mail.letGo()
      const second = startDaemon(program, stop)
      // Before this line, the process has no handler for the signal.
      await untilSaid(second.child.stderr, /scheduled/)
      const awaited = isAnswered ? RECIPIENTS.length : RECIPIENTS.length - 1
      while (ask(file, "SELECT * FROM delivery WHERE state = 'sent'").length < awaited) {
        await whileAlive(second, new Promise((resolve) => setTimeout(resolve, 50)))
      }
      await stopDaemon(second, file)
      expectKept(file, mail)
    }
  })
})

const settings = () => `
data_dir: .
snapshot: { when: never }
reports: [{ name: daily, schedule: '${hourlyNotNow()}' }]
recipients: [${RECIPIENTS.join(', ')}]
`

function daemonOf(cwd: string, env: Program['env']): Program {
  return {
    args: ['run'],
    cwd,
    env: {
      LEADSHEET_API_KEY: 'test-key',
      LEADSHEET_MAIL_URL: 'file:outbox',
      LEADSHEET_FROM: 'reports@example.com',
      LEADSHEET_RECIPIENTS: RECIPIENTS.join(','),
      LEADSHEET_WEB_LISTEN: '127.0.0.1:0',
      ...env,
    },
  }
}

/**
 * Checks that each recipient has a recorded message. Only an unconfirmed message may have arrived twice, and
 * both must be equal.
 */
function expectKept(file: string, { taken }: HoldingServer): void {
  const messages = readLedger({ file })
  expect(messages.map(({ recipient }) => recipient)).toEqual(RECIPIENTS)
  for (const { recipient, message_id, state, unconfirmed_count, next_attempt_at } of messages) {
    const copies = taken.filter(({ to }) => to === recipient)
    if (state === 'sent') expect(copies.length).toBeGreaterThan(0)
    else expect(next_attempt_at).not.toBeNull()
    expect(copies.length).toBeLessThanOrEqual(1 + unconfirmed_count)
    expect(copies.map(({ messageId }) => messageId)).toEqual(copies.map(() => message_id))
  }
}
