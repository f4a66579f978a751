/**
 * `leadsheet demo --live`: the reference service plays a past working day in fast motion and sends webhooks.
 * A daemon without scheduled syncs receives the webhooks, and each change is printed when it reaches the
 * local copy.
 */
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openConfiguredDaemon } from '../../app/configured-daemon.ts'
import { openSourceOf, syncOptions } from '../../app/configured-upstream.ts'
import { COMPANIES, openData, storeAddressOf } from '../../app/installation.ts'
import type { Config } from '../../config/config.ts'
import { loadConfig } from '../../config/load.ts'
import { EVENT_TYPES } from '../../contract/webhook.ts'
import type { SyncResult } from '../../domain/sync.ts'
import { CALLED, LeadsheetError, shellCommand } from '../../errors.ts'
import { registerSelf } from '../../jobs/events/register-webhook.ts'
import { registrationFile } from '../../jobs/events/webhook-registration.ts'
import { sync } from '../../jobs/sync/run-sync.ts'
import { counted } from '../../report/words/numbers.ts'
import type { Service } from '../../service/open.ts'
import { openService } from '../../service/open.ts'
import { DAY_MS, HOUR_MS, isWeekend, startOfDay } from '../../service/simulation/calendar.ts'
import { DATA_MODE, makeFolder } from '../../store/db/file-system.ts'
import type { Store } from '../../store/db/store.ts'
import type { EventNews } from '../../store/events/event-stats.ts'
import { countEvents, listEvents } from '../../store/events/event-stats.ts'
import { openStore } from '../../store/open.ts'
import { findHolder } from '../../store/schedule/lease.ts'
import type { Source } from '../../upstream/source.ts'
import { formatChange } from '../../web/dashboard/status/events.ts'
import { WEBHOOK_PATH } from '../../web/webhooks.ts'
import { summary, withProgress } from '../commands/data/sync.ts'
import { localTime, plainText } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Simulated seconds per second. At this speed a lead changes every second or two during office hours. */
export const LIVE_SPEED = 120
/** The hint of the error for a folder that cannot be made. */
export const FOLDER_HINT = 'Start the demo in a folder that this user may write to.'

const FOLDER = 'data/demo/live'
const SEED = 1
// The hour of the day, in UTC, at which the simulation starts. Offices in Europe and America are open then.
const BUSY_HOUR = 14
// The minimum time between the start of the simulation and the present, so that there is enough to watch.
const LEAST_PLAYED_MS = 8 * HOUR_MS
const FIRST_PORT = 8090
const PORTS = 100

/** Returns the text of the daemon's settings file. Other commands can use the file too. */
function settingsOf(serviceUrl: string, port: number): string {
  return `# Of \`demo --live\`, while it runs: ${shellCommand('webhooks list --config data/demo/live/leadsheet.yaml')} and others look at it.
api: { url: "${serviceUrl}", key_file: ./api-key }
data_dir: .
time_zone: ${Intl.DateTimeFormat().resolvedOptions().timeZone}
web: { listen: "127.0.0.1:${port}", public_url: "http://127.0.0.1:${port}" }
# Once a year: what comes, comes by events.
sync: { schedule: 0 4 1 1 *, full_schedule: 0 5 1 1 * }
enrichment: { per_run: 50 }
snapshot: { when: never }
reports: []
`
}

/** @throws LeadsheetError job_busy if a live demo runs already */
export async function runLiveDemo(terminal: Terminal, speed: number): Promise<void> {
  const folder = resolve(FOLDER)
  await clear(folder)
  const playFrom = lastBusyHour(new Date())
  const changes = createLiveChanges(terminal)
  await using service = await startService(terminal, folder, { playFrom, speed, changes })
  const config = await writeSettings(folder, service)
  const log = (await terminal.log()).child({}, { level: 'warn' })
  await using store = await openData({ ...config, allowNetworkFs: true }, { log, signal: terminal.signal })
  const source = openSourceOf(config, log)
  try {
    const result = await withProgress(terminal, (onProgress) =>
      sync(
        { source, store, log, now: () => new Date() },
        { ...syncOptions(config, terminal.signal), onProgress },
      ),
    )
    await using daemon = await openConfiguredDaemon(config, store, log)
    const over = new AbortController()
    let telling = Promise.resolve()
    const running = daemon.run(terminal.signal, async ({ web }) => {
      // No event reports the changes between the first sync above and this registration. The daemon reads
      // them, because it starts with a sync.
      await register(config, source, terminal.signal)
      printWhere(terminal, { result, config, service: service.url, web, playFrom, speed })
      telling = changes.tell(store, over.signal)
    })
    await running.finally(async () => {
      over.abort()
      await telling
    })
  } finally {
    await source.close()
  }
}

/**
 * Empties the folder, because a service that continues with yesterday's data would show no changes at first.
 * @throws LeadsheetError job_busy if a live demo runs already
 */
async function clear(folder: string): Promise<void> {
  const database = storeAddressOf({ dataDir: folder, databaseUrl: null })
  if (existsSync(database)) {
    await using store = await openStore(database, new Date())
    const holder = await findHolder(store.db, new Date())
    if (holder !== undefined) {
      throw new LeadsheetError('job_busy', `demo --live is already running: process ${holder.pid}`, {
        hint: 'Stop it by Ctrl-C where it runs.',
      })
    }
  }
  await rm(folder, { recursive: true, force: true })
  await makeFolder(folder, FOLDER_HINT, DATA_MODE)
}

/** Returns the latest time at `BUSY_HOUR` that is on a weekday and at least `LEAST_PLAYED_MS` ago. */
function lastBusyHour(now: Date): Date {
  let at = startOfDay(now.getTime()) + BUSY_HOUR * HOUR_MS
  while (isWeekend(at) || now.getTime() - at < LEAST_PLAYED_MS) at -= DAY_MS
  return new Date(at)
}

async function startService(
  terminal: Terminal,
  folder: string,
  {
    playFrom,
    speed,
    changes,
  }: { readonly playFrom: Date; readonly speed: number; readonly changes: LiveChanges },
): Promise<Service> {
  using bar = await terminal.progress('Simulating days')
  return await openService({
    file: join(folder, 'service.db'),
    companiesFile: COMPANIES,
    ...{ seed: SEED, playFrom, speed, webhooksToLoopback: true, onPlayed: changes.notePlayed },
    onProgress: (done, total) => bar.update(Math.floor(done / DAY_MS), Math.ceil(total / DAY_MS)),
    signal: terminal.signal,
  })
}

async function writeSettings(folder: string, service: Service): Promise<Config> {
  const file = join(folder, 'leadsheet.yaml')
  const key = await service.createKey({ name: 'demo --live', scope: 'write' })
  await writeFile(join(folder, 'api-key'), `${key}\n`, { mode: 0o600 })
  await writeFile(file, settingsOf(service.url, await findFreePort()), { mode: 0o600 })
  return loadConfig({ file, cwd: folder, env: {} })
}

/**
 * Finds a free port for the dashboard. The operating system cannot choose the port when the dashboard starts,
 * because the settings file must name the port earlier. The system chooses higher ports than the ports tried
 * here.
 */
async function findFreePort(): Promise<number> {
  for (let port = FIRST_PORT; port < FIRST_PORT + PORTS; port++) {
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
  throw new LeadsheetError(
    'web_port',
    `None of the ports ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1} is free`,
    { hint: 'Stop what listens there.' },
  )
}

/** Registers the webhook like `webhooks register --self`. */
async function register(config: Config, source: Source, signal: AbortSignal): Promise<void> {
  const url = `${config.web.publicUrl}${WEBHOOK_PATH}`
  const own = { source, file: registrationFile(config.dataDir), now: () => new Date() }
  await registerSelf({ ...own, url, events: EVENT_TYPES }, signal)
}

interface Where {
  readonly result: SyncResult
  readonly config: Config
  readonly service: string
  readonly web: string | null
  readonly playFrom: Date
  readonly speed: number
}

function printWhere(terminal: Terminal, { result, config, service, web, playFrom, speed }: Where): void {
  const database = storeAddressOf(config)
  const webhook = `${config.web.publicUrl}${WEBHOOK_PATH}`
  if (terminal.json) {
    const where = { dashboard: web, webhook, service, database, settings: config.file }
    terminal.print(JSON.stringify({ data: { ...where, play_from: playFrom.toISOString(), speed } }))
    return
  }
  const title = (text: string): string => terminal.style('bold', text)
  const shown = (path: string): string => relative(process.cwd(), path)
  const settings = shown(config.file ?? '')
  const minutes = Math.ceil((Date.now() - playFrom.getTime()) / (speed - 1) / 60_000)
  terminal.print(
    ...[title('Synced'), ...summary(result).map((line) => `  ${line}`), ''],
    title('Look at'),
    `  dashboard ${title(web ?? '')}`,
    `  database  ${shown(database)}`,
    `  settings  ${settings}, for other commands in another terminal, such as`,
    `            ${CALLED} webhooks list --config ${settings}`,
    '',
    title('Live'),
    `  The service goes on from ${localTime(playFrom, config.timeZone)}, ${speed} times as fast as time passes, until`,
    `  it is at the present in ${minutes} min. It tells of each change by a webhook, ${webhook};`,
    '  nobody polls. Each line is a lead: when its change was in the copy, how long after the service had',
    '  it, and what it is. Ctrl-C ends it.',
    '',
  )
}

/* Prints each lead that an event has changed in the local copy, as soon as the change is stored. */

interface LiveChanges {
  /** Records that the service has now played all its changes up to the simulated time `until`. */
  notePlayed(until: Date): void
  /** Prints changes until the signal aborts, and then a summary. */
  tell(store: Pick<Store, 'db'>, signal: AbortSignal): Promise<void>
}

const LOOK_MS = 100
// The maximum number of events to read at once. Fewer events arrive between two reads of the store.
const EVENTS_MAX = 200
// The time for which played changes are remembered, so that the delay of webhook messages can be measured.
const REMEMBERED_MS = 60 * 60_000
const NAME_CELLS = 32

/**
 * Progress of the simulation: at the real time `at` (Unix ms), the service had played all its changes up to
 * the simulated time `until`.
 */
interface Played {
  readonly until: string
  readonly at: number
}

/** @param now the clock of the local copy, in Unix ms */
export function createLiveChanges(
  terminal: Pick<Terminal, 'json' | 'print'>,
  now: () => number = Date.now,
): LiveChanges {
  const played: Played[] = []
  const printed = new Set<string>()
  const seconds: number[] = []

  function printNew(events: readonly EventNews[]): void {
    for (const event of events.toReversed()) {
      // Several events of a lead can cause a single read of the lead. Only one of these events is printed.
      const landing = `${event.resourceId} ${event.doneAt}`
      if (!isLanded(event) || printed.has(landing)) continue
      printed.add(landing)
      const after = (Date.parse(event.doneAt) - happenedAt(event, played)) / 1000
      seconds.push(after)
      terminal.print(terminal.json ? jsonOf(event, after) : lineOf(event, after))
    }
  }

  return {
    notePlayed(until) {
      const at = now()
      played.push({ until: until.toISOString(), at })
      while ((played[0]?.at ?? at) < at - REMEMBERED_MS) played.shift()
    },
    async tell({ db }, signal) {
      let seen = -1
      while (!signal.aborted) {
        const counts = await countEvents(db)
        const done = counts.reduce((sum, { events }) => sum + events, 0)
        if (done !== seen) printNew(await listEvents(db, EVENTS_MAX))
        seen = done
        await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)
      }
      if (!terminal.json) terminal.print('', ending(seconds))
    },
  }
}

type Landed = EventNews & { readonly doneAt: string }

function isLanded(event: EventNews): event is Landed {
  const changes: readonly (string | null)[] = ['inserted', 'updated', 'deleted']
  return event.resource === 'lead' && event.doneAt !== null && changes.includes(event.outcome)
}

/**
 * Returns the real time (Unix ms) at which the service had made the change. If that time is unknown, returns
 * the time at which the event arrived.
 */
function happenedAt({ occurredAt, receivedAt }: EventNews, played: readonly Played[]): number {
  const first = played.find(({ until }) => occurredAt !== null && occurredAt <= until)
  return first?.at ?? Date.parse(receivedAt)
}

/** Formats a change: `14:02:07    0.30 s  Acme Ltd.    qualified → contacted`. */
function lineOf(event: Landed, after: number): string {
  const time = new Date(event.doneAt).toLocaleTimeString('en-GB')
  const name = plainText(event.name ?? event.resourceId).slice(0, NAME_CELLS)
  return `${time}  ${after.toFixed(2).padStart(6)} s  ${name.padEnd(NAME_CELLS)}  ${changeOf(event)}`
}

function changeOf({ outcome, change }: EventNews): string {
  if (outcome === 'deleted') return 'deleted'
  const fields = formatChange(change) ?? 'other details'
  return outcome === 'inserted' ? `new, ${fields}` : fields
}

function jsonOf(event: Landed, after: number): string {
  const data = {
    ...{ at: event.doneAt, lead: event.resourceId, company: event.name, outcome: event.outcome },
    ...{ from: event.change?.before?.status ?? null, to: event.change?.after.status ?? null },
    ...{ change: changeOf(event), event: event.id, type: event.type, seconds: after },
  }
  return JSON.stringify({ data })
}

function ending(seconds: readonly number[]): string {
  if (seconds.length === 0) return 'No lead has changed.'
  const sorted = seconds.toSorted((one, other) => one - other)
  const at = (share: number): string => (sorted[Math.ceil(share * sorted.length) - 1] ?? 0).toFixed(2)
  return `${counted(seconds.length, 'change')} came by events: half of them within ${at(0.5)} s, the slowest within ${at(1)} s.`
}
