/**
 * The demo's reports by the whole route: the reference service over HTTP, a sync, figures, words and charts.
 * Everything follows from the seed, so each machine makes the same mails.
 */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import { findPeriod, readIssueFigures } from '../../../src/jobs/reports/make-issue.ts'
import { createContents } from '../../../src/jobs/reports/report-content.ts'
import type { Audience, Report } from '../../../src/jobs/reports/report-definition.ts'
import { openTemplates } from '../../../src/report/render/templates.ts'
import { openService } from '../../../src/service/open.ts'
import { DAILY, reportDeps } from '../../support/mail/reports.ts'
import { TEMPLATES_FOLDER } from '../../support/report.ts'
import { openSyncing } from '../../support/syncing.ts'
import type { MailPage } from '../pages.ts'

/** The moments of the weekly report about the week before, and of the daily report of the day after. */
const MONDAY = new Date('2026-11-23T06:04:00Z')
const TUESDAY = new Date('2026-11-24T06:04:00Z')
const SYNC_TAKES_MS = 4 * 60_000
/** The 90 days of the trend and the 6 days before them need leads that were won too. */
const HISTORY_DAYS = 130
const SEED = 3
const RUN_ID = '20261123T060000Z-0b5e7a'
const COMPANIES = fileURLToPath(new URL('../../../data/companies.ndjson', import.meta.url))
/** The time limit on a slow machine. */
export const DEMO_MS = 120_000
const SIGNAL = new AbortController().signal

export interface DemoReport {
  readonly report: Report
  readonly figures: ReportFigures
  readonly pageFor: (name: string, audience?: Partial<Audience>) => Promise<MailPage>
}

export interface Demo extends AsyncDisposable {
  /** The path of the database at the moment of the daily report. */
  readonly file: string
  readonly weekly: DemoReport
  readonly daily: DemoReport
}

/** Makes the weekly of the Monday and the daily of the Tuesday, from one copy that is synced in between. */
export async function openDemo(): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-demo-'))
  let now = MONDAY
  const service = await openService({
    file: join(folder, 'service.db'),
    companiesFile: COMPANIES,
    seed: SEED,
    historyDays: HISTORY_DAYS,
    rateLimitPerMinute: 1_000_000,
    now: () => now.getTime() - SYNC_TAKES_MS,
  })
  const key = await service.createKey({ name: 'test', scope: 'read' })
  const syncing = await openSyncing(service.url, key, { folder })
  const make = async (report: Report, at: Date): Promise<DemoReport> => {
    now = at
    await service.catchUp()
    syncing.clock.now = service.now()
    await syncing.sync({ pageSize: 500, details: { perRun: 10_000, concurrency: 8 } })
    const deps = reportDeps(syncing.store, () => at, folder, folder)
    const period = await findPeriod(syncing.store, report, at)
    const read = await readIssueFigures(deps, report, period, [report], SIGNAL)
    // The id of a run is random, so a fixed one takes its place.
    const figures = { ...read, freshness: { ...read.freshness, runId: RUN_ID } }
    const findContent = createContents(deps, report, { figures, renderedAt: at.toISOString() })
    return {
      report,
      figures,
      pageFor: async (name, audience = {}) => {
        const { files, ...rendered } = await findContent({ ...report, ...audience }, 'dana@example.com')
        const images = new Map(files.flatMap(({ cid, content }) => (cid === null ? [] : [[cid, content]])))
        return { name, rendered, images }
      },
    }
  }
  const common = { ...DAILY, timeZone: 'Europe/Berlin', stalledDays: 14, topScore: 60 }
  const { blocks } = (await openTemplates(TEMPLATES_FOLDER)).definition('weekly')
  const weekly = await make(
    { ...common, name: 'weekly', template: 'weekly', title: 'Weekly leads', kind: 'week', blocks },
    MONDAY,
  )
  const daily = await make(common, TUESDAY)
  return {
    file: join(folder, 'leadsheet.db'),
    weekly,
    daily,
    async [Symbol.asyncDispose]() {
      await syncing[Symbol.asyncDispose]()
      await service.close()
      await rm(folder, { recursive: true })
    },
  }
}
