/**
 * Sends messages one after the other under a lease, so that one process sends at a time, and the messages of a
 * killed process can be recovered.
 */
import { addAbortListener } from 'node:events'
import { errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { FailedSend } from '../../mail/sending.ts'
import { failedSendOf } from '../../mail/sending.ts'
import type { Transport } from '../../mail/transport.ts'
import { GIVE_UP, wait } from '../../retry.ts'
import type { Store } from '../../store/db/store.ts'
import {
  claimDelivery,
  type Delivery,
  type DeliveryMove,
  deferIssue,
  moveDelivery,
  recoverDeliveries,
  SENDER_LEASE,
} from '../../store/outbox/delivery.ts'
import { withdrawIfUnwanted } from '../../store/outbox/message-resolve.ts'
import type { MailOutage } from '../../store/outbox/send-limits.ts'
import { deleteMailOutages, listMailOutages, saveMailOutage } from '../../store/outbox/send-limits.ts'
import { readMessage } from '../../store/outbox/stored-message.ts'
import { claimLease } from '../../store/schedule/lease.ts'
import { HOUR_MS } from '../../time.ts'
import { moveAfterFailure, outageAfter, replyCodeIn, retryAt } from './message-retry.ts'
import type { RateLimit } from './rate-limit.ts'

export interface DeliveryPolicy {
  readonly rateLimit: RateLimit
  /** A null report stands for alerts. */
  readonly isRecipient: (address: string, report: string | null) => boolean
}

export interface DeliverDeps {
  readonly store: Store
  readonly transport: Transport
  readonly log: Log
  readonly now: () => Date
  readonly policy: DeliveryPolicy
}

export type SendingSession = NonNullable<Awaited<ReturnType<typeof openSession>>>

const SUSPECTS_IN_ROW = 2

/**
 * Claims the lease and recovers messages that killed senders left half-way; null if another process sends.
 */
export async function openSession(deps: DeliverDeps) {
  const { store, now } = deps
  const lease = await claimLease(store, SENDER_LEASE, now).catch((thrown: unknown) => {
    if (thrown instanceof LeadsheetError && thrown.code === 'job_busy') return null
    throw thrown
  })
  if (lease === null) return null
  try {
    await store.write((trx) => recoverDeliveries(trx, now().toISOString()))
  } catch (thrown) {
    await lease.release()
    throw thrown
  }
  return {
    ...deps,
    lease,
    suspectsInRow: 0,
    /** The last message, if the server refused it and named nobody. */
    refused: null as Delivery | null,
    [Symbol.asyncDispose]: lease.release,
  }
}

interface SendOptions {
  readonly signal: AbortSignal
  /** If null, every message is sent, however long the rate limit makes it wait. */
  readonly until: Date | null
}

/** Stops if the server cannot be reached, because the other messages would fail too. */
export async function sendAll(
  session: SendingSession,
  messages: readonly Delivery[],
  options: SendOptions,
): Promise<void> {
  const { store, transport } = session
  const outages = await listMailOutages(store.db)
  const signal = AbortSignal.any([options.signal, session.lease.lost])
  let isOver = outages.length === 0
  for (const one of messages) {
    if (!(await waitForRateLimit(session, { ...options, signal }))) return
    const suspicion = { isProbe: outages.length > 0, isAgain: !isOver || session.suspectsInRow > 0 }
    const end = await sendOne(session, one, suspicion, signal)
    if (signal.aborted) return
    if (end === 'passed_over') continue
    await noteRefusal(session, one, end)
    session.suspectsInRow = end !== 'sent' && end.concerns === 'either' ? session.suspectsInRow + 1 : 0
    if (end !== 'sent' && (end.concerns === 'server' || session.suspectsInRow >= SUSPECTS_IN_ROW)) {
      const before = isOver ? undefined : outages.find(({ server }) => server === transport.name)
      session.suspectsInRow = 0
      return noteOutage(session, before, end)
    }
    if (isOver || session.suspectsInRow > 0) continue
    await store.write(deleteMailOutages)
    isOver = true
  }
}

/**
 * Makes the other messages of an issue wait too, once the server has refused two in a row and named nobody: it
 * may refuse the content or the sender, whoever they are for. Those that wait for two days are still tried once.
 */
async function noteRefusal(session: SendingSession, one: Delivery, end: FailedSend | 'sent'): Promise<void> {
  const { store, now, log } = session
  const { issueId, messageId, attempts } = one
  const before = session.refused
  session.refused = end !== 'sent' && end.kind === 'refused' ? one : null
  if (end === 'sent' || session.refused === null || issueId === null) return
  if (before?.issueId !== issueId || before.messageId === messageId) return
  // The shortest wait of the ladder, so that they are tried before the refused ones: those may be alone in it.
  const nextAttemptAt = retryAt(attempts + 1, { now: now(), random: 0 }).toISOString()
  const since = new Date(now().getTime() - GIVE_UP.message.hours * HOUR_MS).toISOString()
  const { replyCode, isRefusal, said } = end
  const to = { at: now().toISOString(), nextAttemptAt, replyCode, isRefusal, response: said }
  const messages = await store.write((trx) => deferIssue(trx, issueId, to, since))
  if (messages > 0) log.warn({ messages, nextAttemptAt }, `the issue waits: ${end.said}`)
}

interface Suspicion {
  /** Tells whether the batch began during an outage. */
  readonly isProbe: boolean
  /** Tells whether the outage lasts, or the message just before this one failed for what may be the server. */
  readonly isAgain: boolean
}

/**
 * Blames the sender for a deferral such as a rate limit once two messages in a row have met it, so that it
 * counts against no recipient. Greylisting defers the first attempt for each recipient, so after the first wait
 * it no longer stops the others, whose time has to begin too.
 */
function judge(failed: FailedSend, { deferredAt }: Delivery, { isProbe, isAgain }: Suspicion): FailedSend {
  if (failed.concerns !== 'either' || failed.replyCode === null) return failed
  if (isProbe && deferredAt === null && /gr[ae]y/i.test(failed.said))
    return { ...failed, concerns: 'message' }
  return isAgain ? { ...failed, concerns: 'server' } : failed
}

/** @returns false if sending must end earlier */
async function waitForRateLimit(
  { policy: { rateLimit }, now }: DeliverDeps,
  { signal, until }: SendOptions,
): Promise<boolean> {
  for (;;) {
    const ms = rateLimit.msToWait(now())
    if (signal.aborted || (until !== null && now().getTime() + ms >= until.getTime())) return false
    if (ms === 0) break
    await wait(ms, signal).catch(() => {})
  }
  rateLimit.take(now())
  return true
}

async function noteOutage(session: SendingSession, before: MailOutage | undefined, failed: FailedSend) {
  const { store, transport, now, log, lease } = session
  const outage = outageAfter(before, transport.name, failed, { now: now(), random: Math.random() })
  await store.write(async (trx) => {
    await lease.renew(trx, now())
    await saveMailOutage(trx, outage)
  })
  const { failures, nextAttemptAt } = outage
  log.warn({ server: transport.name, failures, nextAttemptAt }, `no message can be sent: ${failed.said}`)
}

// Each step is stored before it is taken, so that a crash leaves known how far the message got.

/** The time for which a stopping program waits for the answer to a sent body. Without it the message is unconfirmed. */
const ANSWER_MS = 5_000

/**
 * Sends one message.
 * @param signal stops the sending; if the body is already being sent, the sending stops after a short wait
 *   for the server's answer
 * @returns `sent`, the failure, or `passed_over` if another process sends the message or the recipient no
 *   longer wants it
 * @throws LeadsheetError errors of the store, such as job_busy if another process has taken over
 */
async function sendOne(
  session: SendingSession,
  one: Delivery,
  suspicion: Suspicion,
  signal: AbortSignal,
): Promise<FailedSend | 'sent' | 'passed_over'> {
  const { store, transport, log, now, policy, lease } = session
  const { messageId, recipient } = one
  // This write does not wait for the disk. If a power cut loses this write, the message is still due, and
  // nothing of it was sent: the later write, just before the message's first byte is sent, waits for the
  // disk.
  const isOurs = await store.writeSoon(async (trx) => {
    const at = now()
    await lease.renew(trx, at)
    if (await withdrawIfUnwanted(trx, messageId, policy.isRecipient, at.toISOString())) return false
    return claimDelivery(trx, one, lease.holder, at.toISOString())
  })
  if (!isOurs) return 'passed_over'
  const move = (from: readonly Delivery['state'][], to: Omit<DeliveryMove, 'at'>): Promise<boolean> =>
    store.write(async (trx) => {
      const at = now()
      await lease.renew(trx, at)
      return moveDelivery(trx, messageId, from, { ...to, at: at.toISOString() })
    })
  using stop = createStopSignal(signal, ANSWER_MS)
  let report: string | undefined
  let response: string
  try {
    const message = await readMessage(store.db, messageId)
    report = message.report
    const onData = async (): Promise<void> => {
      stop.leaves()
      if (!(await move(['sending'], { state: 'data' }))) throw new Error(`${messageId} is sent no more`)
    }
    const { queuedAt } = one
    response = (await transport.send(message, { signal: stop.signal, onData, queuedAt })).response
  } catch (thrown) {
    const drawn = { now: now(), random: Math.random() }
    const reported = failedSendOf(thrown)
    if (reported === null) {
      // The failure is a bug in leadsheet and not a failure of the server. Only this message is deferred, so
      // that other messages can still be sent.
      const nextAttemptAt = retryAt(one.attempts + 1, drawn).toISOString()
      await move(['sending'], { state: 'pending', nextAttemptAt, response: errorText(thrown) })
      throw thrown
    }
    const failed = judge(reported, one, suspicion)
    const isStopped = signal.aborted && failed.kind === 'transient'
    const to = isStopped
      ? ({ state: 'pending', isNoAttempt: true } as const)
      : moveAfterFailure(one, failed, drawn)
    await move(['sending', 'data'], to)
    if (!isStopped) log.error({ recipient, report, state: to.state }, errorText(thrown))
    return failed
  }
  // This write stands outside the `try`, because the message was already sent: a failure of the store must
  // not count as a failure of the message.
  const receipt = { replyCode: replyCodeIn(response), isRefusal: false, response }
  await move(['sending', 'data'], { state: 'sent', nextAttemptAt: null, ...receipt })
  log.info({ recipient, report, response }, 'mail sent')
  return 'sent'
}

/**
 * Creates the signal that aborts the sending of one message when the program stops. It aborts at once if the
 * body is not being sent yet, otherwise after `patienceMs`.
 * @param patienceMs the milliseconds to wait for the server's answer after the body began to be sent
 */
function createStopSignal(stop: AbortSignal, patienceMs: number) {
  const broken = new AbortController()
  let hasLeft = false
  let timer: NodeJS.Timeout | undefined
  const breakOff = (): void => broken.abort(stop.reason)
  const listener = addAbortListener(stop, () => {
    if (hasLeft) timer = setTimeout(breakOff, patienceMs)
    else breakOff()
  })
  return {
    signal: broken.signal,
    leaves() {
      hasLeft = true
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      listener[Symbol.dispose]()
    },
  }
}
