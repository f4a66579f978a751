/** A store with generated history. Its file is used again by later runs with the same numbers and schema. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { STAGES } from '../../src/contract/lead.ts'
import { COUNT_ALL_DAYS } from '../../src/store/leads/lead-day.ts'
import { SET_REACHED } from '../../src/store/leads/reached.ts'
import { openStore } from '../../src/store/open.ts'
import { random } from '../support/random.ts'

/** The end of the history. */
export const NOW = new Date('2026-11-21T07:00:00Z')
const SPAN_MS = 2 * 365 * 86_400_000
const MOVES_MAX = 6
const PIPELINES = 4
const COUNTRIES = 40
const SOURCES = 6

/** @returns the file: so many leads with 3 moves each, over two years. Copy it before a change */
export async function generateHistory(folder: string, leads: number, seed = 1): Promise<string> {
  await mkdir(folder, { recursive: true })
  const unfinished = join(folder, `history-${process.pid}.db`)
  await rm(unfinished, { force: true })
  await (await openStore(unfinished, NOW)).close()
  const file = join(folder, `history-${leads}-${seed}-${schemaHash(unfinished)}.db`)
  try {
    if (!existsSync(file)) {
      generate(unfinished, leads, seed)
      await rename(unfinished, file)
    }
  } finally {
    await rm(unfinished, { force: true })
  }
  return file
}

function schemaHash(file: string): string {
  const database = new Database(file)
  const schema =
    database.prepare<[], string>('SELECT group_concat(sql) FROM sqlite_schema').pluck().get() ?? ''
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  return createHash('sha256').update(schema).digest('hex').slice(0, 8)
}

/** Writes history directly into the tables, because syncing it would take an hour. */
function generate(path: string, leads: number, seed: number): void {
  const database = new Database(path)
  database.pragma('synchronous = OFF')
  database.pragma('foreign_keys = OFF')
  const next = random(seed)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T
  const indexes = database
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('lead', 'stage_move', 'lead_history')`,
    )
    .all()
  database.exec(`BEGIN; ${indexes.map(({ name }) => `DROP INDEX "${name}"`).join(';')}; COMMIT; BEGIN`)
  const stage = database.prepare('INSERT INTO stage VALUES (?, ?, ?, ?, ?)')
  for (const [position, { status, outcome }] of STAGES.entries()) {
    stage.run(status, position, outcome, position < 7 ? 1 : 0, position >= 2 && position < 7 ? 1 : 0)
  }
  const pipelines = Array.from({ length: PIPELINES }, (_, number) => `pl_${number}`)
  const pipeline = database.prepare(`INSERT INTO pipeline VALUES (?, ?, 'active', '', '')`)
  for (const id of pipelines) pipeline.run(id, id)
  const lead =
    database.prepare(`INSERT INTO lead (id, pipeline_id, status, company_name, company_one_liner, company_country, source,
      score, value_amount, value_currency, tags, created_at, updated_at, status_changed_at, first_seen_at, observed_at, run_id,
      derived_version)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'USD', '[]', ?, ?, ?, ?, ?, 'run', ?)`)
  const version = database.prepare(
    `INSERT INTO lead_history VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'USD', NULL, NULL, 'run', -1)`,
  )
  const move = database.prepare(`INSERT INTO stage_move VALUES (?, ?, ?, ?, ?, ?, ?, 'version', ?)`)
  for (let number = 0; number < leads; number++) {
    const id = `ld_${((number * 2_654_435_761) % 2 ** 32).toString(16)}_${number}`
    const pipelineId = pick(pipelines)
    const value = Math.round(next() * 100) * 500
    const created = NOW.getTime() - Math.floor(next() * SPAN_MS)
    const at = (ms: number): string => new Date(ms).toISOString()
    const times = Array.from({ length: Math.round(next() * MOVES_MAX) }, () =>
      Math.floor(created + 1 + next() ** 2 * 60 * 86_400_000),
    )
      .filter((ms) => ms < NOW.getTime())
      .sort((a, b) => a - b)
    const states = [created, ...new Set(times)]
    const statuses = states.map((_, index) => {
      const isLast = index === states.length - 1
      if (!isLast || index === 0) return STAGES[Math.min(index, 5)]?.status ?? ''
      return next() < 0.5 ? (STAGES[Math.min(index, 5)]?.status ?? '') : pick(['won', 'lost', 'disqualified'])
    })
    const last = states.length - 1
    const [changedAt, status] = [at(states[last] ?? created), statuses[last]]
    const score = Math.floor(next() * 101)
    const text = `makes the work of teams visible, day by day, number ${number}`
    lead.run(
      id,
      pipelineId,
      status,
      `Company ${number}`,
      text,
      `Country ${Math.floor(next() ** 2 * COUNTRIES)}`,
      `Source ${Math.floor(next() * SOURCES)}`,
      score,
      value,
      at(created),
      changedAt,
      changedAt,
      at(created),
      changedAt,
      last === 0 ? 1 : null,
    )
    for (const [index, from] of last === 0 ? [] : states.entries()) {
      const to = states[index + 1]
      version.run(
        id,
        at(from),
        to === undefined ? null : at(to),
        at(from),
        at(from),
        at(from),
        pipelineId,
        statuses[index],
        score,
        value,
      )
      const before = states[index - 1]
      if (before === undefined || statuses[index] === statuses[index - 1]) continue
      const days = (from - before) / 86_400_000
      move.run(id, at(from), statuses[index], statuses[index - 1], pipelineId, at(before), days, at(from))
    }
  }
  database.exec(
    `COMMIT; ${indexes.map(({ sql }) => sql).join(';')}; ${SET_REACHED}; ${COUNT_ALL_DAYS}; ANALYZE`,
  )
  database.close()
}
