/**
 * Three real workers on one PostgreSQL, one of them killed again and again while they sync, report and mail under
 * faults: the copy is what the upstream has, each due time one row, each recipient has each report once.
 */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { findViolations } from '../../src/store/invariants.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { DKIM_KEY } from '../support/dkim.ts'
import { hourlyNotNow, makeReportDue } from '../support/due-report.ts'
import { folderWith } from '../support/folder.ts'
import { type Finished, finished } from '../support/leadsheet.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'
import { random } from '../support/random.ts'
import { migratedDatabase } from '../support/store.ts'
import { cut, startUpstream, status, type Upstream } from '../support/upstream.ts'
import { compareRows } from './outbox/comparison.ts'
import { startSink } from './outbox/run.ts'
import { run, start } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'

const WORKERS = 3
const KILLS = IS_FULL ? 24 : 4
const KILL_EACH_MS = 5_000
const LEADS = IS_FULL ? 20_000 : 3_000
const RECIPIENTS = Array.from({ length: 12 }, (_, number) => `r${100 + number}@example.org`)
/** What is put off comes minutes later. */
const FAULTS = {
  seed: SEED,
  lostReplies: 0.05,
  ...(IS_FULL
    ? { turnedAway: 0.1, refusals: 0.05, greylisted: 0.1 }
    : { turnedAway: 0, refusals: 0, greylisted: 0 }),
}
const CHANGES_EACH_MS = 150
/** What syncs and letters that wait for their next attempt may take once nobody is killed any more. */
const QUIET_WITHIN_MS = 15 * 60_000

const SETTINGS = `
api: { page_size: 100 }
sync: { every: '* * * * *', full: '*/2 * * * *' }
details: { policy: top, top: 200, per_run: 100 }
snapshot: { when: never }
mail:
  { in_doubt: resend, per_minute: 6000, dkim: { domain: example.com, selector: leadsheet, key_file: ./dkim.pem } }
recipients: [${RECIPIENTS.join(', ')}]
reports:
  - { name: daily, schedule: "${hourlyNotNow()}", period: day, wait_minutes: 0 }
  - { name: minutely, template: daily, schedule: '* * * * *', period: since_last, wait_minutes: 0 }
`

type Files = Readonly<Record<string, string>>

const FILES: Files = { 'leadsheet.yaml': SETTINGS, 'dkim.pem': DKIM_KEY.privateKey }
/** In them nothing comes due. */
const QUIET: Files = {
  ...FILES,
  'leadsheet.yaml': SETTINGS.replaceAll(/'\*(\/2)? \* \* \* \*'/g, `"${hourlyNotNow()}"`),
}

describe.skipIf(!hasPostgres)(
  `${WORKERS} workers on one PostgreSQL, one of them killed each ${KILL_EACH_MS / 1000} s, ${KILLS} times; SEED=${SEED}`,
  () => {
    it('copy all leads, run each due time once and mail each recipient once', async () => {
      const url = await newDatabase({ template: await migratedDatabase() })
      await using upstream = await startUpstream(LEADS / 2)
      const sink = await startSink(FAULTS)
      const env = {
        ...{ LEADSHEET_STORE: url, LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'key' },
        ...{ LEADSHEET_SMTP_URL: sink.url, LEADSHEET_FROM: 'reports@example.com' },
      }
      const begin = (files: Files): Worker => follow(start({ args: ['run'], cwd: folderWith(files), env }))
      await using store = await openStore(url, new Date())
      const cwd = folderWith(FILES)
      const syncLeads = ['sync', '--full', '--only', 'leads']
      expect(await run({ args: syncLeads, cwd, env })).toMatchObject({ status: 0 })
      await makeReportDue(url)
      const next = random(SEED)
      const life = live(upstream, next)
      const workers = Array.from({ length: WORKERS }, () => begin(FILES))
      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(KILL_EACH_MS)
        const [gone] = workers.splice(Math.floor(next() * WORKERS), 1)
        expect(gone?.child.exitCode, 'a worker ended by itself').toBeNull()
        gone?.child.kill('SIGKILL')
        workers.push(begin(FILES))
      }
      life.end()
      const until = new Date().toISOString()
      const options = { timeout: QUIET_WITHIN_MS, interval: 1_000 }
      await expect.poll(() => listOpenSlots(store, until), options).toEqual([])
      await stopAll(workers)
      // What its predecessors have left, and nothing new.
      const last = begin(QUIET)
      await expect.poll(() => listUnsent(store), options).toEqual([])
      await stopAll([last])

      // The first that misses a lead waits for the second.
      for (let time = 0; time < 2; time++)
        expect(await run({ args: syncLeads, cwd, env })).toMatchObject({ status: 0 })
      expect(await readCopy(store)).toEqual(listOf(upstream))
      expect(await findViolations(store.db, new Date().toISOString(), 'all')).toEqual([])
      const rows = await store.db.selectFrom('delivery').selectAll().orderBy('recipient').execute()
      const found = compareRows(rows, sink.log)
      // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
      console.info(`${KILLS} kills of one of ${WORKERS} workers:`, found, await tell(store))
      expect(found).toMatchObject({ lost: [], doubled: [], altered: [] })
      expect(rows.length).toBeGreaterThanOrEqual(RECIPIENTS.length)
      expect(rows.length % RECIPIENTS.length).toBe(0)
    }, 1_500_000)
  },
)

/** The upstream has its troubles, and its leads change, until it is told to be quiet. */
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

/** Due times of which something is still to come. */
async function listOpenSlots({ db }: Store, until: string): Promise<string[]> {
  const slots = await db
    .selectFrom('schedule_slot')
    .where('state', 'in', ['due', 'running', 'held'])
    .where('slot', '<=', until)
    .select(['schedule', 'slot', 'state'])
    .execute()
  return slots.map(({ schedule, slot, state }) => `${schedule} ${slot} ${state}`)
}

/** Letters on their way; those in doubt may have arrived. */
async function listUnsent({ db }: Store): Promise<string[]> {
  const letters = await db
    .selectFrom('delivery')
    .where('state', 'in', ['pending', 'sending', 'data'])
    .select(['recipient', 'state'])
    .execute()
  return letters.map(({ recipient, state }) => `${recipient} ${state}`)
}

interface Worker {
  readonly child: ChildProcess
  readonly end: Promise<Finished>
  /** Resolves when it has begun to work. */
  readonly isUp: Promise<void>
}

function follow(child: ChildProcess): Worker {
  const up = Promise.withResolvers<void>()
  for (const output of [child.stdout, child.stderr])
    output?.on('data', (part: Buffer) => {
      if (part.includes('"running"')) up.resolve()
    })
  return { child, end: finished(child), isUp: up.promise }
}

async function stopAll(workers: readonly Worker[]): Promise<void> {
  for (const { child, end, isUp } of workers) {
    await Promise.race([isUp, end])
    child.kill('SIGTERM')
  }
  for (const { end } of workers) expect(await end).toMatchObject({ status: 0 })
}

type Line = readonly [id: string, status: string, score: number | null, updatedAt: string]

async function readCopy({ db }: Store): Promise<Line[]> {
  const rows = await db.selectFrom('lead').where('removed_at', 'is', null).selectAll().orderBy('id').execute()
  return rows.map((row) => [row.id, row.status, row.score, row.updated_at])
}

function listOf({ leads }: Upstream): Line[] {
  const all = [...leads.values()].map(
    (lead): Line => [lead.id, lead.status, lead.score ?? null, new Date(lead.updated_at).toISOString()],
  )
  return all.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** What the runs and the due times came to. */
async function tell({ db }: Store): Promise<Record<string, number>> {
  const runs = await db.selectFrom('sync_run').select(['mode', 'outcome']).execute()
  const slots = await db.selectFrom('schedule_slot').select(['schedule', 'state', 'message']).execute()
  const words = [
    ...runs.map(({ mode, outcome }) => `${mode} ${outcome}`),
    ...slots.map(({ schedule, state, message }) => `${schedule} ${state}: ${message}`),
  ]
  return Object.fromEntries(Array.from(Map.groupBy(words, String), ([word, of]) => [word, of.length]))
}
