/** The plans of SQLite for figures, of today and of long ago, read a time of an index and no other leads. */
import { expect, it, vi } from 'vitest'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { explainFigure } from '../../../src/store/figures/query.ts'
import { readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { findBackfill } from '../../../src/store/insight/import.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { requestOf } from '../../support/reports/request.ts'
import { openEmptyStore } from '../../support/store.ts'

const SCOPE = {
  from: '2025-11-20T00:00:00.000Z',
  to: '2025-11-21T00:00:00.000Z',
  filter: EVERY_LEAD,
  stalledDays: 7,
}

it('the figures of a period are found by times of indexes', async () => {
  await using store = await openEmptyStore()
  const found: string[] = []
  for (const figure of ['open_value', 'won', 'stalled'] as const) {
    const plan = await explainPlan(store, explainFigure(figure, SCOPE).replace(/;$/, ''))
    expect(plan, figure).not.toMatch(/SCAN (state|lead|lead_history)$|AUTOMATIC/m)
    found.push(`${figure}:`, ...new Set(plan.split('\n').filter((line) => line.includes('>? AND'))))
  }
  await expect(`${found.join('\n')}\n`).toMatchFileSnapshot('golden/plans.txt')
})

it('no statement of a report reads all leads', async () => {
  await using store = await openEmptyStore()
  using run = vi.spyOn(Object.getPrototypeOf(store.db.getExecutor()), 'executeQuery')
  await readReportFigures(store.db, requestOf('day', new Date(SCOPE.to), 'UTC'))
  await findBackfill(store.db, SCOPE.from, null)
  const queries = run.mock.calls.map(([query]) => Object(query))
  for (const query of queries.filter(({ sql }) => /^[^;]*\bSELECT\b/.test(sql))) {
    const { rows } = await store.db.executeQuery({ ...query, sql: `EXPLAIN QUERY PLAN ${query.sql}` })
    expect(JSON.stringify(rows), query.sql).not.toMatch(/SCAN lead(_history)?"|by_creation \(created_at<\?\)/)
  }
  expect(queries.length).toBeGreaterThan(20)
})
