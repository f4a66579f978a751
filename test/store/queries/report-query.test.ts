// @both-stores
import { sql as raw } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { LeadFilter } from '../../../src/domain/figures.ts'
import type { Store } from '../../../src/store/db/store.ts'
import {
  explainReportQuery,
  type QueryOptions,
  type ReportQuery,
  runReportQueries,
  tryReportQueries,
} from '../../../src/store/queries/report-query.ts'
import { PRIVATE } from '../../../src/store/schema/published.ts'
import { askSqlProgram, hasSqlProgram } from '../../support/data/sql-program.ts'
import { IN_POSTGRES, lead, openEmptyStore, save } from '../../support/store.ts'

const EVERY: LeadFilter = { pipelineIds: null, conditions: [] }
const FOREVER =
  'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) AS total FROM n'

const scope = (filter = EVERY) => ({
  period: { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z', timeZone: 'UTC' },
  prior: { from: '2026-11-13T00:00:00.000Z', to: '2026-11-14T00:00:00.000Z', timeZone: 'UTC' },
  filter,
  stalledDays: 7,
  topScore: 80,
})

const query = (sql: string, name = 'mine'): ReportQuery => {
  return { name, title: 'Mine', note: null, sql, place: 'templates/mine/report.yaml:5:10' }
}

async function openFilled(): Promise<Store> {
  const store = await openEmptyStore()
  await save(store, [
    lead('ld_1', { companyCountry: 'DE', score: 90, createdAt: '2026-11-20T08:00:00.000Z' }),
    lead('ld_2', { companyCountry: 'FR', pipelineId: 'p2', createdAt: '2026-11-20T09:00:00.000Z' }),
    lead('ld_3', { companyCountry: 'DE', createdAt: '2026-11-13T09:00:00.000Z' }),
  ])
  return store
}

async function ask(
  sqls: string | readonly string[],
  { filter = EVERY, ...options }: Partial<QueryOptions> & { filter?: LeadFilter } = {},
) {
  await using store = await openFilled()
  const queries = [sqls].flat().map((sql, index) => query(sql, `query-${index + 1}`))
  const signal = new AbortController().signal
  return runReportQueries(store.place, queries, scope(filter), { signal, ...options })
}

/** Returns the results of queries that must not fail. */
async function tablesOf(...asked: Parameters<typeof ask>) {
  const { tables, failed } = await ask(...asked)
  expect(failed).toEqual([])
  return tables
}

describe('a query of a report', () => {
  test('is bound to its period, to the one before, and to the settings of the report', async () => {
    const sql = `SELECT id, :top_score AS top, :stalled_days AS days, :prior_to AS prior, :pipelines AS pipelines
      FROM lead WHERE created_at >= :from AND created_at < :to ORDER BY id;`
    const [table] = await tablesOf(sql)
    expect(table).toEqual({
      name: 'query-1',
      title: 'Mine',
      note: null,
      sql,
      columns: ['id', 'top', 'days', 'prior', 'pipelines'],
      rows: [
        ['ld_1', 80, 7, '2026-11-14T00:00:00.000Z', null],
        ['ld_2', 80, 7, '2026-11-14T00:00:00.000Z', null],
      ],
      isCut: false,
    })
  })

  test('finds the leads that the report is about in `chosen`', async () => {
    const sql = 'SELECT id FROM lead WHERE id IN (SELECT lead_id FROM chosen) ORDER BY id'
    const rows = async (filter: LeadFilter) => (await tablesOf(sql, { filter }))[0]?.rows.flat()
    expect(await rows(EVERY)).toEqual(['ld_1', 'ld_2', 'ld_3'])
    expect(await rows({ pipelineIds: ['p1'], conditions: [] })).toEqual(['ld_1', 'ld_3'])
    const german = { field: 'company_country', in: ['DE'] }
    expect(await rows({ pipelineIds: null, conditions: [german] })).toEqual(['ld_1', 'ld_3'])
    const good = { field: 'score', min: 60, max: null }
    expect(await rows({ pipelineIds: ['p1', 'p2'], conditions: [german, good] })).toEqual(['ld_1'])
  })

  test('answers after the others of its report, in their order', async () => {
    const tables = await tablesOf(['SELECT 1 AS one', "SELECT 'x' AS two, NULL AS three, 0.5 AS four"])
    expect(tables.map(({ columns, rows }) => ({ columns, rows }))).toEqual([
      { columns: ['one'], rows: [[1]] },
      { columns: ['two', 'three', 'four'], rows: [['x', null, 0.5]] },
    ])
    expect(await tablesOf([])).toEqual([])
  })

  test('answers with 100 rows at most, and says that there are more', async () => {
    const count = (n: number) =>
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n}) SELECT i FROM n`
    const tables = await tablesOf([count(100), count(101)])
    expect(tables.map(({ rows, isCut }) => [rows.length, isCut])).toEqual([
      [100, false],
      [100, true],
    ])
  })

  test('keeps the digits of a whole number that is too large for one', async () => {
    expect((await tablesOf('SELECT 9007199254740993 AS big'))[0]?.rows).toEqual([['9007199254740993']])
  })

  test('may read views, also by a CTE, a subquery and json_each', async () => {
    const sql = `WITH mine AS (SELECT * FROM lead_now) SELECT count(*) AS leads FROM mine
      WHERE pipeline_id IN (SELECT value FROM json_each('["p1"]'))`
    expect((await tablesOf(sql))[0]?.rows).toEqual([[2]])
  })

  test('may count the rows of a CTE without reading any of their columns', async () => {
    const sql = 'WITH days (day) AS (VALUES (1), (2)) SELECT count(*) FROM days'
    expect((await tablesOf(sql))[0]?.rows).toEqual([[2]])
  })
})

const REFUSED_BY_SQLITE = [
  ['SELEC 1', 'near "SELEC": syntax error'],
  ['SELECT nope FROM lead', 'no such column: nope'],
  ['SELECT recipient FROM delivery', 'delivery.recipient is not for reports'],
  ['SELECT count(*) FROM delivery', 'not authorized'],
  ['SELECT sql FROM sqlite_schema', 'sqlite_master.sql is not for reports'],
  ['SELECT count(*) FROM sqlite_schema', 'not authorized'],
  ['SELECT count(*) FROM pragma_database_list', 'not authorized'],
  ["ATTACH 'other.db' AS other", 'not authorized'],
  ['PRAGMA query_only = 0', 'not authorized'],
] as const

const REFUSED_BY_POSTGRES = [
  ['SELEC 1', 'not authorized: it is no SELECT'],
  ['SELECT nope FROM lead', 'column "nope" does not exist'],
  ['SELECT 1 FRM lead', 'syntax error at or near "lead"'],
  // Tables that are reached in different ways.
  ['SELECT recipient FROM delivery', 'delivery is not for reports'],
  ['SELECT count(*) FROM delivery', 'delivery is not for reports'],
  ['TABLE delivery', 'delivery is not for reports'],
  ['SELECT 1 WHERE EXISTS (SELECT FROM "leadsheet"."delivery")', 'delivery is not for reports'],
  ['WITH mine AS (SELECT * FROM message) SELECT 1', 'message is not for reports'],
  ['SELECT (SELECT max(message_id) FROM delivery)', 'delivery is not for reports'],
  [
    'SELECT 1 FROM lead WHERE false AND id IN (SELECT recipient FROM delivery)',
    'delivery is not for reports',
  ],
  ['SELECT * FROM report_issue', 'report_issue.html is not for reports'],
  ['SELECT report_issue FROM report_issue', 'report_issue.* is not for reports'],
  ['SELECT to_json(e) FROM report_issue AS e', 'report_issue.* is not for reports'],
  ['SELECT 1 FROM report_issue WHERE length(text) > 1', 'report_issue.text is not for reports'],
  ["SELECT 1 FROM report_issue JOIN (SELECT 'x' AS html) AS x USING (html)", 'report_issue.html is not'],
  ['SELECT relname FROM pg_class', 'pg_class is not for reports'],
  ['SELECT rolname FROM pg_roles', 'pg_roles is not for reports'],
  ['SELECT table_name FROM information_schema.tables', 'tables is not for reports'],
  ['SELECT * FROM kysely_migration', 'kysely_migration is not for reports'],
  // Functions that run SQL, change settings, read files, or wait.
  ["SELECT query_to_xml('SELECT * FROM delivery', true, true, '')", 'the function query_to_xml is not'],
  ["SELECT table_to_xml('delivery', true, true, '')", 'the function table_to_xml is not for reports'],
  ["SELECT schema_to_xml('leadsheet', true, true, '')", 'the function schema_to_xml is not for reports'],
  ["SELECT * FROM ts_stat('SELECT to_tsvector(recipient) FROM delivery')", 'the function ts_stat is not'],
  ["SELECT set_config('role', 'none', false)", 'the function set_config is not for reports'],
  ["SELECT current_setting('port')", 'the function current_setting is not for reports'],
  ["SELECT pg_read_file('/etc/passwd')", 'the function pg_read_file is not for reports'],
  ["SELECT pg_ls_dir('/')", 'the function pg_ls_dir is not for reports'],
  ['SELECT lo_create(1)', 'the function lo_create is not for reports'],
  ['SELECT pg_sleep(1)', 'the function pg_sleep is not for reports'],
  [
    'SELECT pg_terminate_backend(pid) FROM (SELECT 1 AS pid) AS x',
    'the function pg_terminate_backend is not',
  ],
  [
    'SELECT count(*) OVER (ORDER BY pg_try_advisory_lock(1)) FROM lead',
    'the function pg_try_advisory_lock is not',
  ],
  // Statements that do more than read.
  ['SELECT id FROM lead FOR UPDATE', 'cannot execute SELECT FOR UPDATE in a read-only transaction'],
  ['SELECT 1 AS one INTO other', 'SELECT ... INTO is not allowed here'],
  ['WITH gone AS (DELETE FROM lead RETURNING id) SELECT id FROM gone', 'WITH clause containing'],
  ['WITH mine AS (SELECT 1) DELETE FROM lead', 'syntax error'],
  ['SELECT 1) OR EXISTS (SELECT 2', 'syntax error'],
  ['SELECT 1 /*', 'unterminated /* comment'],
  ["COPY lead TO PROGRAM 'cat'", 'not authorized: it is no SELECT'],
  ['DO $$ BEGIN END $$', 'not authorized: it is no SELECT'],
  ['SET search_path = public', 'not authorized: it is no SELECT'],
  ['COMMIT', 'not authorized: it is no SELECT'],
] as const

describe('a query that will not do', () => {
  test.each<readonly [sql: string, told: string]>([
    ...(IN_POSTGRES ? REFUSED_BY_POSTGRES : REFUSED_BY_SQLITE),
    ['SELECT 1; DELETE FROM lead', 'there is more than one statement'],
    [
      'SELECT :form',
      'there is no parameter :form; known: :from, :to, :prior_from, :prior_to, :pipelines, :stalled_days, :top_score',
    ],
    ['SELECT ?1', 'there is no parameter ?1; known: '],
    ['SELECT html FROM report_issue', 'report_issue.html is not for reports'],
    ['DELETE FROM lead', 'not authorized'],
    ['CREATE TEMP TABLE other (a)', 'not authorized'],
  ])('%s is told with query and place, when it runs and when it is tried', async (sql, told) => {
    const problem = {
      code: 'query_failed',
      message: expect.stringContaining(`templates/mine/report.yaml:5:10  query query-1: ${told}`),
    }
    const [failed] = (await ask(sql)).failed
    expect(failed).toEqual({ block: 'queries', query: 'query-1', message: problem.message })
    await using store = await openEmptyStore()
    const signal = new AbortController().signal
    const trying = tryReportQueries(store.place, [query(sql, 'query-1')], { signal })
    await expect(trying).rejects.toMatchObject(problem)
  })

  test('for more than memory has is told with the limit', async () => {
    const [sql, limit] = IN_POSTGRES
      ? ["SELECT repeat('x', 200000000)", 'have an answer of more than 64 MB']
      : ["SELECT printf('%800000000d', 1)", 'has a value of more than 16 MB']
    expect((await ask(sql)).failed).toEqual([
      { block: 'queries', query: 'query-1', message: expect.stringContaining(limit) },
    ])
  })

  test('leaves the others of its report as they are, those behind it too', async () => {
    const overflow = 'SELECT abs(-9223372036854775807 - 1) FROM lead WHERE id IN (SELECT lead_id FROM chosen)'
    const { tables, failed } = await ask(['SELECT 1 AS one', overflow, 'SELECT 3 AS three'])
    expect(tables.map(({ name, rows }) => [name, rows])).toEqual([
      ['query-1', [[1]]],
      ['query-2', []],
      ['query-3', [[3]]],
    ])
    expect(failed.map(({ query: name, message }) => [name, message])).toEqual([
      [
        'query-2',
        `templates/mine/report.yaml:5:10  query query-2: ${IN_POSTGRES ? 'bigint out of range' : 'integer overflow'}`,
      ],
    ])
  })

  test('takes no longer than it may, and is not run when it is tried', async () => {
    const { tables, failed } = await ask(FOREVER, { timeoutMs: 500 })
    expect(tables).toMatchObject([{ name: 'query-1', title: 'Mine', columns: [], rows: [] }])
    expect(failed).toEqual([
      {
        block: 'queries',
        query: 'query-1',
        message: expect.stringContaining('(query-1) took longer than 0.5 s'),
      },
    ])
    await using store = await openEmptyStore()
    const signal = new AbortController().signal
    expect(await tryReportQueries(store.place, [query(FOREVER)], { signal })).toMatchObject([
      { columns: ['total'], rows: [] },
    ])
  })

  test('ends when the program does', async () => {
    await expect(ask(FOREVER, { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop')
  })
})

describe.skipIf(IN_POSTGRES)('columns that a join merges, of which SQLite asks no authorizer', () => {
  /** Each gets a table and one of its columns. */
  const JOINS: readonly ((table: string, column: string) => string)[] = [
    (table, column) =>
      `SELECT ${column} FROM (SELECT 1 AS ${column}) AS a FULL JOIN ${table} USING (${column})`,
    (table, column) => `SELECT * FROM (SELECT 1 AS ${column}) AS a RIGHT JOIN ${table} USING (${column})`,
    (table, column) =>
      `SELECT length(${column}) FROM ${table} FULL JOIN (SELECT 1 AS ${column}) USING (${column})`,
    (table, column) => `SELECT ${column} FROM (SELECT 1 AS ${column}) NATURAL FULL JOIN main.${table}`,
    (table, column) => `SELECT 1 FROM ${table} JOIN (SELECT 'x' AS ${column}) USING (${column})`,
    (table, column) =>
      `WITH mine AS (SELECT ${column} FROM (SELECT 1 AS ${column}) FULL JOIN "${table}" /* ' */ UsInG (${column})) SELECT count(*) FROM mine`,
    (table, column) =>
      `SELECT id FROM lead WHERE id IN (SELECT ${column} FROM (SELECT 1 AS ${column}) FULL JOIN [${table}] USING (${column}) ORDER BY 1)`,
    (table) => `SELECT seen FROM spy_${table}`,
  ]

  const REFUSED = /is not for reports|not authorized|unsafe use of virtual|vtable constructor|no such table/
  const signal = new AbortController().signal

  test('are not read of what is not for reports, in any such way', async () => {
    await using store = await openFilled()
    const { rows } = await raw<{ table: string; column: string }>`
      SELECT list.name AS "table", info.name AS "column" FROM pragma_table_list AS list, pragma_table_info(list.name) AS info
      WHERE list.name IN (${raw.join([...PRIVATE, 'sqlite_schema', 'dbstat', 'pragma_table_list'])})
        OR (list.name, info.name) IN (('report_issue', 'html'), ('report_issue', 'text'))`.execute(store.db)
    expect(new Set(rows.map(({ table }) => table)).size).toBeGreaterThan(PRIVATE.length)
    for (const { table, column } of rows) {
      const [view, of, merged] = [`spy_${table}`, table, column].map((name) => raw.ref(name))
      await raw`CREATE VIEW IF NOT EXISTS ${view} AS
        SELECT ${merged} AS seen FROM (SELECT 1 AS ${merged}) FULL JOIN ${of} USING (${merged})`.execute(
        store.db,
      )
    }
    const sqls = rows.flatMap(({ table, column }) => JOINS.map((join) => join(table, column)))
    const queries = [...new Set(sqls)].map((sql) => query(sql, sql))
    const { failed } = await runReportQueries(store.place, queries, scope(), { signal })
    expect(failed.flatMap(({ message }) => (REFUSED.test(message) ? [] : message))).toEqual([])
    expect(failed).toHaveLength(queries.length)
    await expect(tryReportQueries(store.place, queries, { signal })).rejects.toThrow(REFUSED)
  })

  test('are read of what is for reports, as ever', async () => {
    const tables = await tablesOf(
      [
        "SELECT id FROM (SELECT 'ld_1' AS id) AS a FULL JOIN lead USING (id) ORDER BY id",
        'SELECT id FROM lead_now NATURAL JOIN (SELECT lead_id AS id FROM chosen) ORDER BY id',
        `SELECT value FROM (SELECT 'x' AS value) FULL JOIN json_each('["y"]') USING (value) ORDER BY value`,
        'SELECT report FROM (SELECT 1 AS report) FULL JOIN report_issue USING (report)',
        'SELECT subject, period_to, rowid FROM report_issue ORDER BY report, variant, kind, period_to',
      ],
      { filter: { pipelineIds: ['p1'], conditions: [] } },
    )
    expect(tables.map(({ rows }) => rows.flat())).toEqual([
      ['ld_1', 'ld_2', 'ld_3'],
      ['ld_1', 'ld_3'],
      ['x', 'y'],
      [1],
      [],
    ])
  })
})

describe.skipIf(!IN_POSTGRES)('a query in PostgreSQL', () => {
  const signal = new AbortController().signal

  test('may read the views of analysts, but not what they should not have been given', async () => {
    await using store = await openFilled()
    await raw`CREATE VIEW mine AS SELECT id FROM lead_now`.execute(store.db)
    await raw`CREATE VIEW secret AS SELECT recipient FROM delivery`.execute(store.db)
    await raw`CREATE VIEW hidden AS SELECT * FROM secret`.execute(store.db)
    const { tables, failed } = await runReportQueries(
      store.place,
      [query('SELECT count(*) FROM mine'), query('SELECT count(*) FROM hidden')],
      scope(),
      { signal },
    )
    expect(tables[0]?.rows).toEqual([[3]])
    expect(failed[0]?.message).toContain('delivery is not for reports')
  })

  test('may not call a function that somebody has made there', async () => {
    await using store = await openFilled()
    await raw`CREATE SCHEMA other`.execute(store.db)
    await raw`CREATE FUNCTION other.spy() RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT 1'`.execute(store.db)
    const { failed } = await runReportQueries(store.place, [query('SELECT other.spy()')], scope(), { signal })
    expect(failed[0]?.message).toContain('the function spy is not for reports')
  })

  test('has casts, lists of values, and columns of one name', async () => {
    const [table] = await tablesOf(
      `SELECT '2026-11-20'::date AS day, count(*), count(*), true, ARRAY[1, 2], min(score) FROM lead WHERE created_at >= :from`,
    )
    expect(table?.columns).toEqual(['day', 'count', 'count', '?column?', 'array', 'min'])
    expect(table?.rows).toEqual([['2026-11-20', 2, 2, 1, '{1,2}', 90]])
  })

  test('is ended in PostgreSQL, too, when its time is over', async () => {
    await using store = await openFilled()
    const late = runReportQueries(store.place, [query(FOREVER)], scope(), { signal, timeoutMs: 300 })
    expect((await late).failed).toHaveLength(1)
    await expect
      .poll(async () => {
        const { rows } = await raw`SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '%RECURSIVE n%' AND pid <> pg_backend_pid()`.execute(
          store.db,
        )
        return rows.length
      })
      .toBe(0)
  })
})

test.skipIf(!hasSqlProgram)('a query with all values in it gives any program the same', async () => {
  const filter: LeadFilter = {
    pipelineIds: ['p1', "o'hara"],
    conditions: [
      { field: 'company_country', in: ['DE'] },
      { field: 'score', min: 60, max: null },
    ],
  }
  const sql = `SELECT id, ':from' AS text, :pipelines AS pipelines -- :to
    FROM lead JOIN chosen ON lead_id = id WHERE created_at >= :from;`
  await using store = await openFilled()
  const signal = new AbortController().signal
  const {
    tables: [answer],
  } = await runReportQueries(store.place, [query(sql)], scope(filter), { signal })
  const rows = askSqlProgram(store, explainReportQuery(sql, scope(filter)))
  expect(rows.map((row) => Object.values(row))).toEqual(answer?.rows)
  expect(answer?.rows).toEqual([['ld_1', ':from', '["p1","o\'hara"]']])
})
