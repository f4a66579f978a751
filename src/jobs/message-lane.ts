/**
 * The lane of messages where several workers send beside each other: each message is a job that any of them takes. What
 * is to be sent says the ledger alone; a job says which message to look at, and done twice it sends nothing twice.
 */
import type { Queue } from '../queue/queue.ts'
import { type Delivery, findDelivery, isAnyOnItsWay, listWaiting } from '../store/outbox/delivery.ts'
import { findMailOutage, reserveProbe } from '../store/outbox/smtp-circuit.ts'
import { writeArchiveIndex } from './archive/archive-index.ts'
import { dueTimesAt, isDue } from './outbox/message-retry.ts'
import { type DeliverDeps, openSender, recoverMessages, type Sender, sendAll } from './outbox/send-batch.ts'
import { type PauseDeps, pauseRefused } from './recipients/change-preference.ts'
import { logFailure } from './schedule/job-failure.ts'
import { createLane, type Lane } from './schedule/lane.ts'
import { aborted, createSharedLane } from './schedule/shared-lane.ts'
import type { Work } from './work.ts'

export interface MessageLaneDeps extends DeliverDeps, Pick<Work, 'archive'>, Pick<PauseDeps, 'pauseAfter'> {
  readonly queue: Queue
}

/** Sent as jobs at once; the rest follows in the next minute. */
const QUEUED_MESSAGES = 10_000
/** A message that shows whether the server is back has its answer by then, or its sender is gone. */
const PROBE_MS = 120_000
/** After messages were sent the list of all issues is written anew, with those that went out meanwhile. */
const SETTLE_MS = 5_000

export function createMessageLane(deps: MessageLaneDeps): Lane {
  const { queue, log } = deps
  const due = createSharedLane(queue, 'messages', log, () => queueMessages(deps))
  const settled = createLane(log, async () => {
    await pauseRefused(deps)
    await writeArchiveIndex(deps.archive, deps.store.db)
  })
  let sender: Sender | null = null
  let isSending = false
  let opened: AbortSignal | null = null
  let ended: Promise<void> | null = null
  let settling: NodeJS.Timeout | undefined

  const endSender = async (): Promise<void> => {
    const ending = sender
    sender = null
    await ending?.[Symbol.asyncDispose]()
  }
  const send = async (messageId: string, signal: AbortSignal): Promise<void> => {
    isSending = true
    try {
      // Another worker may have taken this one for gone while its machine slept.
      if (sender?.lease.lost.aborted) await endSender()
      sender ??= await openSender(deps)
      if (sender === null) return
      if ((await sendMessage(deps, sender, messageId, signal)) === 'server_back') due.poke()
    } catch (thrown) {
      // What became of the message may not be noted; it is left to whoever sends next, as by one that was killed.
      await endSender().catch((another: unknown) => logFailure(log, another, { queue: 'message' }))
      throw thrown
    } finally {
      isSending = false
      settling ??= setTimeout(settle, SETTLE_MS).unref()
    }
  }
  const settle = (): void => {
    settling = undefined
    settled.poke()
  }
  const takeUntil = async (signal: AbortSignal): Promise<void> => {
    const taking = await queue.work('message', { concurrency: 1 }, ({ data, signal: untilLost }) =>
      send(data.messageId, untilLost),
    )
    await aborted(signal)
    clearTimeout(settling)
    await taking.stop()
    await endSender()
  }
  return {
    poke: due.poke,
    open(signal) {
      opened = signal
      due.open(signal)
      settled.open(signal)
      ended = takeUntil(signal).catch((thrown: unknown) => logFailure(log, thrown, { queue: 'message' }))
    },
    isBusy: () => due.isBusy() || isSending,
    async idle() {
      await due.idle()
      if (opened?.aborted) await ended
      await settled.idle()
    },
  }
}

/**
 * A job for each message that is due; while the server is not to be tried yet none, and one when it is. What workers that
 * are gone left half-way is put right before.
 */
export async function queueMessages(deps: DeliverDeps & { readonly queue: Queue }): Promise<void> {
  const { store, transport, now, queue } = deps
  if (await isAnyOnItsWay(store.db)) await recoverMessages(deps)
  const times = dueTimesAt(now())
  const outage = await findMailOutage(store.db, transport.name)
  if (outage !== undefined && !isDue(outage.nextAttemptAt, times)) return
  const due = await listWaiting(store.db, times, outage === undefined ? QUEUED_MESSAGES : 1)
  await queue.sendAll(
    'message',
    due.map(({ messageId }) => ({ data: { messageId }, key: messageId })),
  )
}

/**
 * Sends one message, if that is still to be done.
 * @returns `server_back` where it has ended an outage, so that the others can follow
 * @throws Error what kept it from being sent at an earlier try of the job, where that was a mistake of ours
 */
export async function sendMessage(
  deps: DeliverDeps,
  sender: Sender,
  messageId: string,
  signal: AbortSignal,
): Promise<'done' | 'server_back'> {
  const { store, transport, now } = deps
  const one = await findDelivery(store.db, messageId)
  if (one === undefined || !isWaiting(one)) return 'done'
  const times = dueTimesAt(now())
  if (!isDue(one.nextAttemptAt, times)) {
    if (isOurFault(one)) throw new Error(`${messageId}: ${one.response}`)
    return 'done'
  }
  const outage = await findMailOutage(store.db, transport.name)
  if (outage !== undefined) {
    if (!isDue(outage.nextAttemptAt, times)) return 'done'
    const until = new Date(now().getTime() + PROBE_MS).toISOString()
    if (!(await store.write((trx) => reserveProbe(trx, outage, until)))) return 'done'
  }
  await sendAll(deps, sender, [one], { signal, until: null })
  if (outage === undefined) return 'done'
  return (await findMailOutage(store.db, transport.name)) === undefined ? 'server_back' : 'done'
}

function isWaiting(one: Delivery): one is Delivery & { nextAttemptAt: string } {
  return one.nextAttemptAt !== null && (one.state === 'pending' || one.state === 'in_doubt')
}

/** No server has put it off, and yet it is to wait. */
function isOurFault(one: Delivery): boolean {
  return one.state === 'pending' && one.attempts > 0 && one.putOffAt === null
}
