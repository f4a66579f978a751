// @both-stores
/** The sections of a report that fail when a table cannot be read, and those that do not. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { daysUpTo, priorOf } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { type ReportRequest, readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { VIEWS } from '../../../src/store/schema/views.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'

const PERIOD = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z', timeZone: 'UTC' }
const REQUEST: ReportRequest = {
  kind: 'day',
  period: PERIOD,
  prior: priorOf('day', PERIOD),
  filter: EVERY_LEAD,
  stalledDays: 7,
  topScore: 80,
  rowsMax: 10,
  since: null,
  trendDays: daysUpTo(PERIOD.to, 96, 'UTC'),
}

async function openFilled(): Promise<Store> {
  const store = await openEmptyStore()
  await save(store, [lead('l1', { createdAt: '2026-11-20T08:00:00.000Z', score: 90 }), lead('l2')])
  await saveWholeRun(store, '2026-11-21T05:00:00Z')
  return store
}

/** Renames a table or drops a view, so that every section that reads it fails, and reads the report. */
async function readWithout(name: string) {
  await using store = await openFilled()
  const gone =
    name in VIEWS ? sql`DROP VIEW ${sql.table(name)}` : sql`ALTER TABLE ${sql.table(name)} RENAME TO away`
  await gone.execute(store.db)
  return await readReportFigures(store.db, REQUEST)
}

const missing = (table: string): RegExp =>
  new RegExp(`(no such table: ${table}|relation "${table}" does not exist)$`)

describe('a section that cannot be read', () => {
  it('is none where all can', async () => {
    await using store = await openFilled()
    expect(await readReportFigures(store.db, REQUEST)).toMatchObject({ failed: [], leads: 2 })
  })

  it.each([
    ['funnel_latest', ['funnel']],
    ['agent_outage', ['agents']],
    ['sync_scan_result', ['data_quality']],
  ])('without %s is told, and nothing else', async (table, blocks) => {
    const figures = await readWithout(table)
    expect(figures.failed.map(({ block }) => block)).toEqual(blocks)
    for (const { message } of figures.failed) expect(message).toMatch(missing(table))
    expect(figures).toMatchObject({
      leads: 2,
      newLeads: { current: 1, prior: 0 },
      topLeads: { total: 1, rows: [{ id: 'l1' }] },
      stalled: { days: 7, total: 2 },
    })
  })

  it.each(['lead_day', 'stage_move'])('ends the report where it is of the core: %s', async (table) => {
    await expect(readWithout(table)).rejects.toMatchObject({
      code: 'report_failed',
      message: expect.stringMatching(
        new RegExp(`^The numbers of the report cannot be read: ${missing(table).source}`),
      ),
    })
  })
})
