/**
 * Leads, statistics and agents with absurd values in any field, from the answers of an upstream to mails, the
 * archive, files and pages. `SEED=7 npx vitest run test/jobs/sync/absurd-values.test.ts` tries other values.
 */
import { readFileSync } from 'node:fs'
import { readSheet } from 'read-excel-file/node'
import { describe, expect, it } from 'vitest'
import { ATTACHED_LISTS } from '../../../src/domain/choices.ts'
import type { PeriodKind } from '../../../src/domain/figures.ts'
import { listFigureFiles, makeFigureFile } from '../../../src/jobs/reports/issue-page.ts'
import { createContents } from '../../../src/jobs/reports/report-content.ts'
import type { Report } from '../../../src/jobs/reports/report-definition.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { DAILY, makeDue, reportDeps } from '../../support/mail/reports.ts'
import { random } from '../../support/random.ts'
import { absurdRecord } from '../../support/source/absurd.ts'
import { eventOf, type Following, openFollowing } from '../../support/source/following.ts'
import { startUpstream } from '../../support/upstream.ts'
import { AS_BROWSER, ask, NOW, openDashboard, signIn } from '../../support/web/dashboard.ts'

const SEED = Number(process.env['SEED'] ?? 17)
const next = random(SEED)
const DAY_MS = 24 * 60 * 60_000
const LEADS = 300
/** The limit for the CPU time of a report, whatever its data are. */
const REPORT_MS = 5_000

const AGENT = {
  id: 'a',
  name: 'Scout',
  kind: 'discovery',
  status: 'failing',
  status_changed_at: '2026-11-19T01:14:00Z',
  current_task: {
    type: 'crawl',
    pipeline_id: 'pipeline-1',
    lead_id: null,
    started_at: '2026-11-20T01:00:00Z',
    progress: 0.4,
  },
  last_seen_at: '2026-11-20T04:58:00Z',
  last_24h: { tasks: 120, errors: 41 },
  last_error: { at: '2026-11-20T04:50:00Z', message: 'source answered 429 Too Many Requests' },
}
const STATISTICS = {
  pipeline_id: 'p',
  name: 'EU',
  status: 'active',
  as_of: '2026-11-20T05:00:00Z',
  totals: { leads: 90, open: 60, won: 9, lost: 11, disqualified: 10 },
  stages: ['discovered', 'contacted', 'won'].map((stage) => ({
    stage,
    current: 9,
    reached: 30,
    conversion: 0.3,
    median_hours: 40,
  })),
  open_value: { amount: 90_000, currency: 'USD' },
  won_value: { amount: 9_000, currency: 'USD' },
  win_rate: 0.45,
}
const ACTIVITY = {
  id: 'x',
  at: '2026-11-19T10:00:00Z',
  type: 'moved',
  from_status: 'contacted',
  to_status: 'replied',
}

const REPORTS: readonly Report[] = (['day', 'week'] as const satisfies PeriodKind[]).map((kind) => ({
  ...DAILY,
  name: kind,
  kind,
  topScore: 1,
  leadUrl: 'https://crm.example.com/leads/{id}',
  attachments: ['charts', ...ATTACHED_LISTS.flatMap((list) => [`${list}.csv`, `${list}.xlsx`]), 'own.xlsx'],
  queries: [
    {
      name: 'own',
      title: 'Own',
      note: null,
      place: 'report.yaml:1:1',
      sql: `SELECT company_name, contact_name, value_amount * 1e300 AS huge, -9e999 AS below_all, 1e-320 AS tiny,
        total(score) AS sum, value_currency FROM lead GROUP BY id ORDER BY id LIMIT 40`,
    },
  ],
}))

describe(`values that are absurd (SEED=${SEED})`, () => {
  it('keep no report from being made in good time, as mail, in the archive, as files and as pages', async () => {
    await using upstream = await startUpstream(LEADS)
    await using copy = await openFollowing(upstream.url)
    upstream.answer = (path) => {
      if (path === '/leads') return leadsOf(upstream.leads)
      if (path === '/agents/status') return `{"data":[${times(30, () => absurdRecord(AGENT, 0.1, next))}]}`
      if (path.endsWith('/stats')) return absurdRecord(STATISTICS, 0.05, next)
      const activity = times(5, () => absurdRecord(ACTIVITY, 0.2, next))
      return path.startsWith('/leads/')
        ? `{"id":null,"enrichment":{"x":1e308},"activity":[${activity}]}`
        : null
    }
    for (const ago of [2, 1, 0]) {
      copy.clock.now = new Date(NOW.getTime() - ago * DAY_MS)
      const { leads } = await copy.sync({
        full: true,
        pageSize: 1000,
        details: { perRun: 100, concurrency: 4 },
      })
      expect(leads.quarantined).toBeGreaterThan(20)
      expect(leads.seen).toBeGreaterThan(100)
      await copy.intake.take([...upstream.leads.keys()].slice(0, 20).map((id) => eventOf(id)))
      await copy.worker.idle()
    }
    for (const report of REPORTS) await expectReports(copy, report)
    await expectPages(copy.store)
  })
})

function leadsOf(leads: ReadonlyMap<string, object>): string {
  const changed = [...leads.values()].map((lead, index) => ({
    ...lead,
    created_at: new Date(NOW.getTime() - (index % 40) * DAY_MS).toISOString(),
    status_changed_at: new Date(NOW.getTime() - (index % 9) * DAY_MS).toISOString(),
    status: ['contacted', 'replied', 'won', 'lost', 'qualified'][Math.floor(next() * 5)],
  }))
  return `{"data":[${changed.map((lead) => absurdRecord(lead, 0.06, next))}],"page":{"next_cursor":null,"has_more":false,"total":1e308}}`
}

function times(count: number, make: () => string): string {
  return Array.from({ length: count }, make).join(',')
}

async function expectReports(copy: Following, report: Report): Promise<void> {
  const deps = reportDeps(copy.store, () => NOW)
  const { issue, page } = await inTime(`${report.name}: archive`, () => makeDue(deps, report))
  expect(issue.figures.failed).toEqual([])
  expectFinite(issue.figures, 'figures')
  expect(issue.figures.leads).toBeGreaterThan(100)
  expect(readFileSync(page, 'utf8').length).toBeGreaterThan(10_000)
  const findContent = createContents(deps, report, issue)
  for (const locale of ['en-GB', 'de-DE']) {
    const mail = await inTime(`${report.name}: ${locale}`, () =>
      findContent({ ...report, locale }, 'ana@example.com'),
    )
    expect(mail.failed).toEqual([])
    // The text of a link is as long as the id in it.
    const text = mail.text.replace(/https:\S+/g, '')
    expect(text).not.toMatch(/NaN|Infinity|∞|undefined|\[object/)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(200)
    expect(mail.html.length).toBeLessThan(1_000_000)
    for (const { name, content } of mail.files.filter(({ name }) => name.endsWith('.xlsx')))
      expect((await readSheet(Buffer.from(content))).length, name).toBeGreaterThan(0)
  }
  for (const { name } of listFigureFiles(issue)) {
    const file = await inTime(`${report.name}: ${name}`, () => makeFigureFile(issue, name))
    expect(Buffer.from(file?.content ?? '').toString(), name).not.toMatch(/,(?:NaN|-?Infinity|undefined)\b/)
  }
}

async function expectPages(store: Store): Promise<void> {
  const dashboard = await openDashboard(undefined, '', async () => ({
    ...store,
    close: async () => undefined,
  }))
  const { cookie } = await signIn(dashboard.url)
  for (const path of ['/', '/agents', '/archive', '/metrics']) {
    const headers = { ...AS_BROWSER, cookie }
    const answer = await inTime(path, () => ask(`${dashboard.url}${path}`, { headers }))
    expect(answer.status, path).toBe(200)
    expect(answer.text).not.toMatch(/>(?:NaN|-?Infinity|−?∞|undefined)</)
  }
}

function expectFinite(value: unknown, where: string): void {
  if (typeof value === 'number') expect(Number.isFinite(value), `${where} ${value}`).toBe(true)
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) expectFinite(inner, `${where}.${name}`)
}

async function inTime<T>(what: string, work: () => Promise<T>): Promise<T> {
  const before = process.cpuUsage()
  const done = await work()
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000, what).toBeLessThan(REPORT_MS)
  return done
}
