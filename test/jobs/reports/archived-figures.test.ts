/** The SQL that explains a figure of an issue gives the number beside it when pasted into SQLite. */

import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { readExplanations } from '../../../src/jobs/reports/issue-page.ts'
import type { Report } from '../../../src/jobs/reports/report-definition.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import { hasSqlite3 } from '../../support/data/sqlite3.ts'
import { folderWith } from '../../support/folder.ts'
import { DAILY, makeDue, reportDeps } from '../../support/mail/reports.ts'
import { startService } from '../../support/service.ts'
import { openSyncing } from '../../support/syncing.ts'

const NOW = new Date('2026-11-21T06:00:00Z')

const REPORT: Report = {
  ...DAILY,
  filter: {
    pipelineIds: ['pl_emea', 'pl_na_b2b'],
    conditions: [{ field: 'score', min: 40, max: null }],
  },
  queries: [
    {
      name: 'by-stage',
      title: 'By stage',
      note: null,
      place: 'report.yaml:1:1',
      sql: `SELECT status, count(*) AS leads FROM lead JOIN chosen ON lead_id = id
        WHERE created_at < :to GROUP BY status`,
    },
  ],
}

test.skipIf(!hasSqlite3)('every SQL of an issue runs as it is, and gives the value beside it', async () => {
  const folder = folderWith()
  await using service = await startService(folder, NOW, 8)
  await using syncing = await openSyncing(
    service.url,
    await service.createKey({ name: 'test', scope: 'read' }),
  )
  syncing.clock.now = NOW
  await syncing.sync({ pageSize: 500 })
  const { issue } = await makeDue(
    reportDeps(syncing.store, () => NOW),
    REPORT,
  )
  const blocks = (await readExplanations(syncing.store.db, issue)) ?? []
  const shown = blocks.flatMap(({ figures }) => figures)

  expect(shown.length).toBeGreaterThan(20)
  const numbers: Record<string, unknown> = {}
  for (const { title, value, sql, priorSql } of shown) {
    const sqls = [sql, ...(priorSql === null ? [] : [priorSql])]
    const answers = sqls.map((each) => ask(fileOf(syncing.store), each))
    if (value !== null) numbers[title] = [value, answers[0]?.[0]]
  }
  const { leads, newLeads, winRate, stalled } = issue.figures
  expect(leads).toBeGreaterThan(10)
  expect(numbers).toMatchObject({
    Leads: [leads.toLocaleString('en'), { value: leads }],
    'New leads': [String(newLeads.current), { value: newLeads.current }],
    'Win rate': [`${winRate.current.part} of ${winRate.current.whole}`, winRate.current],
    Stalled: [String(stalled.total), { value: stalled.total }],
  })
  const byStage = shown.find(({ title }) => title === 'By stage')
  const rows = ask(fileOf(syncing.store), byStage?.sql ?? '').map((row) => Object.values(row))
  expect(rows).toEqual(issue.figures.queries[0]?.rows)
  expect(rows.length).toBeGreaterThan(2)
})

/** Runs statements like an analyst. */
function ask(file: string, input: string): Record<string, unknown>[] {
  const printed = execFileSync('sqlite3', ['-json', file], { input, encoding: 'utf8' })
  return printed === '' ? [] : JSON.parse(printed)
}
