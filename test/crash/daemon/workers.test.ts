/**
 * Three real workers share one PostgreSQL. One of them is killed again and again while they sync, report and send under
 * faults. In the end the copy equals the upstream, each scheduled run has one row, each recipient has each report once,
 * and no answered event is missing.
 */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { folderWith } from '../../support/folder.ts'
import { finished } from '../../support/leadsheet.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { readAddress, untilSaid } from '../../support/process/daemon-address.ts'
import { random } from '../../support/random.ts'
import { hourlyNotNow, makeReportDue } from '../../support/reports/due-report.ts'
import { newStoreUrl } from '../../support/store.ts'
import { cut, startUpstream, status, type Upstream } from '../../support/upstream.ts'
import { compareRows } from '../outbox/comparison.ts'
import { startSink } from '../outbox/sink.ts'
import { listOf, readCopy } from '../support/contents.ts'
import { EVENTS_SECRET, openSender } from '../support/event-sender.ts'
import { run, start } from '../support/program.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'

const WORKERS = 3
const KILLS = IS_FULL ? 24 : 4
const KILL_EACH_MS = 5_000
const LEADS = IS_FULL ? 19_980 : 3_000
const RECIPIENTS = Array.from({ length: 12 }, (_, number) => `r${100 + number}@example.org`)
/** The faults of the mail server. A deferred message is tried again minutes later. */
const FAULTS = {
  seed: SEED,
  lostReplies: 0.05,
  ...(IS_FULL
    ? { turnedAway: 0.1, refusals: 0.05, greylisted: 0.1 }
    : { turnedAway: 0, refusals: 0, greylisted: 0 }),
}
const CHANGES_EACH_MS = 150
/** The answers of a worker that has no database, or more requests than it can take. */
const REFUSALS = [429, 500, 503]
/** The limit for syncs and waiting messages after the last kill. */
const QUIET_WITHIN_MS = 15 * 60_000

const SETTINGS = `
api: { page_size: 100 }
sync: { schedule: '* * * * *', full_schedule: '*/2 * * * *' }
enrichment: { per_run: 100 }
snapshot: { when: never }
mail:
  { per_minute: 6000, dkim: { domain: example.com, selector: leadsheet, key_file: ./dkim.pem } }
recipients: [${RECIPIENTS.join(', ')}]
reports:
  - { name: daily, schedule: "${hourlyNotNow()}", period: day, wait_minutes: 0 }
  - { name: minutely, template: daily, schedule: '* * * * *', period: since_last, wait_minutes: 0 }
`

const FILES = { 'leadsheet.yaml': SETTINGS, 'dkim.pem': DKIM_KEY.privateKey }
/** Settings under which nothing comes due. */
const QUIET = {
  ...FILES,
  'leadsheet.yaml': SETTINGS.replaceAll(/'\*(\/2)? \* \* \* \*'/g, `"${hourlyNotNow()}"`),
}

describe.skipIf(!hasPostgres)(`${WORKERS} workers on one PostgreSQL, SEED=${SEED}`, () => {
  it(`where one is killed ${KILLS} times copy all leads, run each scheduled run once, mail each recipient once and lose no event`, async () => {
    const url = await newStoreUrl()
    await using upstream = await startUpstream(LEADS / 2)
    const sink = await startSink(FAULTS)
    const env = {
      LEADSHEET_DATABASE_URL: url,
      LEADSHEET_API_URL: upstream.url,
      LEADSHEET_API_KEY: 'key',
      LEADSHEET_MAIL_URL: sink.url,
      LEADSHEET_FROM: 'reports@example.com',
      LEADSHEET_EVENTS_SECRET: EVENTS_SECRET,
      LEADSHEET_WEB_LISTEN: '127.0.0.1:0',
    }
    const begin = (files: typeof FILES): Worker =>
      follow(start({ args: ['run'], cwd: folderWith(files), env }))
    await using store = await openStore(url, new Date())
    const cwd = folderWith(FILES)
    const syncLeads = ['sync', '--full', '--only', 'leads']
    expect(await run({ args: syncLeads, cwd, env })).toMatchObject({ status: 0 })
    await makeReportDue(url)
    const next = random(SEED)
    const life = live(upstream, next)
    const workers = Array.from({ length: WORKERS }, () => begin(FILES))
    const killOne = (): void => {
      // The first worker receives the events, so it stays.
      const [gone] = workers.splice(1 + Math.floor(next() * (WORKERS - 1)), 1)
      gone?.child.kill('SIGKILL')
      workers.push(begin(FILES))
    }
    const events = openSender(upstream, () => Math.floor((next() * LEADS) / 2))
    let isOver = false
    const sending = readAddress(workers[0]?.child.stderr ?? null).then((address) =>
      events.sendUntil(address, () => isOver, REFUSALS),
    )
    // A worker that cannot reach its store at the start ends with an error.
    for (const { isUp } of workers) await isUp
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(next() * 2 * KILL_EACH_MS)
      for (const { child } of workers) expect(child.exitCode, 'a worker ended by itself').toBeNull()
      killOne()
    }
    isOver = true
    await sending
    life.end()
    const until = new Date().toISOString()
    const options = { timeout: QUIET_WITHIN_MS, interval: 1_000 }
    await expect.poll(() => listOpenScheduledRuns(store, until), options).toEqual([])
    await expect.poll(() => listLost(store, events.taken), options).toEqual([])
    await stopAll(workers)
    // This worker finishes the work of the others, and nothing new comes due.
    const last = begin(QUIET)
    await expect.poll(() => listUnsent(store), options).toEqual([])
    await stopAll([last])

    // A lead counts as deleted when two syncs have missed it.
    for (let time = 0; time < 2; time++)
      expect(await run({ args: syncLeads, cwd, env })).toMatchObject({ status: 0 })
    expect(await readCopy(store)).toEqual(listOf(upstream))
    await expectSound(url)
    const rows = await store.db.selectFrom('delivery').selectAll().orderBy('recipient').execute()
    const found = { ...compareRows(rows, sink), eventsTaken: events.taken.size }
    // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
    console.info(`killed ${KILLS} times:`, found)
    expect(found).toMatchObject({ lost: [], doubled: [], altered: [] })
    expect(rows.length).toBeGreaterThanOrEqual(RECIPIENTS.length)
    expect(rows.length % RECIPIENTS.length).toBe(0)
  })
})

/** Lists answered messages that the store does not know or has not finished. */
async function listLost({ db }: Store, taken: ReadonlySet<string>): Promise<string[]> {
  const rows = await db.selectFrom('event').where('done_at', 'is not', null).select('id').execute()
  const done = new Set(rows.map(({ id }) => id))
  return [...taken].filter((id) => !done.has(id))
}

/** Makes the upstream fail and change its leads, until `end` is called. */
function live(upstream: Upstream, next: () => number): { end(): void } {
  const now = new Date().toISOString()
  for (let number = LEADS / 2; number < LEADS; number++)
    upstream.put(number, { created_at: now, updated_at: now })
  let count = LEADS
  const timer = setInterval(() => {
    const chosen = Math.floor(next() * count)
    const at = new Date().toISOString()
    if (next() < 0.2) upstream.put(count++, { created_at: at, updated_at: at })
    else upstream.put(chosen, { score: Math.floor(next() * 101), updated_at: at })
    if (upstream.faults.length === 0 && next() < 0.1) upstream.faults.push(next() < 0.5 ? status(503) : cut)
  }, CHANGES_EACH_MS)
  return {
    end() {
      clearInterval(timer)
      upstream.faults.length = 0
    },
  }
}

/** Lists the scheduled runs that have not ended. */
function listOpenScheduledRuns({ db }: Store, until: string): Promise<object[]> {
  const open = db.selectFrom('scheduled_run').where('state', 'in', ['pending', 'running', 'held'])
  return open.where('due_at', '<=', until).select(['schedule', 'due_at', 'state']).execute()
}

/** Lists the messages that have not been sent. Unconfirmed messages may have arrived. */
function listUnsent({ db }: Store): Promise<object[]> {
  const messages = db.selectFrom('delivery').where('state', 'in', ['pending', 'sending', 'data'])
  return messages.select(['recipient', 'state']).execute()
}

type Worker = ReturnType<typeof follow>

function follow(child: ChildProcess) {
  // It resolves also if the worker ends before it has begun to work.
  const isUp = untilSaid(child.stderr, /"running"/).catch(() => null)
  return { child, end: finished(child), isUp }
}

async function stopAll(workers: readonly Worker[]): Promise<void> {
  for (const { child, isUp } of workers) {
    await isUp
    child.kill('SIGTERM')
  }
  for (const { end } of workers) expect(await end).toMatchObject({ status: 0 })
}
