/** The SQL that a snapshot contains gives each number of the last report. */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import { publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { ask, publishing } from '../../support/data/publishing.ts'
import { hasSqlite3 } from '../../support/data/sqlite3.ts'
import { folderWith } from '../../support/folder.ts'
import { DAILY, makeDue, reportDeps } from '../../support/mail/reports.ts'
import { startService } from '../../support/service.ts'
import { openSyncing } from '../../support/syncing.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const NEVER = new AbortController().signal

interface FigureEntry {
  readonly name: string
  readonly sql: string
  readonly prior_sql: string
}

interface Answer {
  readonly of?: string | null
  readonly value: number | null
  readonly part?: number
  readonly whole?: number
  /** The place in a list. */
  readonly id?: string
}

/** Returns the figures of a report in the form in which their SQL answers. */
function reported(figures: ReportFigures, which: 'current' | 'prior'): Record<string, Answer[]> {
  const money = (values: readonly { amount: number; currency: string }[]) =>
    values.map(({ amount, currency }) => ({ of: currency, value: amount }))
  return {
    new_leads: [{ value: figures.newLeads[which] }],
    won: [{ value: figures.won[which] }],
    won_value: money(figures.wonValue[which]),
    win_rate: [expect.objectContaining(figures.winRate[which])],
    open_value: money(figures.openValue[which]),
    ...(which === 'current' && {
      leads: [{ value: figures.leads }],
      stalled: [{ value: figures.stalled.total }],
    }),
  }
}

async function publishReported() {
  const folder = folderWith()
  await using service = await startService(folderWith(), NOW, 40)
  const key = await service.createKey({ name: 'test', scope: 'read' })
  await using syncing = await openSyncing(service.url, key, { folder })
  await syncing.sync({ pageSize: 500 })
  const report = {
    ...DAILY,
    timeZone: 'Europe/Berlin',
    filter: { pipelineIds: ['pl_emea'], conditions: [] },
    stalledDays: 3,
  }
  const { issue } = await makeDue(
    reportDeps(syncing.store, () => NOW),
    report,
  )
  const { figures } = issue
  const { file } = await publishSnapshot(publishing(syncing.store, folder), NEVER)
  return { file, figures }
}

describe('the figures in a snapshot', () => {
  it('give each number of the last report, of its pipelines, and of the period that it compares with', async () => {
    const { file, figures } = await publishReported()
    const entries = ask<FigureEntry>(file, "SELECT * FROM figure WHERE report = 'daily'")
    for (const [name, answer] of Object.entries(reported(figures, 'current'))) {
      expect(ask(file, entries.find((entry) => entry.name === name)?.sql ?? ''), name).toEqual(answer)
    }
    for (const [name, answer] of Object.entries(reported(figures, 'prior'))) {
      expect(ask(file, entries.find((entry) => entry.name === name)?.prior_sql ?? ''), name).toEqual(answer)
    }
    const list = (name: string) =>
      ask<{ id: string }>(file, entries.find((entry) => entry.name === name)?.sql ?? '').map(({ id }) => id)
    expect(list('top_leads').slice(0, 5)).toEqual(figures.topLeads.rows.slice(0, 5).map(({ id }) => id))
    expect(list('top_leads')).toHaveLength(figures.topLeads.total)
    expect(list('stalled_leads').slice(0, 5)).toEqual(figures.stalled.rows.slice(0, 5).map(({ id }) => id))
    expect(list('stalled_leads')).toHaveLength(figures.stalled.total)
    expect(figures.newLeads.current).toBeGreaterThan(0)
    expect(figures.stalled.rows.length).toBeGreaterThan(0)
    expect(figures.pipelines).toHaveLength(1)
  })

  it.skipIf(!hasSqlite3)('run in the sqlite3 of the machine', async () => {
    const { file } = await publishReported()
    for (const { name, sql } of ask<FigureEntry>(file, 'SELECT * FROM figure')) {
      const output = execFileSync('sqlite3', ['-json', file], { input: sql }).toString()
      const values = (rows: readonly Answer[]) => rows.map(({ of, value, id }) => [of, id, value?.toFixed(2)])
      expect(values(JSON.parse(output || '[]')), name).toEqual(values(ask(file, sql)))
    }
  })

  it('are those of the last whole day where no report was made yet', async () => {
    const folder = folderWith()
    await using service = await startService(folderWith(), NOW, 20)
    await using syncing = await openSyncing(
      service.url,
      await service.createKey({ name: 'test', scope: 'read' }),
    )
    await syncing.sync({ pageSize: 500 })
    const { file } = await publishSnapshot(publishing(syncing.store, folder), NEVER)
    expect(ask(file, 'SELECT DISTINCT report, period_from, period_to FROM figure')).toEqual([
      { report: '', period_from: '2026-11-20T00:00:00.000Z', period_to: '2026-11-21T00:00:00.000Z' },
    ])
  })
})
