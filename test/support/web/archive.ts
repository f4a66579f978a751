/**
 * The dashboard over a store with issues that the program made and mailed. The recipients read English or
 * German, and get all leads or some. The mail server refuses one of them.
 */

import { onTestFinished } from 'vitest'
import type { Message } from '../../../src/domain/message.ts'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import type { Recipient, Report } from '../../../src/jobs/reports/report-definition.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { enqueueMessage } from '../../../src/store/outbox/delivery.ts'
import { saveIssue, type UnsavedIssue } from '../../../src/store/reports/issue.ts'
import { openSyncedStore } from '../data/synced-store.ts'
import { MESSAGE, unsavedIssue } from '../mail/message.ts'
import { AT_ONCE, DAILY, enqueueDue, recipient, reportDeps } from '../mail/reports.ts'
import { openMailServer, refusal } from '../mail-server.ts'
import { SILENT } from '../syncing.ts'
import { NOW, openDashboard } from './dashboard.ts'

export const REPORT: Report = { ...DAILY, attachments: ['stalled.csv', 'stalled.xlsx'] }
const EMEA = { filter: { pipelineIds: ['pl_emea'], conditions: [] } }

export const PEOPLE: readonly Recipient[] = [
  recipient('ana@example.com', { attachments: REPORT.attachments }),
  recipient('ben@example.com', EMEA),
  recipient('clara@example.com', { locale: 'de-DE', timeZone: 'Europe/Berlin' }),
  recipient('gone@example.com'),
]

/** @param more settings as YAML; without them the report has no recipients in the settings */
export async function openArchive(more?: string) {
  // Sixteen days, so that the trend is drawn.
  const dashboard = await openDashboard(undefined, more, () => openSyncedStore(16, NOW))
  const { store } = dashboard
  const clock = { now: NOW }
  const mailServer = await openMailServer({
    onRcptTo: ({ address }, _, done) =>
      done(address.startsWith('gone@') ? refusal(550, '5.1.1 no such user') : null),
  })
  onTestFinished(() => mailServer[Symbol.asyncDispose]())
  const transport = openTransport(mailServer.url, { log: SILENT })
  onTestFinished(() => transport[Symbol.asyncDispose]())
  const deps = reportDeps(store, () => clock.now)
  const deliver = async () => {
    const { signal } = new AbortController()
    await deliverDue({ ...deps, transport, log: SILENT, policy: AT_ONCE }, signal)
  }
  return {
    ...dashboard,
    deps,
    mailServer,
    /** Sends the waiting messages. */
    deliver,
    /** Makes and mails the report that is due at a moment. */
    async mail(at: Date) {
      clock.now = at
      await enqueueDue(deps, PEOPLE, REPORT)
      await deliver()
    },
  }
}

/** Keeps an issue of a day with one message, and returns its id. */
export function keepIssue(
  store: Store,
  issue: Partial<UnsavedIssue>,
  message: Partial<Message> = {},
): Promise<string> {
  const kept = unsavedIssue({ programVersion: '1.2.3', subject: 'kept', html: '', text: 'kept', ...issue })
  return store.write(async (trx) => {
    const { id } = await saveIssue(trx, kept)
    const { subject, html, text } = kept
    const mail = { ...MESSAGE, subject, html, text, messageId: '<1@example.com>', ...message }
    await enqueueMessage(trx, id, mail, MESSAGE.date)
    return id
  })
}

/** Returns the path of the page of the newest issue, by default of that for all leads. */
export async function pathOfIssue(store: Store, variant = ''): Promise<string> {
  const { id } = await store.db
    .selectFrom('report_issue')
    .where('variant', '=', variant)
    .orderBy('period_to', 'desc')
    .select('id')
    .executeTakeFirstOrThrow()
  return `/archive/${id}`
}
