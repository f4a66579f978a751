/**
 * Applies what a notification says to the message that it is about and to the recipient's preference. Whichever
 * way and in whichever order notifications come, they end the same.
 */
import type { Log } from '../../log.ts'
import { inOneLine } from '../../mail/bounce/mime.ts'
import type { Notification } from '../../mail/bounce/notification.ts'
import { composeConfirmation } from '../../report/preferences/confirmation.ts'
import { createLocaleContext, nameReport } from '../../report/words/locale-context.ts'
import type { Db, Store, Trx } from '../../store/db/store.ts'
import {
  type Delivery,
  type DeliveryMove,
  enqueueMessage,
  moveDelivery,
} from '../../store/outbox/delivery.ts'
import {
  findMessageById,
  insertNotification,
  isKnownNotification,
  listMessagesTo,
  type NotifiedMessage,
  readSubject,
  type StoredNotification,
} from '../../store/outbox/notification.ts'
import { copyPreferences, findPreference, type PreferenceKey } from '../../store/reports/preference.ts'
import { DAY_MS, MINUTE_MS } from '../../time.ts'
import { changePreferenceIn } from '../reports/preferences.ts'
import type { Recipient, Report } from '../reports/report-definition.ts'
import { type MailSender, messageFor } from './compose-message.ts'
import { replyCodeIn } from './message-retry.ts'

export interface NotificationDeps {
  readonly store: Store
  readonly sender: MailSender
  readonly reports: readonly { readonly report: Report; readonly recipients: readonly Recipient[] }[]
  /** The language and the time zone for recipients whom the settings no longer name. */
  readonly reader: { readonly locale: string; readonly timeZone: string }
  readonly log: Log
  readonly now: () => Date
}

/** Tells whether a notification says nothing about a message, so that it is only stored. */
export function isIgnored({ kind, recipients }: Notification): boolean {
  return kind === 'auto_reply' || (kind === 'other' && recipients.length === 0)
}

/** A notification as it came, which says something about a message. */
interface ArrivedNotification {
  /** The SHA-256 of its bytes, or the provider's id of the event. */
  readonly id: string
  readonly notification: Notification
  /** The id by which the provider knows the message; null in a mailbox. */
  readonly providerId: string | null
}

export type Applied = Awaited<ReturnType<typeof apply>>

/** One transaction that applies a notification, at a time. */
interface Work extends NotificationDeps {
  readonly trx: Trx
  readonly at: Date
}

/**
 * Stores a notification and applies it in one transaction.
 * @param also what is stored with it, such as the position in the mailbox
 * @returns null if it was known
 */
export async function takeNotification(
  deps: NotificationDeps,
  arrived: ArrivedNotification,
  also: (trx: Trx) => Promise<void> = async () => {},
): Promise<Applied | null> {
  const { store, log } = deps
  const applied = await store.write(async (trx) => {
    await also(trx)
    return (await isKnownNotification(trx, arrived.id))
      ? null
      : apply({ ...deps, trx, at: deps.now() }, arrived)
  })
  if (applied === null) return null
  const { kind, outcome, recipient, report, said } = applied
  if (outcome === 'applied' && kind !== 'bounced') await copyPreferences(store)
  log.info({ kind, outcome, recipient, report, said }, 'notification read')
  return applied
}

async function apply(work: Work, arrived: ArrivedNotification) {
  const { id, notification } = arrived
  const { kind, said, recipients } = notification
  const message = await findMessage(work, arrived)
  const unsubscribed = kind === 'unsubscribe' ? await unsubscribe(work, notification, message) : null
  const outcome = unsubscribed?.outcome ?? (await moveMessage(work, notification, message))
  const messageId = message?.messageId ?? null
  await insertNotification(work.trx, { id, readAt: work.at.toISOString(), kind, outcome, messageId })
  const about = unsubscribed?.key ?? message
  /** The recipient of the message; without a message, the address that the notification is about. */
  const recipient = unsubscribed?.key?.address ?? message?.recipient ?? recipients[0] ?? null
  return { kind, outcome, recipient, report: about?.report ?? null, said }
}

/** Returns the message with the first of the ids that is one of ours. */
export async function findNamed(db: Db, ids: readonly string[]): Promise<NotifiedMessage | null> {
  for (const id of ids) {
    const named = await findMessageById(db, id)
    if (named !== undefined) return named
  }
  return null
}

/** Servers try a message for up to five days before they return it. */
const QUOTED_DAYS = 6

/**
 * Finds the message by the ids that the notification names. Without one of ours, finds it by its recipient, but
 * only if the notification quotes the subject of exactly one message of the last days.
 */
async function findMessage(
  { trx, at: now }: Work,
  { notification: { kind, ids, recipients, quoted, at }, providerId }: ArrivedNotification,
): Promise<NotifiedMessage | null> {
  const named = await findNamed(trx, ids)
  if (named !== null) return named
  if (kind === 'unsubscribe') return null
  const until = at === null || at > now.toISOString() ? now.toISOString() : at
  const since = new Date(Date.parse(until) - QUOTED_DAYS * DAY_MS).toISOString()
  const found: NotifiedMessage[] = []
  for (const address of recipients) {
    for (const message of await listMessagesTo(trx, address, since, until)) {
      if (providerId !== null && message.response?.includes(providerId)) return message
      if (quotes(quoted, inOneLine(await readSubject(trx, message.messageId)))) found.push(message)
    }
  }
  return found.length === 1 ? (found[0] ?? null) : null
}

/** Matches the text before the subject of an answer, or of a message that was sent on. */
const PREFIXED = /(?:^|\W)(?:re|aw|sv|antw|tr|rv|fwd?|wg) ?[:：] ?$/i

function quotes(quoted: string, subject: string): boolean {
  const at = quoted.indexOf(subject)
  return subject !== '' && at !== -1 && !PREFIXED.test(quoted.slice(Math.max(0, at - 9), at))
}

async function moveMessage(
  { trx, at }: Work,
  { kind, reason, recipients, status, said }: Notification,
  message: NotifiedMessage | null,
): Promise<StoredNotification['outcome']> {
  if (message === null) return 'unmatched'
  const { messageId, recipient, report, unconfirmedCount, isRefusal: wasRefusal } = message
  const done = { at: at.toISOString(), nextAttemptAt: null, replyCode: null, isRefusal: false }
  // It proves that the message was sent, even if its sender was killed before it could store that.
  const unproven: Delivery['state'][] =
    unconfirmedCount > 0 ? ['data', 'unconfirmed', 'pending', 'sending'] : ['data', 'unconfirmed']
  // Behind an alias or a forwarding another address is at fault, or somebody else complains.
  const isTheirs = recipients.length === 0 || recipients.includes(recipient.toLowerCase())
  const move = (from: readonly Delivery['state'][], to: Omit<DeliveryMove, 'at'>) =>
    moveDelivery(trx, messageId, [...unproven, ...from], { ...done, response: said || kind, ...to })
  let isMoved = false
  if (kind === 'delivered' || (kind === 'complained' && !isTheirs)) {
    isMoved = await move([], { state: 'sent' })
  } else if (kind === 'bounced') {
    const isRefusal = reason === 'recipient' && isTheirs
    const alike = alikeOf(status, said, recipient)
    const to = { state: 'bounced', replyCode: replyCodeIn(said), isRefusal, alike } as const
    // Of two bounces of one message, the one for good counts.
    isMoved = await move(isRefusal && wasRefusal === 0 ? ['sent', 'bounced'] : ['sent'], to)
  } else if (kind === 'complained') {
    // It proves that the message arrived, whatever else came back for it.
    const response = 'reported as spam by its recipient'
    isMoved = await move(['sent', 'bounced'], { state: 'complained', response })
    const by = { by: 'recipient', reason: 'reported a message as spam' } as const
    if (isMoved && report !== null)
      await changePreferenceIn(trx, { address: recipient, report }, 'stop', by, at)
  }
  return isMoved ? 'applied' : 'unchanged'
}

const ALIKE_LENGTH = 60

/** Returns what bounces with the same cause have in common: the code, or else words without names and numbers. */
function alikeOf(status: string | null, said: string, recipient: string): string {
  if (status !== null && !status.endsWith('.0.0')) return status
  const names = new Set(recipient.toLowerCase().split('@'))
  const words = said
    .toLowerCase()
    .replace(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, '')
    .split(/[^\p{L}.+_-]+/u)
  return words
    .filter((word) => word !== '' && !names.has(word))
    .join(' ')
    .slice(0, ALIKE_LENGTH)
}

/** Unsubscribes the recipient of the message that was named, or else the author, and confirms it. */
async function unsubscribe(
  work: Work,
  { recipients, report, at }: Notification,
  message: NotifiedMessage | null,
): Promise<Pick<StoredNotification, 'outcome'> & { readonly key: PreferenceKey | null }> {
  const { trx, at: now } = work
  const author = recipients[0] ?? null
  const key = message === null ? ownReport(work, author, report) : keyOf(message)
  if (key === null) return { key, outcome: 'unmatched' }
  const earlier = await findPreference(trx, key)
  // A mail from before the recipient came back, in a mailbox that is read for the first time, is over.
  const isOver = at !== null && (earlier?.changedAt ?? '') > at
  if (earlier?.state === 'unsubscribed' || isOver) return { key, outcome: 'unchanged' }
  const by = author === key.address.toLowerCase() ? null : author
  const reason = by === null ? 'by mail' : `by mail from ${by}`
  await changePreferenceIn(trx, key, 'stop', { by: 'recipient', reason }, now)
  const own = message
    ? [message]
    : await listMessagesTo(trx, key.address.toLowerCase(), '', now.toISOString())
  const last = own.find((each) => each.report === key.report)
  // Nobody gets a mail to whom none was ever sent.
  if (last !== undefined) await confirm(work, last, by)
  return { key, outcome: 'applied' }
}

/** Null for an alert, which nobody can unsubscribe from. */
function keyOf({ recipient: address, report }: NotifiedMessage): PreferenceKey | null {
  return report === null ? null : { address, report }
}

/** Finds the report that is meant: the named one, or the only one that the settings send to the author. */
function ownReport(
  { reports }: NotificationDeps,
  author: string | null,
  named: string | null,
): PreferenceKey | null {
  const theirs = reports.flatMap(({ report: { name }, recipients }) => {
    const own = recipients.find(({ address }) => address.toLowerCase() === author)
    const isMeant = named === null || named.toLowerCase() === name.toLowerCase()
    return own !== undefined && isMeant ? [{ address: own.address, report: name }] : []
  })
  return theirs.length === 1 ? (theirs[0] ?? null) : null
}

async function confirm(work: Work, last: NotifiedMessage, by: string | null): Promise<void> {
  const { trx, at: now, store, sender, reports, reader } = work
  const { issueId, recipient: address, report, periodFrom: from, periodTo: to } = last
  if (issueId === null || report === null || from === null || to === null) return
  const at = now.toISOString()
  const of = reports.find((each) => each.report.name === report)
  const known = of?.recipients.find((one) => one.address.toLowerCase() === address.toLowerCase())
  const { locale: lang, timeZone } = known ?? of?.report ?? reader
  const locale = createLocaleContext(lang, timeZone, at)
  // The number is another one for each mail that unsubscribes.
  const revision = -Math.floor(now.getTime() / MINUTE_MS)
  const facts = {
    address,
    title: of?.report.title ?? nameReport(report, locale),
    by,
    url: sender.unsubscribe.pageOf?.({ address, report }) ?? null,
    contact: sender.replyTo ?? sender.from,
  }
  const message = messageFor(
    store,
    { report, period: { from, to }, renderedAt: at },
    { address, name: known?.name ?? null },
    { ...composeConfirmation(facts, locale), lang, files: [], notAttached: '' },
    sender,
    revision,
  )
  await enqueueMessage(trx, issueId, message, at, revision)
}
