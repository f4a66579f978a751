/**
 * The daemon's task that sends messages. A single daemon sends the due messages itself. With several workers,
 * each message becomes a job that any worker may take. The outbox table decides which messages still have to
 * be sent, so a job that runs twice sends nothing twice.
 */
import { once } from 'node:events'
import type { Queue } from '../../queue/queue.ts'
import { type Delivery, findDelivery, isAnyOnItsWay, listWaiting } from '../../store/outbox/delivery.ts'
import { findMailOutage, reserveProbe } from '../../store/outbox/send-limits.ts'
import { logFailure } from '../schedule/job-failure.ts'
import { combineTasks, createSerialTask, openOwnQueue, type SerialTask } from '../schedule/serial-task.ts'
import { dueTimesAt, isDue } from './message-retry.ts'
import { type DeliverDeps, openSender, recoverMessages, type Sender, sendAll } from './send-batch.ts'
import { deliverDue } from './send-due.ts'

interface OutboxWorkerDeps extends DeliverDeps {
  readonly queue: Queue
  /** Acts on the outcome of messages, such as refused ones. It is called after sending. */
  readonly onSent: () => Promise<void>
}

/**
 * The maximum number of messages that become jobs at once. The remaining messages become jobs in the next
 * minute.
 */
const QUEUED_MESSAGES = 10_000
/**
 * The time for which other workers wait while one worker tries one message during an outage. If that worker
 * has not reported within this time, it counts as dead and another worker may try.
 */
const PROBE_MS = 120_000
/** The wait after a sent message before `onSent` is called, so that one call covers several messages. */
const SENT_AFTER_MS = 5_000

export function createOutboxTask(deps: OutboxWorkerDeps): SerialTask {
  if (deps.store.place.kind === 'postgres') return createSharedOutbox(deps)
  return createSerialTask(deps.queue, 'outbox', async (signal) => {
    if (await deliverDue(deps, signal)) await deps.onSent()
  })
}

function createSharedOutbox(deps: OutboxWorkerDeps): SerialTask {
  const due = createSerialTask(deps.queue, 'outbox', () => queueMessages(deps))
  const sent = createSerialTask(openOwnQueue(deps.log), 'sent', deps.onSent)
  const tasks = combineTasks([due, createMessageWorker(deps, due.wake, sent.wake), sent])
  return { ...tasks, wake: due.wake }
}

/** Runs the jobs of single messages. All of these jobs share one sender. */
function createMessageWorker(
  deps: OutboxWorkerDeps,
  onServerBack: () => void,
  onSent: () => void,
): SerialTask {
  const { queue, log } = deps
  let sender: Sender | null = null
  let isSending = false
  let ended: Promise<void> | null = null
  let opened: AbortSignal | null = null
  let sentTimer: NodeJS.Timeout | undefined

  const endSender = async (): Promise<void> => {
    const ending = sender
    sender = null
    await ending?.[Symbol.asyncDispose]()
  }
  const send = async (messageId: string, signal: AbortSignal): Promise<void> => {
    isSending = true
    try {
      // Another worker may have taken over the lease while this machine slept.
      if (sender?.lease.lost.aborted) await endSender()
      sender ??= await openSender(deps)
      if (sender === null) return
      if ((await sendMessage(deps, sender, messageId, signal)) === 'server_back') onServerBack()
    } catch (thrown) {
      // It is unknown whether the message was sent. This sender is ended, so that the next sender recovers
      // the message, as after a kill.
      await endSender().catch((another: unknown) => logFailure(log, another, { queue: 'message' }))
      throw thrown
    } finally {
      isSending = false
      sentTimer ??= setTimeout(reportSent, SENT_AFTER_MS).unref()
    }
  }
  const reportSent = (): void => {
    sentTimer = undefined
    onSent()
  }
  const takeUntil = async (signal: AbortSignal): Promise<void> => {
    const working = queue.work('message', { concurrency: 1, signal }, (job) =>
      send(job.data.messageId, job.signal),
    )
    if (!signal.aborted) await once(signal, 'abort')
    clearTimeout(sentTimer)
    await working.idle()
    await endSender()
  }
  return {
    wake: () => undefined,
    open(signal) {
      opened = signal
      ended = takeUntil(signal).catch((thrown: unknown) => logFailure(log, thrown, { queue: 'message' }))
    },
    isBusy: () => isSending,
    async idle() {
      if (opened?.aborted) await ended
    },
  }
}

/**
 * Recovers messages that killed workers left half-way, then makes a job for each due message. During an
 * outage of the mail server it makes no jobs; when the next attempt is due, it makes a single job to test the
 * server.
 */
export async function queueMessages(deps: DeliverDeps & { readonly queue: Queue }): Promise<void> {
  const { store, transport, now, queue } = deps
  if (await isAnyOnItsWay(store.db)) await recoverMessages(deps)
  const times = dueTimesAt(now())
  const outage = await findMailOutage(store.db, transport.name)
  if (outage !== undefined && !isDue(outage.nextAttemptAt, times)) return
  const due = await listWaiting(store.db, times, outage === undefined ? QUEUED_MESSAGES : 1)
  await queue.enqueue(
    'message',
    due.map(({ messageId }) => ({ data: { messageId }, key: messageId })),
  )
}

/**
 * Sends one message, if it still has to be sent.
 * @returns `server_back` if sending the message ended an outage, so that the other messages can follow
 * @throws Error if a bug in leadsheet made an earlier attempt fail and the next attempt is not due yet
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
  return one.nextAttemptAt !== null && (one.state === 'pending' || one.state === 'unconfirmed')
}

/**
 * Returns whether the message waits because of a bug in leadsheet. Otherwise the message is new, or a server
 * deferred it.
 */
function isOurFault(one: Delivery): boolean {
  return one.state === 'pending' && one.attempts > 0 && one.deferredAt === null
}
