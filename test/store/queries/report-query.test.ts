import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LeadFilter } from '../../../src/domain/figures.ts'
import type { LeadsheetError } from '../../../src/errors.ts'
import { openStore } from '../../../src/store/open.ts'
import {
  type QueryOptions,
  type ReportQuery,
  runReportQueries,
  tryReportQueries,
} from '../../../src/store/queries/report-query.ts'
import { makeSnapshot } from '../../../src/store/snapshot/snapshot.ts'
import { listPrivateTables } from '../../support/data/tables.ts'
import { lead, save } from '../../support/store.ts'

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

/** The snapshot on which the queries of all tests run. */
let file: string
const folder = mkdtempSync(join(tmpdir(), 'leadsheet-'))
afterAll(() => rmSync(folder, { recursive: true }))
const signal = new AbortController().signal

beforeAll(async () => {
  file = join(folder, 'snapshot.db')
  await using store = await openStore(join(folder, 'leadsheet.db'), new Date('2026-11-21T06:00:00Z'))
  await save(store, [
    lead('ld_1', { companyCountry: 'DE', score: 90, createdAt: '2026-11-20T08:00:00.000Z' }),
    lead('ld_2', { companyCountry: 'FR', pipelineId: 'p2', createdAt: '2026-11-20T09:00:00.000Z' }),
    lead('ld_3', { companyCountry: 'DE', createdAt: '2026-11-13T09:00:00.000Z' }),
  ])
  const job = { madeAt: '2026-11-21T06:00:00.000Z', version: '', sourcePaths: {} }
  await makeSnapshot(store, job, file, { group: null, signal })
})

interface Asked extends Partial<QueryOptions> {
  readonly filter?: LeadFilter
  readonly sqls: readonly string[]
}

const queriesOf = ({ sqls }: Asked) => sqls.map((sql, index) => query(sql, `query-${index + 1}`))

function ask({ filter = EVERY, ...asked }: Asked) {
  return runReportQueries(async () => file, queriesOf(asked), scope(filter), { signal, ...asked })
}

const CHOSEN = [
  'WITH mine AS (SELECT * FROM lead_now) SELECT id FROM mine WHERE id IN (SELECT lead_id FROM chosen) ORDER BY id',
]
const german = { field: 'company_country', in: ['DE'] }
const good = { field: 'score', min: 60, max: null }

/** Queries of a report, by what their tables show. */
const QUERIES: Readonly<Record<string, Asked>> = {
  'is bound to its period, to the one before, and to the settings of the report': {
    sqls: [
      `SELECT id, :top_score AS top, :stalled_days AS days, :prior_to AS prior, :pipelines AS pipelines
      FROM lead WHERE created_at >= :from AND created_at < :to ORDER BY id;`,
    ],
  },
  'answers with 100 rows at most, and with every digit of a whole number': {
    sqls: ['WITH RECURSIVE n (i) AS (SELECT 9007199254740993 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n'],
  },
  'finds the leads that the report is about in `chosen`': { sqls: CHOSEN },
  'those of a pipeline': { sqls: CHOSEN, filter: { pipelineIds: ['p1'], conditions: [] } },
  'those of a country': { sqls: CHOSEN, filter: { pipelineIds: null, conditions: [german] } },
  'those of all conditions': {
    sqls: CHOSEN,
    filter: { pipelineIds: ['p1', 'p2'], conditions: [german, good] },
  },
  'that fails leaves the others of its report as they are, those behind it too': {
    sqls: [
      'SELECT 1 AS one',
      'SELECT abs(-9223372036854775807 - 1) FROM lead WHERE id IN (SELECT lead_id FROM chosen)',
      'SELECT 3 AS three',
    ],
  },
  'takes no longer than it may, and is not run when it is tried': { sqls: [FOREVER], timeoutMs: 500 },
  'names a column that is not there': { sqls: ['SELECT nope FROM lead'] },
  'names a column of a private table': { sqls: ['SELECT html FROM report_issue'] },
  'does more than read': { sqls: ['DELETE FROM lead'] },
  'names a parameter that is not there': { sqls: ['SELECT :form'] },
}

test('a query of a report has its rows, or its failure alone, with its place, and is refused so when it is tried', async () => {
  const told: string[] = []
  for (const [what, asked] of Object.entries(QUERIES)) {
    const { tables, failed } = await ask(asked)
    told.push(what)
    for (const { rows, ...table } of tables)
      told.push(`  ${JSON.stringify(table)}`, `    ${rows.length} rows: ${JSON.stringify(rows.slice(0, 3))}`)
    for (const failure of failed) told.push(`  failed: ${JSON.stringify(failure)}`)
    const trying = tryReportQueries(file, queriesOf(asked), { signal })
    const tried = await trying.catch(({ code, message }: LeadsheetError) => [{ code, message }])
    told.push(...tried.map((each) => `  tried: ${JSON.stringify(each)}`))
  }
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/report-queries.txt')
})

describe('a query that will not do', () => {
  test('finds no private table there is, however it asks', async () => {
    const tables = await listPrivateTables()
    const sqls = tables.map((name) => `SELECT * FROM (SELECT 1 AS id) FULL JOIN ${name} USING (id)`)
    const { failed } = await ask({ sqls })
    expect(failed).toHaveLength(sqls.length)
    expect(failed.filter(({ message }) => !message.includes('no such table'))).toEqual([])
  })

  test('is told where there is no snapshot', async () => {
    const noSnapshot = () => Promise.reject(new Error('the snapshot cannot be made'))
    const { tables, failed } = await runReportQueries(noSnapshot, [query('SELECT 1')], scope(), { signal })
    expect(tables).toMatchObject([{ name: 'mine', rows: [] }])
    expect(failed).toEqual([{ block: 'queries', query: 'mine', message: 'the snapshot cannot be made' }])
  })
})
