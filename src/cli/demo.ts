/**
 * `leadsheet demo`: the main job on embedded defaults. A reference service of its own, a sync, yesterday's
 * report and its mail, all under data/demo; run again, it goes on from there.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { contentFor, deliverEdition, enqueueEdition } from '../jobs/deliver.ts'
import { archiveEdition, makeEdition, type Report } from '../jobs/edition.ts'
import { letterFor } from '../jobs/letter.ts'
import { publishIfDue } from '../jobs/publish.ts'
import { SYNC_PARTS, sync } from '../jobs/sync.ts'
import type { Log } from '../log.ts'
import { fileNameOf } from '../mail/directory.ts'
import { openTransport } from '../mail/transport.ts'
import type { SyncResult } from '../model.ts'
import { openTemplates } from '../report/templates.ts'
import { openService, type Service } from '../service/open.ts'
import { openSource } from '../source/open.ts'
import { REFERENCE_PROFILE } from '../source/reference-profile.ts'
import { addExamples } from './command.ts'
import { COMPANIES, openData, pathsIn, TEMPLATES } from './installation.ts'
import { publishDeps } from './publishing.ts'
import { endingOf, summary, withProgress } from './sync.ts'
import type { Terminal } from './terminal.ts'

const FOLDER = 'data/demo'
const SEED = 1
/** Leads, the best ones, whose details are read. */
const DETAILS = 200
const RECIPIENT = 'you@example.com'
const SENDER = {
  from: 'leadsheet <reports@leadsheet.example>',
  replyTo: null,
  unsubscribe: { mailto: 'reports@leadsheet.example', url: null },
}

const QUERIES = [
  'SELECT name, leads, open, won, lost FROM pipeline_overview ORDER BY name',
  "SELECT company_name, score, status FROM lead_now WHERE outcome = 'open' ORDER BY score DESC LIMIT 10",
  'SELECT date(created_at) AS day, count(*) AS new_leads FROM lead GROUP BY day ORDER BY day DESC LIMIT 14',
]

export function defineDemo(command: Command, terminal: Terminal): void {
  command
    .option('--fresh', 'start over: forget what the demo made before')
    .action((options: { readonly fresh?: boolean }) => runDemo(terminal, options.fresh === true))
  addExamples(command, ['demo', 'demo --fresh'])
}

async function runDemo(terminal: Terminal, isFresh: boolean): Promise<void> {
  const folder = resolve(FOLDER)
  if (isFresh) await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await using service = await startService(terminal, folder)
  // The summary tells what was done; only what is wrong needs a line beside it.
  const log = (await terminal.log()).child({}, { level: 'warn' })
  const { result, mail, page, subject, isNew } = await syncAndReport(terminal, folder, service, log)
  if (terminal.json) {
    const { database, snapshot } = pathsIn(folder)
    terminal.printJson({ database, snapshot, mail, page, subject, leads: result.leads })
  } else {
    const shown = (path: string): string => relative(process.cwd(), path)
    printSummary(terminal, result, {
      subject,
      isNew,
      database: shown(pathsIn(folder).database),
      snapshot: shown(pathsIn(folder).snapshot),
      mail: shown(mail),
      page: shown(page),
    })
  }
  terminal.end(endingOf(result))
}

async function startService(terminal: Terminal, folder: string): Promise<Service> {
  using bar = await terminal.progress('Simulating 90 days')
  return await openService({
    file: join(folder, 'service.db'),
    companiesFile: COMPANIES,
    port: 0,
    seed: SEED,
    onProgress: (done, total) => bar.update(done, total),
  })
}

async function syncAndReport(terminal: Terminal, folder: string, service: Service, log: Log) {
  const { archive, outbox } = pathsIn(folder)
  const now = (): Date => new Date()
  const apiKey = await service.createKey({ name: 'demo', scope: 'read' })
  const source = openSource({ baseUrl: service.url, apiKey, maxWaitMs: 60_000, log })
  await using store = await openData({ dataDir: folder, allowNetworkFs: true })
  try {
    const result = await withProgress(terminal, (onProgress) =>
      sync(
        { source, store, log, now },
        {
          full: false,
          parts: SYNC_PARTS,
          pageSize: 100,
          overlapMs: 10 * 60_000,
          pipelineIds: [],
          details: { top: DETAILS, perRun: DETAILS, concurrency: 4 },
          signal: terminal.signal,
          onProgress,
        },
      ),
    )
    terminal.signal.throwIfAborted()
    const templates = await openTemplates(TEMPLATES)
    const edition = await makeEdition({ store, templates, now }, dailyReport(), now())
    const page = await archiveEdition(archive, edition)
    await using transport = openTransport(pathToFileURL(outbox).href, { log })
    await enqueueEdition({ store, templates }, dailyReport(), edition, [RECIPIENT], SENDER)
    const [delivery] = await deliverEdition({ store, transport, log, now }, edition, terminal.signal)
    await publishIfDue(
      publishDeps({ dataDir: folder, profile: REFERENCE_PROFILE, keep: 0 }, store, log),
      terminal.signal,
    )
    const content = contentFor({ templates }, dailyReport(), edition, RECIPIENT)
    const letter = letterFor(store, edition, RECIPIENT, content, SENDER)
    return {
      result,
      page,
      subject: edition.subject,
      mail: join(outbox, fileNameOf(letter)),
      isNew: delivery?.isNew === true,
    }
  } finally {
    await source.close()
  }
}

function dailyReport(): Report {
  return {
    name: 'daily',
    template: 'daily',
    title: 'Daily leads',
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    pipelines: [],
    stalledDays: 7,
    topScore: 80,
  }
}

function printSummary(
  terminal: Terminal,
  result: SyncResult,
  made: {
    readonly subject: string
    readonly isNew: boolean
    readonly database: string
    readonly snapshot: string
    readonly mail: string
    readonly page: string
  },
): void {
  const title = (text: string): string => terminal.style('bold', text)
  terminal.print(
    ...[title('Synced'), ...summary(result).map((line) => `  ${line}`), ''],
    ...[title('Reported'), `  ${made.subject}`, ...(made.isNew ? [] : ['  mailed before, so not again']), ''],
    ...[
      title('Look at'),
      `  mail      ${made.mail}`,
      `  page      ${made.page}`,
      `  database  ${made.database}`,
      `  snapshot  ${made.snapshot}, for analysts`,
      '',
    ],
    ...[title('Ask the snapshot'), ...QUERIES.map((query) => `  sqlite3 ${made.snapshot} "${query}"`), ''],
    title('Go on'),
    '  npm run demo                            what is new since, without reading it all again',
    '  npm run demo -- --fresh                 from the beginning',
    '  npm run -s leadsheet -- serve           the service alone, with an API key to try the commands on',
    '  npm run -s leadsheet -- --help          all commands; the README tells how to run it for real',
  )
}
