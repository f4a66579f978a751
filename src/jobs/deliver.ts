/**
 * Delivery: one letter a recipient, each step in the ledger before it is taken. A letter that was sent is never sent
 * again; one that may have arrived is sent once more under the same Message-ID, or left to a person.
 */
import type { InDoubtPolicy } from '../choices.ts'
import { LeadsheetError } from '../errors.ts'
import type { FailedSend } from '../mail/failure.ts'
import type { Letter } from '../model.ts'
import { wait } from '../retry.ts'
import {
  type Delivery,
  isAnyOnItsWay,
  listDeliveries,
  listWaiting,
  recoverDeliveries,
} from '../store/delivery.ts'
import { claimLease, type Lease } from '../store/lease.ts'
import {
  deleteMailOutages,
  findMailOutage,
  listMailOutages,
  type MailOutage,
  saveMailOutage,
} from '../store/mail-outage.ts'
import { type HandOverDeps, handOver } from './hand-over.ts'
import { doubtsMaxOf, dueTimesAt, isDue, outageAfter } from './letter-retry.ts'
import type { Pace } from './pace.ts'

export interface DeliveryPolicy {
  readonly inDoubt: InDoubtPolicy
  /** Shared by all that sends to the same server. */
  readonly pace: Pace
}

export interface DeliverDeps extends HandOverDeps {
  readonly policy: DeliveryPolicy
}

/** What became of a letter. */
export interface DeliverySummary {
  readonly recipient: string
  readonly state: Delivery['state']
  readonly response: string | null
  /** False where it had been sent before this call. */
  readonly isNew: boolean
}

/** So that whatever else is to be done gets its turn. */
const BATCH_MS = 60_000
const BATCH_LETTERS = 1_000
/** Connections lost in the midst of so many letters in a row are put down to the server. */
const LOST_IN_ROW = 2

/**
 * Sends what is not sent of these editions, whatever the time since the last attempt; where another process is
 * sending, that one does it when their time comes.
 * @param only the Message-IDs of the letters that are meant; all of them unless given
 * @returns those letters, edition by edition
 * @throws LeadsheetError job_busy where another process has taken over meanwhile
 */
export async function deliverEditions(
  deps: DeliverDeps,
  editions: readonly { readonly id: string }[],
  signal: AbortSignal,
  only?: ReadonlySet<string>,
): Promise<DeliverySummary[]> {
  const list = async (): Promise<Delivery[]> => {
    const lists: Delivery[] = []
    for (const { id } of editions) lists.push(...(await listDeliveries(deps.store.db, id)))
    return only === undefined ? lists : lists.filter(({ messageId }) => only.has(messageId))
  }
  const before = new Map((await list()).map((one) => [one.messageId, one.state]))
  const isOurs = await whileAlone(deps, signal, async (batch) => {
    const isUnsent = (one: Delivery): boolean => one.nextAttemptAt !== null
    await sendAll(deps, batch, (await list()).filter(isUnsent))
  })
  const outage = await findMailOutage(deps.store.db, deps.transport.name)
  const whyNot = isOurs ? outage && `${outage.server}: ${outage.response}` : 'another process is sending'
  return (await list()).map((one) => ({
    recipient: one.recipient,
    state: one.state,
    response: one.state === 'pending' ? (whyNot ?? one.response) : one.response,
    isNew: before.get(one.messageId) !== 'sent',
  }))
}

/**
 * Sends the letters of whatever edition whose next attempt is due, for a minute at most; nothing while the server is
 * not to be tried yet, or another process sends.
 * @returns whether there were any
 */
export async function deliverDue(deps: DeliverDeps, signal: AbortSignal): Promise<boolean> {
  const { db } = deps.store
  const from = deps.now()
  const outage = await findMailOutage(db, deps.transport.name)
  const isAway = outage !== undefined && !isDue(outage.nextAttemptAt, dueTimesAt(from))
  const isAnyDue = !isAway && (await listWaiting(db, dueTimesAt(from), 1)).length > 0
  // Of those that a process left half-way it is to be known also while none is sent.
  if (!isAnyDue && !(await isAnyOnItsWay(db))) return false
  const until = new Date(from.getTime() + BATCH_MS)
  return whileAlone(deps, signal, async (batch) => {
    if (isAway) return
    const due = await listWaiting(db, dueTimesAt(deps.now()), BATCH_LETTERS)
    await sendAll(deps, { ...batch, until }, due)
  })
}

/** Sends a letter to somebody who wants to look at it: outside the ledger, and said in the subject. */
export async function sendTest(
  { transport }: Pick<DeliverDeps, 'transport'>,
  letter: Letter,
  signal: AbortSignal,
): Promise<string> {
  const { response } = await transport.send({ ...letter, subject: `[Test] ${letter.subject}` }, { signal })
  return response
}

/** Letters that are sent one after the other. */
interface Batch {
  readonly lease: Lease
  readonly signal: AbortSignal
  /** Ends then; with null it waits until each letter may go. */
  readonly until: Date | null
}

/**
 * One process sends at a time; before it begins, what an earlier one left half-way is put right.
 * @returns false where another one is at it
 */
async function whileAlone(
  deps: DeliverDeps,
  signal: AbortSignal,
  work: (batch: Batch) => Promise<void>,
): Promise<boolean> {
  const lease = await claimLease(deps.store, 'delivery', deps.now).catch((thrown: unknown) => {
    if (thrown instanceof LeadsheetError && thrown.code === 'job_busy') return null
    throw thrown
  })
  if (lease === null) return false
  try {
    const doubtsMax = doubtsMaxOf(deps.policy.inDoubt)
    await deps.store.write((trx) => recoverDeliveries(trx, deps.now().toISOString(), doubtsMax))
    await work({ lease, signal: AbortSignal.any([signal, lease.lost]), until: null })
    return true
  } finally {
    await lease.release()
  }
}

/** A server that cannot be talked to ends the batch: the other letters would only meet the same. */
async function sendAll(deps: DeliverDeps, batch: Batch, letters: readonly Delivery[]): Promise<void> {
  const outages = await listMailOutages(deps.store.db)
  let isOver = outages.length === 0
  let lostInRow = 0
  for (const one of letters) {
    if (!(await waitForTurn(deps, batch))) return
    const end = await handOver(deps, batch.lease, one, batch.signal)
    if (batch.signal.aborted) return
    if (end === 'passed_over') continue
    lostInRow = end !== 'sent' && end.concerns === 'either' ? lostInRow + 1 : 0
    if (end !== 'sent' && (end.concerns === 'server' || lostInRow === LOST_IN_ROW)) {
      const before = isOver ? undefined : outages.find(({ server }) => server === deps.transport.name)
      return noteOutage(deps, batch, before, end)
    }
    if (isOver || lostInRow > 0) continue
    await deps.store.write(deleteMailOutages)
    isOver = true
  }
}

/** @returns false where the batch ends instead */
async function waitForTurn(
  { policy: { pace }, now }: DeliverDeps,
  { signal, until }: Batch,
): Promise<boolean> {
  for (let ms = pace.msToWait(now()); ms > 0 && !signal.aborted; ms = pace.msToWait(now())) {
    if (until !== null && now().getTime() + ms >= until.getTime()) return false
    await wait(ms, signal).catch(() => {})
  }
  const at = now()
  if (signal.aborted || (until !== null && at >= until)) return false
  pace.take(at)
  return true
}

async function noteOutage(
  { store, transport, now, log }: DeliverDeps,
  { lease }: Batch,
  before: MailOutage | undefined,
  failed: FailedSend,
): Promise<void> {
  const outage = outageAfter(before, transport.name, failed, { now: now(), random: Math.random() })
  await store.write(async (trx) => {
    await lease.renew(trx, now())
    await saveMailOutage(trx, outage)
  })
  const { failures, nextAttemptAt } = outage
  log.warn({ server: transport.name, failures, nextAttemptAt }, `no letter can be sent: ${failed.said}`)
}
