/**
 * Sets up an installation to take pictures of: the reference service, daemons with a shifted clock, and a
 * week of reports. The seed and the clock decide all its data, so every run looks the same.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import PostalMime, { type Email } from 'postal-mime'
import { openService } from '../../src/service/open.ts'
import { openInTime } from '../../test/support/network/in-time.ts'
import { readAddress } from '../../test/support/process/daemon-address.ts'
import { clockAt } from '../../test/support/process/shifted-clock.ts'

export const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'src/main.ts')
export const TOKEN = 'a-token-for-the-pictures'
const POLL_MS = 200
const WITHIN_MS = 300_000
/** Monday to Thursday of the week in the pictures. The daemon sends the report of the Friday. */
const MORNINGS = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19']
const FRIDAY = '2026-11-20'

const SETTINGS = `
data_dir: data
time_zone: Europe/Berlin
mail: { url: "file:./outbox", from: Lead reports <reports@example.com> }
alerts: { recipients: [ops@example.com] }
web: { public_url: "https://reports.example.com" }
lead_url: https://crm.example.com/leads/{id}
recipients:
  - { address: ana@example.com, name: Ana Costa }
  - { address: dana@example.com, name: Dana Lopes, locale: de-DE }
reports:
  - { name: daily, schedule: every weekday at 07:00, attachments: [stalled.xlsx] }
  - { name: weekly, schedule: every Monday at 07:00 }
`

export interface Daemon {
  readonly url: string
  stop(): Promise<void>
}

export interface Installation extends AsyncDisposable {
  /** Starts a daemon and waits until it has sent the report of Friday, 20 November 2026, 07:00 in Berlin. */
  startFriday(): Promise<Daemon>
  /** Stops the service, and returns the alert that a daemon then mails to the operators. */
  loseService(): Promise<Email>
  /** Returns the last message whose file name contains `name`. */
  mail(name: string): Promise<Email>
  /** Pairs of a text that would reveal the machine and the text to show instead. */
  readonly masks: readonly (readonly [string, string])[]
}

export async function openInstallation(): Promise<Installation> {
  const cwd = mkdtempSync(join(tmpdir(), 'leadsheet-pictures-'))
  let now = new Date(`${MORNINGS[0]}T05:40:00Z`)
  const service = await openService({
    file: join(cwd, 'service.db'),
    companiesFile: join(ROOT, 'data/companies.ndjson'),
    seed: 3,
    historyDays: 130,
    rateLimitPerMinute: 1_000_000,
    now: () => now.getTime(),
  })
  let isOpen = true
  const closeService = async (): Promise<void> => {
    if (!isOpen) return
    isOpen = false
    await upstream.close()
    await service.close()
  }
  const settings = join(cwd, 'leadsheet.yaml')
  writeFileSync(settings, SETTINGS)
  utimesSync(settings, now, now)
  const upstream = await openInTime(service.url, () => now)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: cwd,
    TZ: 'UTC',
    LEADSHEET_API_URL: upstream.url,
    LEADSHEET_WEB_LISTEN: '127.0.0.1:0',
    LEADSHEET_WEB_TOKEN: TOKEN,
    LEADSHEET_API_KEY: await service.createKey({ name: 'pictures', scope: 'read' }),
  }
  const start = (args: readonly string[], clock: Readonly<Record<string, string>>): ChildProcess =>
    spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...env, ...clock } })
  const run = async (...args: string[]): Promise<void> => {
    const child = start(args, clockAt(now.toISOString()))
    const [[status], out, errors] = await Promise.all([
      once(child, 'close'),
      textOf(child.stdout),
      textOf(child.stderr),
    ])
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${out}${errors}`)
  }
  const outbox = join(cwd, 'data/outbox')
  mkdirSync(outbox, { recursive: true })
  const filesOf = (name: string) =>
    readdirSync(outbox)
      .filter((file) => file.includes(name))
      .sort()
  const mail = async (name: string): Promise<Email> =>
    PostalMime.parse(readFileSync(join(outbox, filesOf(name).at(-1) ?? `no ${name}`)))
  const startDaemon = async (instant: string): Promise<Daemon> => {
    const child = start(['run'], clockAt(instant))
    const url = await readAddress(child.stderr)
    child.stdout?.resume()
    return { url, stop: () => stop(child) }
  }
  for (const day of MORNINGS) {
    now = new Date(`${day}T05:55:00Z`)
    await service.catchUp()
    await run('sync')
    now = new Date(`${day}T06:00:00Z`)
    if (day === MORNINGS[0]) await run('report', 'send', 'weekly')
    await run('report', 'send', 'daily')
  }
  return {
    masks: [
      [cwd, '/var/lib/leadsheet'],
      [hostname(), 'db1'],
      [upstream.url.replace(/\/api.*/, ''), 'https://leads.example.com'],
      [upstream.url.replace(/\/api.*/, '').replace('http://', ''), 'leads.example.com'],
    ],
    mail,
    async startFriday() {
      now = new Date(`${FRIDAY}T05:58:00Z`)
      await service.catchUp()
      await run('sync')
      const daemon = await startDaemon(`${FRIDAY}T05:59:30Z`)
      await until(() => filesOf(`${FRIDAY}-daily-`).length === 2)
      return daemon
    },
    async loseService() {
      await closeService()
      const before = filesOf('ops-example.com').length
      now = new Date(`${FRIDAY}T09:14:40Z`)
      const daemon = await startDaemon(now.toISOString())
      await until(() => filesOf('ops-example.com').length > before)
      await daemon.stop()
      return mail('ops-example.com')
    },
    async [Symbol.asyncDispose]() {
      await closeService()
      rmSync(cwd, { recursive: true })
    },
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
}

async function until(isReached: () => boolean): Promise<void> {
  const end = performance.now() + WITHIN_MS
  while (!isReached()) {
    if (performance.now() > end) throw new Error('what was waited for did not come')
    await sleep(POLL_MS)
  }
}

function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? Promise.resolve('') : text(stream)
}
