/**
 * The beat of the notices: looks for troubles, and writes what is to be told into the ledger of messages and the queue
 * of the webhook in one transaction. What leaves the house does so later, and fails without failing anything else.
 */
import type { Log } from '../log.ts'
import { messageId } from '../mail/message.ts'
import type { Instant, Message } from '../model.ts'
import type { NoticeMessage } from '../notify/message.ts'
import type { RenderNotice } from '../report/render/notice-message.ts'
import {
  deleteNotices,
  deleteNoticesBefore,
  findNextNoticeId,
  listLiveNotices,
  saveNotices,
} from '../store/alerts/alert.ts'
import { deleteMessagesBefore, insertNoticeMessage, listMessageTimes } from '../store/alerts/alert-message.ts'
import type { Store } from '../store/db/store.ts'
import { enqueueNotice } from '../store/outbox/delivery.ts'
import { findTroubles } from './find-troubles.ts'
import { decide, GAPS_COUNT_MS, type NoticeRules, REOPEN_MS } from './notice.ts'
import { composeMessage, messageView } from './notice-message.ts'
import type { Watch, Watched } from './troubles/watch.ts'

/** What is long over is forgotten. */
const KEPT_MS = 90 * 24 * 60 * 60_000

/** Who is told, and how. */
export interface Operators {
  /** Null where nobody is mailed. */
  readonly mail: MailedOperators | null
  readonly hasWebhook: boolean
  readonly rules: NoticeRules
  /** The machine and its data directory. */
  readonly place: string
}

export interface MailedOperators {
  readonly recipients: readonly string[]
  readonly from: string
  readonly replyTo: string | null
  readonly render: RenderNotice
}

export interface NoticeDeps {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  readonly watched: Watched
  readonly watches: readonly Watch[]
  readonly operators: Operators
}

/** @returns what is to be told; null where nothing is */
export async function noteTroubles(deps: NoticeDeps): Promise<NoticeMessage | null> {
  const { store, log, operators } = deps
  const now = deps.now()
  const sighting = await findTroubles(deps.watches, deps.watched, log, now)
  const notices = await listLiveNotices(store.db, before(now, REOPEN_MS))
  const kept = {
    notices,
    nextId: await findNextNoticeId(store.db),
    messagesAt: await listMessageTimes(store.db, before(now, GAPS_COUNT_MS)),
  }
  const { changed, dropped, telling } = decide(sighting, kept, operators.rules, now)
  if (changed.length + dropped.length === 0) return null
  const at = now.toISOString()
  const after = new Map([...notices, ...changed].map((notice) => [notice.id, notice.state]))
  const open = [...after.values()].filter((state) => state === 'open').length
  const message = telling && composeMessage(telling, open, operators.place, at)
  const messages = message && operators.mail ? messagesOf(store, operators.mail, message) : []
  await store.write(async (trx) => {
    await saveNotices(trx, changed)
    await deleteNotices(trx, dropped)
    if (message === null) return
    const content = JSON.stringify(message)
    await insertNoticeMessage(trx, { madeAt: at, content, hasWebhook: operators.hasWebhook })
    for (const message of messages) await enqueueNotice(trx, message, at)
    await deleteNoticesBefore(trx, before(now, KEPT_MS))
    await deleteMessagesBefore(trx, before(now, KEPT_MS))
  })
  if (message !== null) logMessage(log, message)
  return message
}

/** A message to each operator. */
export function messagesOf(
  { installationId }: Pick<Store, 'installationId'>,
  { recipients, from, replyTo, render }: MailedOperators,
  message: NoticeMessage,
): Message[] {
  const content = render(messageView(message))
  const { made_at: date } = message
  return recipients.map((recipient) => {
    const identity = {
      installationId,
      report: REPORT,
      period: { from: date, to: date },
      recipient,
      revision: 0,
    }
    return {
      ...{ from, to: recipient, toName: null, replyTo, unsubscribe: { mailto: replyTo ?? from, url: null } },
      ...{ ...content, lang: 'en', files: [], date, report: REPORT },
      messageId: messageId({ ...identity, from }),
    }
  })
}

/** In the headers, in the place of the name of a report. */
const REPORT = 'notices'

function logMessage(log: Log, { raised, reminded, recovered }: NoticeMessage): void {
  for (const { id, reason, subject, message, hint } of [...raised, ...reminded]) {
    log.warn({ notice: id, reason, subject, hint }, message)
  }
  for (const { id, reason, subject } of recovered) log.info({ notice: id, reason, subject }, 'it is over')
}

function before(now: Date, ms: number): Instant {
  return new Date(now.getTime() - ms).toISOString()
}
