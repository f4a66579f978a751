/**
 * Sends messages one after the other under a lease, so that the messages of a killed process can be
 * recovered. On an SQLite file one process sends at a time; on PostgreSQL several do, each with a lease of
 * its own.
 */
import { randomUUID } from 'node:crypto'
import type { UnconfirmedPolicy } from '../../domain/choices.ts'
import { LeadsheetError } from '../../errors.ts'
import type { FailedSend } from '../../mail/smtp-failure.ts'
import { wait } from '../../retry.ts'
import type { Store } from '../../store/db/store.ts'
import { type Delivery, recoverDeliveries, SENDER_LEASE } from '../../store/outbox/delivery.ts'
import {
  deleteMailOutages,
  findMailOutage,
  listMailOutages,
  type MailOutage,
  saveMailOutage,
} from '../../store/outbox/send-limits.ts'
import { claimLease, type Lease } from '../../store/schedule/lease.ts'
import { doubtsMaxOf, outageAfter } from './message-retry.ts'
import type { RateLimit } from './rate-limit.ts'
import { type HandOverDeps, handOver } from './send-one.ts'

export interface DeliveryPolicy {
  readonly onUnconfirmed: UnconfirmedPolicy
  /** The rate limit that all senders to the same server share. */
  readonly rateLimit: RateLimit
}

export interface DeliverDeps extends HandOverDeps {
  readonly policy: DeliveryPolicy
}

export interface Sender extends AsyncDisposable {
  readonly lease: Lease
  /** The number of messages in a row during which the connection broke. */
  lostInRow: number
}

/** The number of broken connections in a row after which the server is to blame. */
const LOST_IN_ROW = 2

/**
 * Claims the sender's lease and recovers messages that killed senders left half-way.
 * @returns the sender; null if only one process may send and another process is sending
 */
export async function openSender(deps: DeliverDeps): Promise<Sender | null> {
  const lease = await claimLease(deps.store, leaseName(deps.store), deps.now).catch((thrown: unknown) => {
    if (thrown instanceof LeadsheetError && thrown.code === 'job_busy') return null
    throw thrown
  })
  if (lease === null) return null
  const sender = { lease, lostInRow: 0, [Symbol.asyncDispose]: lease.release }
  try {
    await recoverMessages(deps)
  } catch (thrown) {
    await lease.release()
    throw thrown
  }
  return sender
}

function leaseName({ place }: Store): string {
  return place.kind === 'sqlite' ? SENDER_LEASE : `${SENDER_LEASE}:${randomUUID()}`
}

/** Recovers messages that killed senders left half-way. */
export async function recoverMessages({
  store,
  now,
  policy,
}: Pick<DeliverDeps, 'store' | 'now' | 'policy'>): Promise<void> {
  await store.write((trx) => recoverDeliveries(trx, now(), doubtsMaxOf(policy.onUnconfirmed)))
}

export interface SendOptions {
  readonly signal: AbortSignal
  /**
   * The time at which sending must end; null if every message must be sent, even if the rate limit makes it
   * wait for long.
   */
  readonly until: Date | null
}

/**
 * Sends the messages in order. Stops if the server cannot be reached, because the other messages would fail
 * too.
 */
export async function sendAll(
  deps: DeliverDeps,
  sender: Sender,
  messages: readonly Delivery[],
  options: SendOptions,
): Promise<void> {
  const outages = await listMailOutages(deps.store.db)
  const signal = AbortSignal.any([options.signal, sender.lease.lost])
  let isOver = outages.length === 0
  for (const one of messages) {
    if (!(await waitForTurn(deps, { ...options, signal }))) return
    const end = await handOver(deps, sender.lease, one, signal)
    if (signal.aborted) return
    if (end === 'passed_over') continue
    sender.lostInRow = end !== 'sent' && end.concerns === 'either' ? sender.lostInRow + 1 : 0
    if (end !== 'sent' && (end.concerns === 'server' || sender.lostInRow >= LOST_IN_ROW)) {
      const before = isOver ? undefined : outages.find(({ server }) => server === deps.transport.name)
      sender.lostInRow = 0
      return noteOutage(deps, sender, before, end)
    }
    if (isOver || sender.lostInRow > 0) continue
    await deps.store.write(deleteMailOutages)
    isOver = true
  }
}

/**
 * Waits until the rate limit permits a message.
 * @returns true if the message may be sent; false if sending must end earlier
 */
async function waitForTurn(
  { policy: { rateLimit }, now }: DeliverDeps,
  { signal, until }: SendOptions,
): Promise<boolean> {
  const isOver = (inMs = 0): boolean =>
    signal.aborted || (until !== null && now().getTime() + inMs >= until.getTime())
  while (!isOver()) {
    const ms = await rateLimit.tryTake(now())
    if (ms === 0) return true
    if (isOver(ms)) return false
    await wait(ms, signal).catch(() => {})
  }
  return false
}

/**
 * Stores an outage of the mail server. If several workers notice the outage at the same time, only one of
 * them stores it.
 */
async function noteOutage(
  { store, transport, now, log }: DeliverDeps,
  { lease }: Sender,
  before: MailOutage | undefined,
  failed: FailedSend,
): Promise<void> {
  const outage = outageAfter(before, transport.name, failed, { now: now(), random: Math.random() })
  const isNew = await store.write(async (trx) => {
    await lease.renew(trx, now())
    const known = await findMailOutage(trx, transport.name)
    if (known?.failures !== before?.failures) return false
    await saveMailOutage(trx, outage)
    return true
  })
  if (!isNew) return
  const { failures, nextAttemptAt } = outage
  log.warn({ server: transport.name, failures, nextAttemptAt }, `no message can be sent: ${failed.said}`)
}
