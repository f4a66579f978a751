/**
 * How long the mails of a report take, from the figures to the messages in the ledger, and how much memory:
 * `npx node test/bench/mailing.ts [recipients] [filters] [leads]`, by default 1,000 recipients of two languages with
 * 50 filters on 100,000 leads. A tenth of the recipients goes first: what they need is what all of them need.
 */
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import type { LeadFilter } from '../../src/domain/figures.ts'
import { enqueueReportNow, type MailingDeps } from '../../src/jobs/reports/enqueue-report.ts'
import type { Recipient, Report } from '../../src/jobs/reports/report-definition.ts'
import { openArchivePages } from '../../src/report/archive/pages.ts'
import { openTemplates } from '../../src/report/render/templates.ts'
import type { Store } from '../../src/store/db/store.ts'
import { openStore } from '../../src/store/open.ts'
import { DAILY } from '../support/mailing.ts'
import { SENDER } from '../support/message.ts'
import { generateHistory, NOW } from './history.ts'

const COUNTRIES = 20
const [recipients = 1000, filters = 50, leads = 100_000] = process.argv.slice(2).map(Number)

const folder = await mkdtemp(join(tmpdir(), 'leadsheet-mailing-'))
try {
  const file = join(folder, 'leadsheet.db')
  await copyFile(await generateHistory(leads, 1), file)
  addSync(file)
  await using store = await openStore(file, NOW)
  const templates = await openTemplates('templates')
  const deps: MailingDeps = {
    ...{ store, templates, sender: SENDER, maxBytes: 20_000_000, program: '0.0.0', now: () => NOW },
    archive: { folder: join(folder, 'archive'), pages: await openArchivePages('templates') },
  }
  const { blocks } = templates.definition('daily')
  console.log('recipients\tfilters\tseconds\tof CPU\tMB resident at most\tMB more in the database')
  for (const [index, count] of [Math.ceil(recipients / 10), recipients].entries()) {
    const report: Report = {
      ...{ name: `daily-${index}`, template: 'daily', title: 'Daily leads', kind: 'day', sendWhen: 'always' },
      ...{ timeZone: 'Europe/Berlin', locale: 'en-GB', filter: filterOf(0), blocks, attachments: [] },
      ...{ holidays: [], queries: [], stalledDays: 7, topScore: 80, leadUrl: null, gate: DAILY.gate },
    }
    const before = await sizeOf(store)
    const begun = { ms: performance.now(), cpu: process.cpuUsage() }
    await enqueueReportNow(deps, report, recipientsOf(report, count), NOW, new AbortController().signal)
    const seconds = (performance.now() - begun.ms) / 1000
    const { user, system } = process.cpuUsage(begun.cpu)
    const more = ((await sizeOf(store)) - before) / 1e6
    const times = [seconds.toFixed(1), ((user + system) / 1e6).toFixed(1)]
    const resident = (process.resourceUsage().maxRSS / 1000).toFixed(0)
    console.log([count, Math.min(filters, count), ...times, resident, more.toFixed(1)].join('\t'))
  }
} finally {
  await rm(folder, { recursive: true })
}

function recipientsOf({ timeZone, blocks }: Report, count: number): Recipient[] {
  return Array.from({ length: count }, (_, number) => ({
    ...{
      address: `reader-${number}@example.com`,
      name: `Reader ${number}`,
      timeZone,
      blocks,
      filter: filterOf(number % filters),
    },
    locale: number % 4 === 0 ? 'de-DE' : 'en-GB',
    attachments: number % 10 === 0 ? ['stalled.xlsx'] : [],
  }))
}

/** A country, or a country and the better leads of it; the first is all leads. */
function filterOf(number: number): LeadFilter {
  if (number === 0) return { pipelineIds: null, conditions: [] }
  const country = { field: 'company_country', in: [`Country ${number % COUNTRIES}`] }
  const score = { field: 'score', min: number, max: null }
  return { pipelineIds: null, conditions: number < COUNTRIES ? [country] : [country, score] }
}

async function sizeOf({ db }: Store): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size`.execute(db)
  return rows[0]?.bytes ?? 0
}

/** So that the leads count as read whole. */
function addSync(path: string): void {
  const database = new Database(path)
  const now = NOW.toISOString()
  database
    .prepare(`INSERT INTO sync_run (id, started_at, finished_at, mode, parts, outcome, is_complete, leads_as_of)
      VALUES ('run', ?, ?, 'full', 'leads', 'ok', 1, ?)`)
    .run(now, now, now)
  database.close()
}
