/**
 * Sends messages, one per recipient. Each step is stored before it is taken. A sent message is never sent
 * again. An unconfirmed message (nobody knows whether it was sent) is sent once more under the same
 * Message-ID, or left to a person. `store/outbox/delivery.ts` describes the states of a message.
 * `message-retry.ts` decides when a message is sent again.
 */
import type { Message } from '../../domain/message.ts'
import type { Queue } from '../../queue/queue.ts'
import { type Delivery, isAnyOnItsWay, listDeliveries, listWaiting } from '../../store/outbox/delivery.ts'
import { findMailOutage } from '../../store/outbox/send-limits.ts'
import { createSerialTask, type SerialTask } from '../schedule/serial-task.ts'
import { dueTimesAt, isDue } from './message-retry.ts'
import { type DeliverDeps, openSession, type SendingSession, sendAll } from './send-batch.ts'

interface OutboxTaskDeps extends DeliverDeps {
  readonly queue: Queue
  readonly onSent: () => Promise<void>
}

/** Creates the daemon's task that sends messages. Of several workers, one runs it at a time. */
export function createOutboxTask(deps: OutboxTaskDeps): SerialTask {
  return createSerialTask(deps.queue, 'outbox', async (signal) => {
    if (await deliverDue(deps, signal)) await deps.onSent()
  })
}

export type DeliverySummary = Awaited<ReturnType<typeof deliverIssues>>[number]

const BATCH_MS = 60_000
const BATCH_MESSAGES = 1_000

/**
 * Sends the unsent messages of the given issues now, without waiting for their backoff. Sends nothing if
 * another process is sending, because that process sends these messages when they are due.
 * @param only the Message-IDs to consider; all messages if absent
 * @returns the results of all messages considered, grouped by issue; messages sent earlier are included
 * @throws LeadsheetError job_busy if another process takes over while this process is sending
 */
export async function deliverIssues(
  deps: DeliverDeps,
  issues: readonly { readonly id: string }[],
  signal: AbortSignal,
  only?: ReadonlySet<string>,
) {
  const list = async (): Promise<Delivery[]> => {
    const lists: Delivery[] = []
    for (const { id } of issues) lists.push(...(await listDeliveries(deps.store.db, id)))
    return only === undefined ? lists : lists.filter(({ messageId }) => only.has(messageId))
  }
  const before = new Map((await list()).map((one) => [one.messageId, one.state]))
  const isOurs = await whileSending(deps, async (session) => {
    const isUnsent = (one: Delivery): boolean => one.nextAttemptAt !== null
    await sendAll(session, (await list()).filter(isUnsent), { signal, until: null })
  })
  const outage = await findMailOutage(deps.store.db, deps.transport.name)
  const whyNot = isOurs ? outage && `${outage.server}: ${outage.response}` : 'another process is sending'
  return (await list()).map((one) => ({
    recipient: one.recipient,
    state: one.state,
    response: one.state === 'pending' ? (whyNot ?? one.response) : one.response,
    /** False if the message had already been sent before this call. */
    isNew: before.get(one.messageId) !== 'sent',
  }))
}

/**
 * Sends the messages that are due, for at most a minute. During an outage it sends none.
 * @returns false if no message was due, or another process sends
 */
export async function deliverDue(deps: DeliverDeps, signal: AbortSignal): Promise<boolean> {
  const { db } = deps.store
  const from = deps.now()
  const outage = await findMailOutage(db, deps.transport.name)
  const isAway = outage !== undefined && !isDue(outage.nextAttemptAt, dueTimesAt(from))
  const isAnyDue = !isAway && (await listWaiting(db, dueTimesAt(from), 1)).length > 0
  // Messages that a killed process left half-way are recovered even if no message is due.
  if (!isAnyDue && !(await isAnyOnItsWay(db))) return false
  const until = new Date(from.getTime() + BATCH_MS)
  return whileSending(deps, async (session) => {
    if (isAway) return
    const due = await listWaiting(db, dueTimesAt(deps.now()), BATCH_MESSAGES)
    await sendAll(session, due, { signal, until })
  })
}

/** Sends a test message. Its subject says that it is a test, and it is not stored in the outbox. */
export async function sendTest(
  { transport }: Pick<DeliverDeps, 'transport'>,
  message: Message,
  signal: AbortSignal,
): Promise<string> {
  const { response } = await transport.send({ ...message, subject: `[Test] ${message.subject}` }, { signal })
  return response
}

/** @returns false if another process holds the lease */
async function whileSending(
  deps: DeliverDeps,
  work: (session: SendingSession) => Promise<void>,
): Promise<boolean> {
  await using session = await openSession(deps)
  if (session === null) return false
  await work(session)
  return true
}
