// @long
/** Events on their whole way: the service that sends them, a real daemon process, and the copy. */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import type { WireLead } from '../src/contract/lead.ts'
import type { WireWebhook, WireWebhookAttempt } from '../src/contract/webhook.ts'
import { openService } from '../src/service/open.ts'
import { folderWith } from './support/folder.ts'
import { startLeadsheet } from './support/leadsheet.ts'
import { freePort } from './support/network/free-port.ts'
import { readAddress } from './support/process/daemon-address.ts'
import { runWarm } from './support/process/warm-leadsheet.ts'
import { COMPANIES } from './support/service.ts'

const DAY_MS = 86_400_000
/**
 * A second of the test is an hour of the service, so that hours pass within the allowed difference of clocks.
 */
const SPEED = 3600
const LOOK_MS = 20

it('a change is in the copy by its event, without a sync, and by another attempt where no daemon was there', async () => {
  const listen = `127.0.0.1:${await freePort()}`
  await using upstream = await openUpstream()
  const cwd = folderWith({
    'leadsheet.yaml': `
data_dir: data
api: { url: "${upstream.url}", key: ${upstream.key} }
web: { listen: "${listen}", public_url: "http://${listen}" }
sync: { schedule: 0 4 1 1 *, full_schedule: 0 5 1 1 * }
enrichment: { policy: none }
snapshot: { when: never }
reports: []
`,
  })
  const run = async (...args: string[]) => {
    const { status, stdout, stderr } = await runWarm(args, { cwd })
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
    return stdout
  }
  const startDaemon = async () => {
    const daemon = startLeadsheet(['run'], { cwd, env: { LEADSHEET_WEB_LISTEN: listen } })
    await readAddress(daemon.stderr)
    return daemon
  }
  const first = await startDaemon()
  const copy = new Database(join(cwd, 'data', 'leadsheet.db'), { readonly: true })
  onTestFinished(() => void copy.close())
  const count = (query: string) => copy.prepare<[], number>(query).pluck().get()
  await until(() => count('SELECT count(*) FROM sync_run WHERE finished_at IS NOT NULL') === 1)
  expect(await run('webhooks', 'register', '--self')).toContain(`http://${listen}/webhooks/leads`)

  const before = await upstream.now()
  await upstream.pass(2_000)
  const changed = await upstream.changedSince(before)
  expect(changed.length).toBeGreaterThan(3)
  await until(() => isCopied(copy, changed))

  first.kill('SIGTERM')
  await once(first, 'exit')
  const stopped = await upstream.now()
  await upstream.pass(2_000)
  await until(async () => (await upstream.attempts()).some(({ outcome }) => outcome === 'failed'))
  const missed = await upstream.changedSince(stopped)
  expect(isCopied(copy, missed)).toBe(false)
  await startDaemon()
  // The second attempt is due five seconds after the first, with up to half a second more.
  await upstream.pass(6_000)
  await until(async () => isCopied(copy, await upstream.changedSince(before)))

  expect(count('SELECT count(*) FROM sync_run')).toBe(1)
  const ids = JSON.stringify([...changed, ...missed].map(({ id }) => id))
  expect(
    count(`SELECT count(*) FROM json_each('${ids}')
      WHERE value NOT IN (SELECT resource_id FROM event WHERE done_at IS NOT NULL)`),
  ).toBe(0)
})

interface Upstream extends AsyncDisposable {
  readonly url: string
  readonly key: string
  /** The service's clock, which stands until it is moved. */
  now(): string
  /** Lets time pass. The events of this time can be read, and are sent. */
  pass(ms: number): Promise<void>
  changedSince(instant: string): Promise<WireLead[]>
  /** Returns the attempts of the only webhook. */
  attempts(): Promise<WireWebhookAttempt[]>
}

async function openUpstream(): Promise<Upstream> {
  const clock = { ms: Date.now() }
  const service = await openService({
    file: join(folderWith(), 'service.db'),
    companiesFile: COMPANIES,
    historyDays: 20,
    now: () => clock.ms,
    speed: SPEED,
    playFrom: workday(clock.ms),
    webhooksToLoopback: true,
  })
  const key = await service.createKey({ name: 'test', scope: 'write' })
  const get = async <T>(path: string): Promise<T[]> => {
    const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } })
    return ((await answer.json()) as { data: T[] }).data
  }
  return {
    url: service.url,
    key,
    now: () => service.now().toISOString(),
    async pass(ms) {
      clock.ms += ms
      await service.catchUp()
    },
    changedSince: (instant) => get(`/leads?limit=1000&updated_since=${instant}`),
    async attempts() {
      const [webhook] = await get<WireWebhook>('/webhooks')
      return get(`/webhooks/${webhook?.id}/attempts`)
    },
    [Symbol.asyncDispose]: () => service.close(),
  }
}

/** Returns a time before the busiest hours of a working day that ended at least a day ago. */
function workday(now: number): Date {
  let at = Math.floor(now / DAY_MS) * DAY_MS - 2 * DAY_MS
  while (new Date(at).getUTCDay() % 6 === 0) at -= DAY_MS
  return new Date(at + (13 * DAY_MS) / 24)
}

function isCopied(copy: Database.Database, leads: readonly WireLead[]): boolean {
  const find = copy.prepare<[string], { status: string; updated_at: string }>(
    'SELECT status, updated_at FROM lead WHERE id = ?',
  )
  return leads.every(({ id, status, updated_at }) => {
    const found = find.get(id)
    return found?.status === status && found.updated_at === updated_at
  })
}

async function until(isReached: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isReached())) await delay(LOOK_MS)
}
