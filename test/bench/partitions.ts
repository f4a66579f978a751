/**
 * Measures whether partitions by month help the history in PostgreSQL: the same rows in a plain and in a
 * partitioned table are written, queried and pruned as the program does it. `npx node
 * test/bench/partitions.ts postgres://… [rows]` uses its own schema.
 */
import { Client } from 'pg'
import { openStore } from '../../src/store/open.ts'

const MONTHS = 24
const ROUNDS = 15
const DAY = '2026-05-14'

interface Series {
  readonly table: string
  /** The instant that decides the partition of a row. */
  readonly by: string
  readonly columns: string
  /** The values of a row: `n` is its number, `at` an instant within two years, `lead` one of the leads. */
  readonly values: string
  /** The rows that 500 changed leads write, or one sample of the agents. */
  readonly write: string
  /** All rows of one lead or one agent. */
  readonly one: string
  readonly day: string
  readonly prune: string
}

const AT = 'to_char(at, \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\')'
const NOW = `'2026-11-20T12:00:00.000Z'`
const YEAR_AGO = `'2025-11-20'`
const SOME_LEAD = `'lead-:some'`
const SOME_LEADS = `SELECT 'lead-' || (random() * :leads)::int FROM generate_series(1, 500)`

const SERIES: readonly Series[] = [
  {
    table: 'lead_history',
    by: 'valid_from',
    columns:
      'lead_id, valid_from, valid_to, changed_at, observed_at, run_id, pipeline_id, status, value_amount',
    values: `'lead-' || lead, ${AT}, CASE WHEN n % 4 > 0 THEN to_char(at + interval '9 days', 'YYYY-MM-DD') END, ${AT}, ${AT}, 'run', 'p' || n % 5, 's' || n % 9, n % 1000`,
    write: `WITH changed AS (UPDATE :table SET valid_to = ${NOW}
      WHERE lead_id IN (${SOME_LEADS}) AND valid_to IS NULL RETURNING lead_id, valid_from)
      INSERT INTO :table (lead_id, valid_from, changed_at, observed_at, run_id, pipeline_id, status)
      SELECT lead_id, ${NOW} || max(valid_from), ${NOW}, ${NOW}, 'run', 'p1', 's1' FROM changed GROUP BY 1 ON CONFLICT DO NOTHING`,
    one: `SELECT * FROM :table WHERE lead_id = ${SOME_LEAD} ORDER BY valid_from`,
    day: `SELECT status, pipeline_id, count(*), sum(value_amount) FROM :table WHERE valid_from >= '${DAY}' AND valid_from < '${DAY}Z' GROUP BY 1, 2`,
    prune: `DELETE FROM :table WHERE valid_to < ${YEAR_AGO}`,
  },
  {
    table: 'activity',
    by: 'at',
    columns: 'lead_id, id, at, type, summary, first_seen_at, run_id',
    values: `'lead-' || lead, 'a-' || n, ${AT}, 'note', 'what was done, in a few words', ${AT}, 'run'`,
    write: `INSERT INTO :table (lead_id, id, at, type, first_seen_at, run_id)
      SELECT lead, md5(random()::text), ${NOW}, 'note', ${NOW}, 'run' FROM (${SOME_LEADS}) AS picked (lead) ON CONFLICT DO NOTHING`,
    one: `SELECT * FROM :table WHERE lead_id = ${SOME_LEAD} ORDER BY at`,
    day: `SELECT type, count(*) FROM :table WHERE at >= '${DAY}' AND at < '${DAY}Z' GROUP BY 1`,
    prune: `DELETE FROM :table WHERE at < ${YEAR_AGO}`,
  },
  {
    table: 'agent_sample',
    by: 'observed_at',
    columns: 'agent_id, observed_at, run_id, status',
    values: `'agent-' || n % 12, ${AT}, 'run', 'running'`,
    write: `INSERT INTO :table (agent_id, observed_at, run_id, status)
      SELECT 'agent-' || n, ${NOW} || random(), 'run', 'running' FROM generate_series(1, 12) AS n`,
    one: `SELECT * FROM :table WHERE agent_id = 'agent-7' AND observed_at >= '${DAY}' ORDER BY observed_at LIMIT 200`,
    day: `SELECT agent_id, count(*) FROM :table WHERE observed_at >= '${DAY}' AND observed_at < '${DAY}Z' GROUP BY 1`,
    // An agent's first sample of each day stays, so no month can be dropped as a whole.
    prune: `DELETE FROM :table AS old USING (SELECT agent_id, substr(observed_at, 1, 10) AS day, min(observed_at) AS first
      FROM :table WHERE observed_at < ${YEAR_AGO} GROUP BY 1, 2) AS kept
      WHERE old.agent_id = kept.agent_id AND substr(old.observed_at, 1, 10) = kept.day AND old.observed_at > kept.first
        AND old.observed_at < ${YEAR_AGO}`,
  },
  {
    table: 'event',
    by: 'received_at',
    columns: 'id, received_at, resource, resource_id, done_at, outcome',
    values: `'e-' || n, ${AT}, 'lead', 'lead-' || lead, ${AT}, 'updated'`,
    write: `INSERT INTO :table (id, received_at, resource, resource_id)
      SELECT md5(random()::text), ${NOW}, 'lead', lead FROM (${SOME_LEADS}) AS picked (lead) ON CONFLICT DO NOTHING`,
    one: `SELECT * FROM :table WHERE id = 'e-:some'`,
    day: `SELECT outcome, count(*) FROM :table WHERE received_at >= '${DAY}' AND received_at < '${DAY}Z' GROUP BY 1`,
    prune: `DELETE FROM :table WHERE received_at < ${YEAR_AGO}`,
  },
]

const STEPS = ['write', 'one', 'day', 'prune'] as const

const [url = '', rows = '400000'] = process.argv.slice(2)
const schema = `bench_${process.pid}`
await (await openStore(`${url}?schema=${schema}`, new Date())).close()
const client = new Client({
  connectionString: url,
  options: `-c search_path=${schema} -c synchronous_commit=off`,
})
await client.connect()
try {
  console.log(
    `${rows} rows a table over ${MONTHS} months; milliseconds, the median of ${ROUNDS}, pruning once`,
  )
  console.log('| table | | page write | of one | of a day | prune a year |\n|---|---|---|---|---|---|')
  for (const series of SERIES) {
    for (const way of ['plain', 'partitioned'] as const) {
      const table = await fill(series, way)
      const times = []
      for (const step of STEPS) times.push(await time(series[step], table, step === 'prune' ? 1 : ROUNDS))
      console.log(`| ${[series.table, way, ...times].join(' | ')} |`)
      await client.query(`DROP TABLE ${table}`)
    }
  }
} finally {
  await client.query(`DROP SCHEMA ${schema} CASCADE`)
  await client.end()
}

/** The indexes are those of the store. In a partitioned table, a unique index also needs the instant. */
async function fill({ table, by, columns, values }: Series, way: 'plain' | 'partitioned'): Promise<string> {
  const name = `${table}_${way}`
  const parted = way === 'partitioned'
  await client.query(
    `CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS) ${parted ? `PARTITION BY RANGE (${by})` : ''}`,
  )
  for (let month = 0; parted && month < MONTHS; month++) {
    const bound = (from: number) => new Date(Date.UTC(2024, 11 + from, 1)).toISOString().slice(0, 7)
    const [from, to] = [
      month === 0 ? 'MINVALUE' : `'${bound(month)}'`,
      month === MONTHS - 1 ? 'MAXVALUE' : `'${bound(month + 1)}'`,
    ]
    await client.query(
      `CREATE TABLE ${name}_${month} PARTITION OF ${name} FOR VALUES FROM (${from}) TO (${to})`,
    )
  }
  const { rows: indexes } = await client.query<{ text: string }>(
    `SELECT pg_get_indexdef(indexrelid) AS text FROM pg_index WHERE indrelid = $1::regclass AND pg_get_indexdef(indexrelid) NOT LIKE '%rowid%'`,
    [table],
  )
  for (const [number, { text }] of indexes.entries()) {
    const unique = parted && /UNIQUE/.test(text) && !text.includes(by)
    await client.query(
      text
        .replace(/INDEX \S+ ON (ONLY )?\S+/, `INDEX ${name}_by_${number} ON ${name}`)
        .replace(/\)$/, unique ? `, ${by})` : ')'),
    )
  }
  await client.query(`INSERT INTO ${name} (${columns}) SELECT ${values} FROM (
    SELECT n, n / 4 AS lead, timestamp '2024-12-01' + (n::bigint * 7919 % ${rows}) * (interval '719 days' / ${rows}) AS at
    FROM generate_series(1, ${rows}) AS n) AS made`)
  await client.query(`ANALYZE ${name}`)
  return name
}

async function time(step: string, table: string, rounds: number): Promise<string> {
  const leads = Math.floor(Number(rows) / 4)
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const text = step
      .replaceAll(':table', table)
      .replaceAll(':leads', String(leads))
      .replaceAll(':some', String((round * 7919) % leads))
    const started = performance.now()
    await client.query(text)
    times.push(performance.now() - started)
  }
  const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
  return median.toFixed(median < 10 ? 2 : 0)
}
