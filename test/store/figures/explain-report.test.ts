// @both-stores
/** The printed SQL of a report runs in any program, and returns the numbers of the report. */
import { describe, expect, it } from 'vitest'
import type { LeadFilter } from '../../../src/domain/figures.ts'
import { daysUpTo, periodOf, priorOf } from '../../../src/domain/period.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { askSqlProgram, hasSqlProgram, type Row } from '../../support/data/sql-program.ts'
import { openSyncedStore } from '../../support/data/synced-store.ts'
import { explainReport } from '../../support/reports/explain-report.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const ZONE = 'Europe/Berlin'
const PERIOD = periodOf('day', NOW, ZONE, { holidays: [], lastEnd: null })

describe.skipIf(!hasSqlProgram)('the SQL of a report', () => {
  it.each<[string, LeadFilter]>([
    ['all leads', EVERY_LEAD],
    [
      'the leads of a filter',
      {
        pipelineIds: ['pl_emea', 'pl_american_business'],
        conditions: [
          { field: 'value_currency', in: ['USD', "it's"] },
          { field: 'score', min: 20, max: 99 },
        ],
      },
    ],
  ])('gives %s what the report says of them', async (_, filter) => {
    await using store = await openSyncedStore(20)
    const { db } = store
    await db.updateTable('pipeline_stat').set({ leads: 1 }).where('pipeline_id', '=', 'pl_emea').execute()
    const request = {
      kind: 'day' as const,
      period: PERIOD,
      prior: priorOf('day', PERIOD),
      filter,
      topScore: 60,
      stalledDays: 3,
      rowsMax: 50,
      since: null,
      trendDays: daysUpTo(PERIOD.to, 20, ZONE),
    }
    const figures = await readReportFigures(db, request)
    expect(figures.newLeads.current).toBeGreaterThan(0)

    const ask = (sql: string): Row[] => askSqlProgram(store, sql)
    const explained = explainReport(request, figures)
    const rowsOf = (block: string, title: string): Row[] => {
      const found = explained.find((each) => each.block === block && each.title === title)
      if (!found) throw new Error(`${block} does not explain ${title}`)
      return ask(found.sql)
    }
    for (const { sql, priorSql } of explained) for (const each of [sql, priorSql]) if (each) ask(each)

    const value = (title: string) => rowsOf('kpis', title)[0]?.value
    expect([value('New leads'), value('Won'), value('Lost')]).toEqual([
      figures.newLeads.current,
      figures.won.current,
      figures.lost.current,
    ])
    const before = explained.find((each) => each.title === 'New leads')?.priorSql ?? ''
    expect(ask(before)[0]?.value).toBe(figures.newLeads.prior)
    expect(rowsOf('funnel', 'Funnel').map((row) => [row.status, row.reached])).toEqual(
      figures.funnel.stages.map(({ status, reached }) => [status, reached]),
    )
    for (const { kind, total } of figures.changes.kinds) {
      const counts = rowsOf('changes', 'Changes').filter((row) => row.kind === kind)
      expect(counts.reduce((sum, row) => sum + Number(row.total), 0)).toBe(total)
    }
    expect(rowsOf('top_leads', 'Top leads').map((row) => row.id)).toEqual(
      figures.topLeads.rows.map(({ id }) => id),
    )
    expect(rowsOf('stalled', 'Stalled leads').map((row) => row.id)).toEqual(
      figures.stalled.rows.map(({ id }) => id),
    )
    const ofSource = new Map(rowsOf('sources', 'By source').map((row) => [row.of, row.newLeads]))
    for (const { source, newLeads } of figures.bySource) expect(ofSource.get(source) ?? 0).toBe(newLeads)
    expect(rowsOf('agents', 'Agents').map((row) => row.name)).toEqual(
      figures.agents.rows.map(({ name }) => name),
    )
    if (filter.conditions.length > 0) expect(figures.serviceStats).toEqual([])
    else {
      expect(figures.serviceStats).toHaveLength(1)
      const [{ pipelineName = '', ours = 0 } = {}] = figures.serviceStats
      const levels = rowsOf('service_stats', `Ours beside them: ${pipelineName}`)
      expect(levels.reduce((sum, row) => sum + Number(row.leads), 0)).toBe(ours)
    }
  })
})
