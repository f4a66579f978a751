// @both-stores
/** The sections of a report that fail when a table cannot be read, and those that do not. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { VIEWS } from '../../../src/store/schema/views.ts'
import { requestOf } from '../../support/reports/request.ts'
import { lead, OPENED_AT, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'

it('a section that cannot be read is told, and nothing else, unless it is of the core', async () => {
  await using store = await openEmptyStore()
  await save(store, [lead('l1', { createdAt: '2026-11-20T08:00:00.000Z', score: 90 }), lead('l2')])
  await saveWholeRun(store, '2026-11-21T05:00:00Z')
  const request = requestOf('day', OPENED_AT, 'UTC', { filter: EVERY_LEAD, stalledDays: 7 })
  const REST = {
    leads: 2,
    newLeads: { current: 1, prior: 0 },
    topLeads: { total: 1, rows: [{ id: 'l1' }] },
    stalled: { days: 7, total: 2 },
  }
  const missing = (table: string) => `(no such table: ${table}|relation "${table}" does not exist)$`
  expect(await readReportFigures(store.db, request)).toMatchObject({ ...REST, failed: [] })
  const gone = { funnel_latest: 'funnel', agent_outage: 'agents', sync_scan_result: 'data_quality' }
  for (const [index, name] of Object.keys(gone).entries()) {
    const table = sql.table(name)
    await (name in VIEWS ? sql`DROP VIEW ${table}` : sql`ALTER TABLE ${table} RENAME TO away`).execute(
      store.db,
    )
    const figures = await readReportFigures(store.db, request)
    expect(figures).toMatchObject(REST)
    const failed = Object.entries(gone)
      .slice(0, index + 1)
      .map(([table, block]) => ({ block, query: null, message: expect.stringMatching(missing(table)) }))
    expect(figures.failed).toHaveLength(failed.length)
    expect(figures.failed).toEqual(expect.arrayContaining(failed))
  }
  await sql`ALTER TABLE lead_day RENAME TO gone`.execute(store.db)
  await expect(readReportFigures(store.db, request)).rejects.toMatchObject({
    code: 'report_failed',
    message: expect.stringMatching(`^The numbers of the report cannot be read: ${missing('lead_day')}`),
  })
})
