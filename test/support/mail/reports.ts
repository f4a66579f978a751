/** Makes and mails reports in tests, with the same functions as the program. */
import { join } from 'node:path'
import { BLOCKS } from '../../../src/domain/choices.ts'
import { createRateLimit } from '../../../src/jobs/outbox/rate-limit.ts'
import type { DeliverDeps, DeliveryPolicy } from '../../../src/jobs/outbox/send-batch.ts'
import {
  type EnqueuedIssue,
  enqueueReportNow,
  type ReportDeps,
} from '../../../src/jobs/reports/enqueue-report.ts'
import { findPeriod, makeIssue } from '../../../src/jobs/reports/make-issue.ts'
import type { Audience, Recipient, Report } from '../../../src/jobs/reports/report-definition.ts'
import { openTemplates } from '../../../src/report/render/templates.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { publishing } from '../data/publishing.ts'
import { openSyncedStore } from '../data/synced-store.ts'
import { folderWith } from '../folder.ts'
import { SENDER } from './message.ts'

/** Sends messages without waiting, and tries each once more if that is allowed. */
export const AT_ONCE: DeliveryPolicy = {
  rateLimit: createRateLimit(Number.POSITIVE_INFINITY),
  isRecipient: () => true,
}

const templates = await openTemplates('templates')

/** The report that exists without any settings. */
export const DAILY: Report = {
  name: 'daily',
  template: 'daily',
  title: 'Daily leads',
  kind: 'day',
  timeZone: 'UTC',
  locale: 'en-GB',
  filter: EVERY_LEAD,
  blocks: BLOCKS,
  attachments: [],
  queries: [],
  holidays: [],
  goals: [],
  fiscalYearStarts: 1,
  sendWhen: 'always',
  gate: { waitMinutes: 30, onStaleData: 'send' },
  stalledDays: 7,
  topScore: 80,
  leadUrl: null,
}

export function recipient(address: string, change: Partial<Audience> = {}): Recipient {
  const { timeZone, locale, filter, blocks, attachments } = DAILY
  return { address, name: null, timeZone, locale, filter, blocks, attachments, ...change }
}

/** @param folder of the archive; a new one by default */
export function reportDeps(
  store: Store,
  now: () => Date,
  folder = join(folderWith(), 'archive'),
): ReportDeps & Pick<DeliverDeps, 'policy'> {
  return {
    store,
    templates,
    archive: folder,
    sender: SENDER,
    maxBytes: 20_000_000,
    program: '0.0.0',
    now,
    policy: AT_ONCE,
    publishing: publishing(store, folderWith(), { now }),
  }
}

/** Opens a copy of a service of so many days, and the parts that make reports at a time which tests set. */
export async function openReporting(days: number, at: Date) {
  const store = await openSyncedStore(days)
  const clock = { now: at }
  const deps = reportDeps(store, () => clock.now)
  return { store, clock, deps, [Symbol.asyncDispose]: store.close }
}

/** Makes the issue that is due at the current time of `deps`, for audiences of all leads. */
export async function makeDue(deps: ReportDeps, report: Report = DAILY) {
  const period = await findPeriod(deps.store, report, deps.now())
  return makeIssue(deps, report, period, [report], new AbortController().signal)
}

/** Queues the messages that are due at the current time of `deps`. */
export async function enqueueDue(
  deps: ReportDeps,
  recipients: readonly Recipient[],
  report: Report = DAILY,
): Promise<readonly EnqueuedIssue[]> {
  const { signal } = new AbortController()
  return (await enqueueReportNow(deps, report, recipients, deps.now(), signal)).enqueuedIssues
}
