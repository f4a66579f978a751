/**
 * `leadsheet demo`: runs a reference service (our implementation of the API), a sync and a report with its
 * mails under data/demo, without settings. A second run continues with the same data. `--database-url` puts
 * the local copy into PostgreSQL.
 */
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Command, Option } from 'commander'
import { openConfiguredDaemon } from '../../app/configured-daemon.ts'
import { deliveryPolicyOf } from '../../app/configured-mail.ts'
import { openReportDeps, openTemplatesOf, reportOf } from '../../app/configured-reports.ts'
import { openSourceOf, syncOptions } from '../../app/configured-upstream.ts'
import { COMPANIES, openData, pathsIn } from '../../app/installation.ts'
import { configuredPublishing } from '../../app/publishing.ts'
import type { Config } from '../../config/config.ts'
import { loadConfig } from '../../config/load.ts'
import { inSnakeCase } from '../../domain/names.ts'
import type { SyncResult } from '../../domain/sync.ts'
import { CALLED, LeadsheetError, shellCommand } from '../../errors.ts'
import { deliverIssues } from '../../jobs/outbox/send-due.ts'
import { enqueueReportNow } from '../../jobs/reports/enqueue-report.ts'
import { publishIfDue } from '../../jobs/snapshot/publish-snapshot.ts'
import { sync } from '../../jobs/sync/run-sync.ts'
import type { Log } from '../../log.ts'
import { fileNameOf, openTransport } from '../../mail/transport.ts'
import { openService, type Service } from '../../service/open.ts'
import { DAY_MS } from '../../service/simulation/calendar.ts'
import { DATA_MODE, makeFolder } from '../../store/db/file-system.ts'
import { nameOf, type StorePlace } from '../../store/db/place.ts'
import type { Store } from '../../store/db/store.ts'
import { listDeliveries } from '../../store/outbox/delivery.ts'
import { readMessage } from '../../store/outbox/stored-message.ts'
import { listRuns } from '../../store/sync/sync-run.ts'
import { addExamples } from '../command.ts'
import { endingOf, summary, withProgress } from '../commands/data/sync.ts'
import type { Terminal } from '../terminal/terminal.ts'

const FOLDER = 'data/demo'
/** The hint of the error for a folder that cannot be made. */
const FOLDER_HINT = 'Start the demo in a folder that this user may write to.'
const POSTGRES_FOLDER = 'data/demo/postgres'
const SEED = 1
// The limit is high because the demo owns the service and reads the details of all leads, one request each.
const REQUESTS_PER_MINUTE = 1_000_000
const QUERIES = [
  'SELECT name, leads, open, won, lost FROM pipeline_overview ORDER BY name',
  "SELECT company_name, score, status FROM lead_now WHERE outcome = 'open' ORDER BY score DESC LIMIT 10",
  'SELECT date(created_at) AS day, count(*) AS new_leads FROM lead GROUP BY day ORDER BY day DESC LIMIT 14',
]

const MADE_UP =
  'The names are of real companies. All else is made up: contacts, scores, deals and what became of them.'

type Step = readonly [command: string, what: string]
const WHAT_IS_NEW = 'what is new since, without reading it all again'

// The suggested next commands, which depend on where the store is.
const GO_ON_IN = {
  sqlite: [
    ['demo', WHAT_IS_NEW],
    ['demo --fresh', 'from the beginning'],
  ],
  postgres: [['demo --database-url …', WHAT_IS_NEW]],
} satisfies Record<StorePlace['kind'], readonly Step[]>
const GO_ON: readonly Step[] = [
  ['demo --serve', 'the same, and then the dashboard, which the links in the reports open'],
  ['service run', 'run only the service, with an API key for trying the commands'],
  ['init', 'write settings for your own service and recipients'],
  ['--help', 'list all commands; the README explains how to run leadsheet for real'],
]

interface DemoOptions {
  readonly fresh?: boolean
  readonly serve?: boolean
  readonly databaseUrl?: string
}

export function defineDemo(command: Command, terminal: Terminal): void {
  command
    .option('--fresh', 'delete what an earlier demo made, and start again')
    .addOption(
      new Option(
        '--database-url <url>',
        'keep the copy in PostgreSQL: postgres://user@host/database?schema=NAME (default: a file)',
      ).env('LEADSHEET_DATABASE_URL'),
    )
    .option('--serve', 'go on as the daemon, so that links in the reports open, until Ctrl-C')
    .action((options: DemoOptions) => runDemo(terminal, options))
  addExamples(command, [
    'demo',
    'demo --fresh --serve',
    'demo --database-url postgres://localhost/leads?schema=leadsheet_demo',
  ])
}

async function runDemo(
  terminal: Terminal,
  { fresh = false, serve = false, databaseUrl: address }: DemoOptions,
): Promise<void> {
  if (address !== undefined && fresh) {
    throw new LeadsheetError('usage_invalid', '--fresh is for a demo in a file', {
      hint: 'Leave --database-url (LEADSHEET_DATABASE_URL) away; in PostgreSQL another ?schema= begins afresh.',
    })
  }
  const name = address === undefined ? FOLDER : POSTGRES_FOLDER
  const folder = resolve(name)
  if (fresh) await rm(folder, { recursive: true, force: true })
  await makeFolder(folder, FOLDER_HINT, DATA_MODE)
  if (address !== undefined) await writeStoreFile(folder, address)
  const file = join(folder, 'leadsheet.yaml')
  if (!existsSync(file)) await writeFile(file, settingsOf(name, address !== undefined), { mode: 0o600 })
  // The port stays the same, because a copy is of the service at one address.
  const { url } = loadConfig({ file, cwd: folder, env: {} }).api
  await using service = await startService(terminal, folder, url === null ? 0 : Number(new URL(url).port))
  if (url === null) await writeFile(file, `api: { url: ${service.url} }\n${await readFile(file, 'utf8')}`)
  const env = { LEADSHEET_API_KEY: await service.createKey({ name: 'demo', scope: 'read' }) }
  const config = loadConfig({ file, cwd: folder, env })
  const { signal } = terminal
  await using store = await openData(config, { log: await terminal.log(), signal })
  if (store.place.kind === 'postgres') await requireOwnStore(store, folder)
  // The summary says what was done, so the log shows only warnings and errors.
  const log = (await terminal.log()).child({}, { level: 'warn' })
  const { result, reports } = await syncAndReport(terminal, config, store, log)
  const database = nameOf(store.place)
  const { snapshot } = pathsIn(folder)
  terminal.end(endingOf(result))
  terminal.show({
    data: {
      database,
      snapshot,
      settings: file,
      reports: reports.map(inSnakeCase),
      leads: result.leads,
    },
    text: textOf(terminal, result, { reports, place: store.place, snapshot, settings: file }),
  })
  if (!serve) return
  await using daemon = await openConfiguredDaemon(config, store, log)
  await daemon.run(signal, ({ web }) => terminal.note(`The dashboard is at ${web}. Ctrl-C ends the demo.`))
}

async function startService(terminal: Terminal, folder: string, port: number): Promise<Service> {
  using bar = await terminal.progress('Simulating days')
  const opening = openService({
    file: join(folder, 'service.db'),
    companiesFile: COMPANIES,
    port,
    seed: SEED,
    rateLimitPerMinute: REQUESTS_PER_MINUTE,
    onProgress: (done, total) => bar.update(Math.floor(done / DAY_MS), Math.ceil(total / DAY_MS)),
    signal: terminal.signal,
  })
  return await opening.catch((thrown: unknown) => {
    if (!(thrown instanceof LeadsheetError) || thrown.code !== 'service_port') throw thrown
    const hint = `If another demo runs, end it; else ${shellCommand('demo --fresh')} takes another port.`
    throw new LeadsheetError(thrown.code, thrown.message, { hint, cause: thrown })
  })
}

async function syncAndReport(terminal: Terminal, config: Config, store: Store, log: Log) {
  const source = openSourceOf(config, log)
  try {
    const result = await withProgress(terminal, (onProgress) =>
      sync(
        { source, store, log, now: () => new Date() },
        { ...syncOptions(config, terminal.signal), onProgress },
      ),
    )
    terminal.signal.throwIfAborted()
    const reports = await mailReports(terminal, config, store, log)
    await publishIfDue(configuredPublishing(config, store), terminal.signal)
    return { result, reports }
  } finally {
    await source.close()
  }
}

/** A report that was made, and its mails. */
interface Mailed {
  readonly subject: string
  readonly page: string | null
  readonly mails: readonly string[]
  readonly isNew: boolean
}

async function mailReports(terminal: Terminal, config: Config, store: Store, log: Log): Promise<Mailed[]> {
  const { signal } = terminal
  const templates = await openTemplatesOf(config)
  const deps = await openReportDeps(config, store, templates)
  const { outbox } = pathsIn(config.dataDir)
  await using transport = openTransport(pathToFileURL(outbox).href, { log })
  const policy = deliveryPolicyOf(config)
  const mailed: Mailed[] = []
  for (const settings of config.reports) {
    const { report, recipients } = reportOf(settings, config, templates)
    const { enqueuedIssues } = await enqueueReportNow(deps, report, recipients, deps.now(), signal)
    for (const { issue, page } of enqueuedIssues) {
      const deliveries = await deliverIssues({ ...deps, transport, log, policy }, [issue], signal)
      const mails: string[] = []
      for (const { messageId } of await listDeliveries(store.db, issue.id))
        mails.push(join(outbox, fileNameOf(await readMessage(store.db, messageId))))
      mailed.push({ subject: issue.subject, page, mails, isNew: deliveries.some(({ isNew }) => isNew) })
    }
  }
  return mailed
}

interface Made {
  readonly reports: readonly Mailed[]
  readonly place: StorePlace
  readonly snapshot: string
  readonly settings: string
}

function textOf({ style }: Terminal, result: SyncResult, { reports, place, ...made }: Made): string[] {
  const shown = (path: string): string => relative(process.cwd(), path)
  const section = (title: string, lines: readonly string[]): string =>
    [style('bold', title), ...lines.map((line) => `  ${line}`)].join('\n')
  const snapshot = shown(made.snapshot)
  const goOn = [...GO_ON_IN[place.kind], ...GO_ON]
  return [
    section('Synced', summary(result)),
    section(
      'Reported',
      reports.flatMap(({ subject, page, mails, isNew }) => [
        `${subject}${isNew ? '' : ', mailed before, so not again'}`,
        ...(page === null ? [] : [`  page  ${shown(page)}`]),
        ...mails.map((mail) => `  mail  ${shown(mail)}`),
      ]),
    ),
    section('Look at', [
      `database  ${place.kind === 'sqlite' ? shown(place.file) : place.name}`,
      `snapshot  ${snapshot}, for analysts`,
      `settings  ${shown(made.settings)}, for \`--config\``,
    ]),
    MADE_UP,
    section(
      'Ask the snapshot',
      QUERIES.map((query) => `sqlite3 ${snapshot} "${query}"`),
    ),
    section(
      'Go on',
      goOn.map(([command, what]) => `${`${CALLED} ${command}`.padEnd(40)}${what}`),
    ),
  ]
}

// A file in the demo's folder that holds the address of the demo's store. The demo's settings refer to this
// file.
const DATABASE_URL_FILE = 'database-url'
// A file with the id of the demo's store in PostgreSQL. By this id, the demo recognizes the store as its own.
const INSTALLATION_FILE = 'installation'

/**
 * Returns the settings that the demo writes, so that other commands can be tried on its data.
 * @param folder the path as shown to people
 */
function settingsOf(folder: string, isInPostgres: boolean): string {
  return `# What the demo has made: ${shellCommand(`report preview weekly --config ${folder}/leadsheet.yaml`)} and others work on it.
data_dir: .
${isInPostgres ? `database_url_file: ./${DATABASE_URL_FILE}\n` : ''}\
# These links open while ${shellCommand('demo --serve')} runs.
lead_url: http://127.0.0.1:8080/leads/{id}
time_zone: ${Intl.DateTimeFormat().resolvedOptions().timeZone}
holidays: [US]
mail: { url: file:./outbox, from: leadsheet <reports@leadsheet.example> }
goals: [{ name: Won in the month, figure: won_value, currency: USD, period: month, target: 320000 }]
recipients:
  - you@example.com
  - { address: sie@example.com, locale: de-DE }
reports:
  - name: daily
    schedule: "0 7 * * 1-5"
    attachments: [today.xlsx]
  - name: weekly
    schedule: "0 7 * * 1"
`
}

/** Writes the address of the store, so that other commands find the store through the demo's settings. */
async function writeStoreFile(folder: string, address: string): Promise<void> {
  await writeFile(join(folder, DATABASE_URL_FILE), `${address}\n`, { mode: 0o600 })
}

/**
 * Refuses a store of another installation. The demo's sync would mark the leads of that store as deleted.
 * @throws LeadsheetError usage_invalid
 */
async function requireOwnStore(store: Store, folder: string): Promise<void> {
  const file = join(folder, INSTALLATION_FILE)
  const own = existsSync(file) ? (await readFile(file, 'utf8')).trim() : null
  if (own === store.installationId) return
  if ((await listRuns(store.db, 1)).length > 0) {
    throw new LeadsheetError('usage_invalid', `${nameOf(store.place)} is in use, and not by this demo`, {
      hint: 'Name a schema of its own, such as ?schema=leadsheet_demo.',
    })
  }
  await writeFile(file, `${store.installationId}\n`)
}
