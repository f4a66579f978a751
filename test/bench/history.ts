/** A store with generated history. */
import Database from 'better-sqlite3'
import { STAGES } from '../../src/contract/lead.ts'
import { COUNT_ALL_DAYS } from '../../src/store/leads/lead-day.ts'
import { SET_REACHED } from '../../src/store/leads/reached.ts'
import { openStore } from '../../src/store/open.ts'
import { pick, random } from '../support/random.ts'

/** The end of the history. */
export const NOW = new Date('2026-11-21T07:00:00Z')
const SPAN_MS = 2 * 365 * 86_400_000
const MOVES_MAX = 6
const PIPELINES = 4
const COUNTRIES = 40
const SOURCES = 6

/**
 * Fills the tables with what was made: each state of a lead, the former one and the next, and its first time. A lead
 * with one state has no history.
 */
const FILL = `
CREATE TEMP TABLE state AS
  SELECT *, printf('ld_%x_%d', number * 2654435761 % 4294967296, number) AS id,
    lag(at) OVER own AS since, lag(ms) OVER own AS since_ms, lag(status) OVER own AS former, lead(at) OVER own AS until,
    first_value(at) OVER own AS created, count(*) OVER (PARTITION BY number) AS states
  FROM made_state JOIN made_lead USING (number) WINDOW own AS (PARTITION BY number ORDER BY place);
INSERT INTO lead (id, pipeline_id, status, company_name, company_one_liner, company_country, source, score,
    value_amount, value_currency, tags, created_at, updated_at, status_changed_at, first_seen_at, observed_at, run_id,
    derived_version)
  SELECT id, pipeline, status, 'Company ' || number,
    'makes the work of teams visible, day by day, number ' || number, country, source, score,
    value, 'USD', '[]', created, at, at, created, at, 'run',
    iif(states = 1, 1, NULL) FROM state WHERE until IS NULL ORDER BY number;
INSERT INTO lead_history
  SELECT id, at, until, at, at, at, pipeline, status, score, value, 'USD', NULL, NULL, 'run', -1
  FROM state WHERE states > 1 ORDER BY number, place;
INSERT INTO stage_move
  SELECT id, at, status, former, pipeline, since, (ms - since_ms) / 86400000.0, 'version', at
  FROM state WHERE status <> former ORDER BY number, place;
DROP TABLE state; DROP TABLE made_state; DROP TABLE made_lead`

/**
 * Makes a store of so many leads with 3 moves each, over two years. It writes into the tables, because syncing would
 * take an hour.
 */
export async function generateHistory(path: string, leads: number): Promise<void> {
  await (await openStore(path, NOW)).close()
  const database = new Database(path)
  database.pragma('synchronous = OFF')
  database.pragma('foreign_keys = OFF')
  const next = random(1)
  const indexes = database
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('lead', 'stage_move', 'lead_history')`,
    )
    .all()
  database.exec(`BEGIN; ${indexes.map(({ name }) => `DROP INDEX "${name}"`).join(';')};
    CREATE TEMP TABLE made_state (number INTEGER, place, at, ms, status);
    CREATE TEMP TABLE made_lead (number INTEGER PRIMARY KEY, pipeline, value, score, country, source)`)
  const stage = database.prepare('INSERT INTO stage VALUES (?, ?, ?, ?, ?)')
  for (const [position, { status, outcome }] of STAGES.entries()) {
    stage.run(status, position, outcome, position < 7 ? 1 : 0, position >= 2 && position < 7 ? 1 : 0)
  }
  const pipelines = Array.from({ length: PIPELINES }, (_, number) => `pl_${number}`)
  const pipeline = database.prepare(`INSERT INTO pipeline VALUES (?, ?, 'active', '', '')`)
  for (const id of pipelines) pipeline.run(id, id)
  const state = database.prepare('INSERT INTO made_state VALUES (?, ?, ?, ?, ?)')
  const lead = database.prepare('INSERT INTO made_lead VALUES (?, ?, ?, ?, ?, ?)')
  for (let number = 0; number < leads; number++) {
    const pipelineId = pick(next, pipelines)
    const value = Math.round(next() * 100) * 500
    const created = NOW.getTime() - Math.floor(next() * SPAN_MS)
    const times = Array.from({ length: Math.round(next() * MOVES_MAX) }, () =>
      Math.floor(created + 1 + next() ** 2 * 60 * 86_400_000),
    )
      .filter((ms) => ms < NOW.getTime())
      .sort((a, b) => a - b)
    const states = [created, ...new Set(times)]
    for (const [place, ms] of states.entries()) {
      const isEnded = place > 0 && place === states.length - 1 && next() >= 0.5
      const status = isEnded
        ? pick(next, ['won', 'lost', 'disqualified'])
        : STAGES[Math.min(place, 5)]?.status
      state.run(number, place, new Date(ms).toISOString(), ms, status)
    }
    const score = Math.floor(next() * 101)
    const country = `Country ${Math.floor(next() ** 2 * COUNTRIES)}`
    lead.run(number, pipelineId, value, score, country, `Source ${Math.floor(next() * SOURCES)}`)
  }
  database.exec(
    `${FILL}; COMMIT; ${indexes.map(({ sql }) => sql).join(';')}; ${SET_REACHED}; ${COUNT_ALL_DAYS}`,
  )
  database.close()
}
