/**
 * Fills a store of the bench with the rows that the dashboard shows beside leads: syncs, agents, statistics
 * and issues.
 */
import Database from 'better-sqlite3'
import { STAGES } from '../../src/contract/lead.ts'
import { random } from '../support/random.ts'
import { NOW } from './history.ts'

const QUARTER_MS = 15 * 60_000
const DAY_MS = 24 * 60 * 60_000
const DAYS = 30
const SYNCS = (DAYS * DAY_MS) / QUARTER_MS
const AGENTS = 12
const ISSUES = 365

/**
 * Fills a store. A store that has been filled stays as it is.
 * @param sendReport makes and mails the report of the last day, which is then copied for the other days
 */
export async function furnish(file: string, sendReport: () => Promise<void>): Promise<void> {
  const database = new Database(file)
  const has = (table: string) => database.prepare(`SELECT 1 FROM ${table}`).get() !== undefined
  if (!has('agent')) database.transaction(() => addReadings(database))()
  const isNew = !has('report_issue')
  database.close()
  if (!isNew) return
  await sendReport()
  const again = new Database(file)
  again.transaction(() => copyIssues(again))()
  again.close()
}

function addReadings(database: Database.Database): void {
  const next = random(1)
  const pipelines = database.prepare<[], string>('SELECT id FROM pipeline').pluck().all()
  const agents = Array.from({ length: AGENTS }, (_, number) => `agent-${number}`)
  const sync =
    database.prepare(`INSERT INTO sync_run (id, started_at, finished_at, mode, parts, outcome, is_complete,
      leads_as_of, leads_seen, leads_updated, pages, requests, duration_ms)
    VALUES (?, ?, ?, 'incremental', '["leads","stats","agents"]', 'ok', 1, ?, 800, 300, 8, 30, 4000)`)
  const agent = database.prepare(`INSERT INTO agent (id, name, kind, status, observed_at, raw)
    VALUES (?, ?, 'enrichment', 'running', ?, '{}')`)
  const reading = database.prepare(
    'INSERT INTO agent_sample (agent_id, observed_at, run_id, status) VALUES (?, ?, ?, ?)',
  )
  const stat =
    database.prepare(`INSERT INTO pipeline_stat (pipeline_id, observed_at, as_of, run_id, leads, open, won, raw)
    VALUES (?, ?, ?, ?, 250000, 130000, 20000, '{}')`)
  const stage =
    database.prepare(`INSERT INTO pipeline_stage_stat (pipeline_id, observed_at, status, current, reached)
    VALUES (?, ?, ?, 1000, ?)`)
  for (const id of agents) agent.run(id, id, NOW.toISOString())
  for (let number = SYNCS - 1; number >= 0; number--) {
    const at = new Date(NOW.getTime() - number * QUARTER_MS).toISOString()
    const run = `run-${at}`
    sync.run(run, at, at, at)
    for (const id of agents) reading.run(id, at, run, next() < 0.01 ? 'failing' : 'running')
    for (const id of pipelines) {
      stat.run(id, at, at, run)
      for (const [place, { status }] of STAGES.entries())
        stage.run(id, at, status, Math.round(250_000 / (place + 1)))
    }
  }
}

/** Copies the issue with its messages to each day before. */
function copyIssues(database: Database.Database): void {
  const columnsOf = (table: string) =>
    database
      .prepare<[], { name: string }>(`PRAGMA table_info(${table})`)
      .all()
      .map(({ name }) => name)
  const copy = (table: string, changed: Readonly<Record<string, string>>, where: string) => {
    const columns = columnsOf(table)
    const values = columns.map((column) => changed[column] ?? column)
    return database.prepare(
      `INSERT INTO ${table} (${columns.join()}) SELECT ${values.join()} FROM ${table} WHERE ${where}`,
    )
  }
  const before = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, :days)`
  const [issue = ''] = database.prepare<[], string>('SELECT id FROM report_issue').pluck().all()
  const one = copy(
    'report_issue',
    {
      id: 'id || :days',
      period_from: before('period_from'),
      period_to: before('period_to'),
      rendered_at: before('rendered_at'),
    },
    'id = :issue',
  )
  const messages = copy(
    'delivery',
    { message_id: "'<' || :days || substr(message_id, 2)", issue_id: 'issue_id || :days' },
    'issue_id = :issue',
  )
  for (let number = 1; number < ISSUES; number++) {
    const values = { days: `-${number} days`, issue }
    one.run(values)
    messages.run(values)
  }
}
