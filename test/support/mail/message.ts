/** A message for tests, and its sender. */

import type { Message, MessageFile } from '../../../src/domain/message.ts'
import type { Instant } from '../../../src/domain/model.ts'
import type { MailSender } from '../../../src/jobs/outbox/compose-message.ts'
import type { Trx } from '../../../src/store/db/store.ts'
import { enqueueMessage } from '../../../src/store/outbox/delivery.ts'
import type { UnsavedIssue } from '../../../src/store/reports/issue.ts'
import { busyDay } from '../reports/figures.ts'

export const MESSAGE: Message = {
  from: 'leadsheet <reports@example.com>',
  to: 'dana@example.org',
  toName: 'Dana Lopes',
  replyTo: 'ops@example.com',
  unsubscribe: { mailto: 'ops@example.com', url: null },
  lang: 'en',
  subject: 'Daily leads: 59 new (+18%), 3 won · Fri 20 Nov',
  html: '<p>59 new leads and 3 won: “a better day”</p>',
  text: '59 new leads and 3 won\n.\na line with only a dot came before\n',
  messageId: '<k3m9@example.com>',
  date: '2026-11-21T05:04:00.000Z',
  report: 'daily',
  files: [],
  notAttached: 'Not attached, because the mail server takes no message of this size:',
}

/** Two pictures that the HTML shows, and an attachment. */
export const FILES: readonly MessageFile[] = [
  { name: 'trend.png', contentType: 'image/png', content: bytes(3_000), cid: 'trend@leadsheet' },
  { name: 'trend-dark.png', contentType: 'image/png', content: bytes(2_000), cid: 'trend-dark@leadsheet' },
  {
    name: 'daily-stalled-2026-11-20.csv',
    contentType: 'text/csv; charset=utf-8',
    content: Buffer.from('id,company\r\n1,Müller & Söhne\r\n'),
    cid: null,
  },
]

/** Returns bytes of every value, line ends included. */
function bytes(count: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, index) => (index * 7) % 256)
}

/** The sender of all messages in tests. */
export const SENDER: MailSender = {
  from: 'reports@example.com',
  replyTo: null,
  unsubscribe: { mailto: 'reports@example.com', pageOf: null },
}

/** Returns an issue of a busy day, made for all leads. */
export function unsavedIssue(change: Partial<UnsavedIssue> = {}): UnsavedIssue {
  const figures = busyDay()
  const about = { report: 'daily', variant: '', period: figures.period, renderedAt: figures.period.to }
  return { ...about, programVersion: null, subject: 's', html: 'h', text: 't', figures, ...change }
}

/** Saves an issue of a report of the same name without content. */
export async function saveBlankIssue(trx: Trx, id: string, at: Instant): Promise<void> {
  const text = { subject: '', html: '', text: '', figures: '{}' }
  const period = { period_from: at, period_to: at, time_zone: 'UTC', rendered_at: at }
  await trx
    .insertInto('report_issue')
    .values({ id, report: id, ...period, ...text })
    .execute()
}

/** Saves an issue, and queues a message of it to each address. The ids are those of the issue and the address. */
export async function mailTo(
  trx: Trx,
  issueId: string,
  addresses: readonly string[],
  at: Instant,
): Promise<void> {
  await saveBlankIssue(trx, issueId, at)
  for (const to of addresses)
    await enqueueMessage(trx, issueId, { ...MESSAGE, to, messageId: `${issueId} ${to}` }, at)
}
