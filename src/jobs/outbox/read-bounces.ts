/**
 * Reads the mailbox of bounces behind the place where it was read last, by one process at a time, and takes the
 * events of the provider.
 */
import { createHash } from 'node:crypto'
import { errorText, LeadsheetError } from '../../errors.ts'
import { addressesIn } from '../../mail/bounce/free-form.ts'
import { readProviderEvent } from '../../mail/bounce/provider-event.ts'
import { type Known, readNotifications } from '../../mail/bounce/read-notification.ts'
import type { Mailbox } from '../../mail/mailbox.ts'
import type { Queue } from '../../queue/queue.ts'
import type { Trx } from '../../store/db/store.ts'
import {
  findBounceMailbox,
  insertNotification,
  isKnownNotification,
  type StoredNotification,
  saveBounceMailbox,
} from '../../store/outbox/notification.ts'
import { withLease } from '../../store/schedule/lease.ts'
import { MINUTE_MS } from '../../time.ts'
import { pauseRefused } from '../reports/preferences.ts'
import { createSerialTask, type SerialTask } from '../schedule/serial-task.ts'
import {
  type Applied,
  findNamed,
  isIgnored,
  type NotificationDeps,
  takeNotification,
} from './apply-notification.ts'

export interface ProviderDeps extends NotificationDeps {
  /** 0 if recipients are never paused. */
  readonly suppressAfterBounces: number
}

export interface BouncesDeps extends ProviderDeps {
  /** Opens the mailbox, without connecting to it yet. */
  readonly openMailbox: () => Mailbox
  /** The envelope sender, see `mail.bounces.address`. */
  readonly returnAddress: string | null
}

/** The most mails that say nothing and wait to be stored. */
const IGNORED_MAX = 200
const EVERY_MS = 5 * MINUTE_MS

/** Creates the daemon's task that reads the mailbox every five minutes. Of several workers, one runs it. */
export function createBouncesTask(
  deps: BouncesDeps & { readonly queue: Queue; readonly onUnsubscribed: () => void },
): SerialTask {
  const { store, log, now, queue, onUnsubscribed } = deps
  return createSerialTask(queue, 'bounces', async (signal) => {
    await using mailbox = deps.openMailbox()
    const { triedAt } = (await findBounceMailbox(store.db, mailbox.name)) ?? {}
    // A time of the future is of a clock that was wrong.
    if (triedAt !== undefined && Math.abs(now().getTime() - Date.parse(triedAt)) < EVERY_MS) return
    try {
      const { notifications } = await readBounces({ ...deps, openMailbox: () => mailbox }, signal)
      if (notifications.some(({ kind }) => kind === 'unsubscribe')) onUnsubscribed()
    } catch (thrown) {
      if (signal.aborted) return
      const isExpected =
        thrown instanceof LeadsheetError && ['mail_unreachable', 'job_busy'].includes(thrown.code)
      if (!isExpected) throw thrown
      log.warn(errorText(thrown))
    }
  })
}

/**
 * Reads what is new.
 * @throws LeadsheetError mail_unreachable, which is stored too; job_busy while another process reads
 */
export async function readBounces(deps: BouncesDeps, signal: AbortSignal) {
  const { store, now } = deps
  await using mailbox = deps.openMailbox()
  const { name } = mailbox
  const known: Known = {
    returnAddress: deps.returnAddress,
    addresses: addressesIn(`${deps.sender.from} ${deps.sender.replyTo ?? ''}`),
    recipientOf: async (ids) => (await findNamed(store.db, ids))?.recipient.toLowerCase() ?? null,
  }
  /** The notifications that say something about a message. */
  const notifications: Applied[] = []
  /** The number of messages in the mailbox that had not been read before. */
  let messages = 0
  await withLease(store, 'bounce-reader', now, async (lease) => {
    const earlier = await findBounceMailbox(store.db, name)
    const triedAt = now().toISOString()
    await store.write((trx) => saveBounceMailbox(trx, { name, triedAt }))
    const until = AbortSignal.any([signal, lease.lost])
    let place = earlier?.position ?? null
    // Most mails of a mailbox say nothing. They are stored together with the next one that does.
    const ignored: Pick<StoredNotification, 'id' | 'kind'>[] = []
    const keepPlace = async (trx: Trx): Promise<void> => {
      await lease.renew(trx, now())
      for (const one of ignored.splice(0))
        await insertNotification(trx, { ...one, readAt: triedAt, outcome: 'ignored', messageId: null })
      await saveBounceMailbox(trx, { name, triedAt, position: place })
    }
    try {
      for await (const { raw, position } of mailbox.read(place, { signal: until })) {
        const id = createHash('sha256').update(raw).digest('hex')
        place = position
        if (await isKnownNotification(store.db, id)) continue
        messages++
        const read = await readNotifications(raw, known)
        for (const [index, notification] of read.entries()) {
          if (isIgnored(notification)) {
            ignored.push({ id, kind: notification.kind })
            if (ignored.length >= IGNORED_MAX) await store.write(keepPlace)
            continue
          }
          // Only the last one of a mail has its id and moves the place, so that none is left out after a crash.
          const isLast = index === read.length - 1
          const arrived = { id: isLast ? id : `${id} ${index}`, notification, providerId: null }
          const applied = await takeNotification(deps, arrived, isLast ? keepPlace : undefined)
          if (applied !== null) notifications.push(applied)
        }
      }
      await store.write(async (trx) => {
        await keepPlace(trx)
        await saveBounceMailbox(trx, { name, triedAt, failingSince: null, response: null })
      })
    } catch (thrown) {
      if (thrown instanceof LeadsheetError && thrown.code === 'mail_unreachable') {
        const failing = { failingSince: earlier?.failingSince ?? triedAt, response: thrown.message }
        await store.write((trx) => saveBounceMailbox(trx, { name, triedAt, ...failing }))
      }
      throw thrown
    } finally {
      if (notifications.some(isBounce)) await pauseRefused(deps)
    }
  })
  return { mailbox: name, messages, notifications }
}

function isBounce({ kind, outcome }: Applied): boolean {
  return kind === 'bounced' && outcome === 'applied'
}

/**
 * Stores an event of the provider and applies it; an event that says nothing about a message is left out.
 * @param id the provider's id of the event
 */
export async function takeProviderEvent(deps: ProviderDeps, id: string, body: Buffer): Promise<void> {
  const event = readProviderEvent(parseJson(body))
  if (event === null) return
  const applied = await takeNotification(deps, { ...event, id: `event ${id}` })
  if (applied !== null && isBounce(applied)) await pauseRefused(deps)
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return null
  }
}
