/**
 * Delivery: one letter a recipient, each step in the ledger before it is taken. A letter that was sent is
 * never sent again; one that may have arrived is sent once more under the same Message-ID.
 */
import { errorText, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import { classifySendFailure } from '../mail/failure.ts'
import type { Transport } from '../mail/transport.ts'
import type { Letter } from '../model.ts'
import {
  type Delivery,
  listDeliveries,
  listDeliveriesIn,
  moveDelivery,
  recoverDeliveries,
} from '../store/delivery.ts'
import { claimLease, type Lease } from '../store/lease.ts'
import { readLetter } from '../store/letter.ts'
import type { Store } from '../store/open.ts'

const MINUTE_MS = 60_000
/** Waits between the attempts of the daemon; the last one repeats. */
const RETRY_MINUTES = [1, 5, 15, 60] as const
const ATTEMPTS_MAX = 24

export interface DeliverDeps {
  readonly store: Store
  readonly transport: Transport
  readonly log: Log
  readonly now: () => Date
}

/** What became of the letters of an edition. */
export interface DeliverySummary {
  readonly recipient: string
  readonly state: Delivery['state']
  readonly response: string | null
  /** False where it had been sent before this call. */
  readonly isNew: boolean
}

/**
 * Sends what is not sent of these editions, whatever the time since the last attempt.
 * @returns all their letters, edition by edition
 */
export async function deliverEditions(
  deps: DeliverDeps,
  editions: readonly { readonly id: string }[],
  signal: AbortSignal,
): Promise<DeliverySummary[]> {
  const list = async (): Promise<Delivery[]> => {
    const lists: Delivery[] = []
    for (const { id } of editions) lists.push(...(await listDeliveries(deps.store.db, id)))
    return lists
  }
  const before = new Map((await list()).map((one) => [one.messageId, one.state]))
  await withDeliveryLease(deps, async (lease) => {
    await sendAll(deps, lease, (await list()).filter(isUnsent), signal)
  })
  return (await list()).map((one) => ({
    recipient: one.recipient,
    state: one.state,
    response: one.response,
    isNew: before.get(one.messageId) !== 'sent',
  }))
}

/**
 * Sends the letters of any edition whose next attempt is due.
 * @returns whether there were any
 */
export async function deliverDue(deps: DeliverDeps, signal: AbortSignal): Promise<boolean> {
  const unsent = await listDeliveriesIn(deps.store.db, ['pending', 'sending', 'data', 'in_doubt'])
  if (!unsent.some((one) => isUnsent(one) && isDue(one, deps.now()))) return false
  await withDeliveryLease(deps, async (lease) => {
    const open = await listDeliveriesIn(deps.store.db, ['pending', 'in_doubt'])
    const due = open.filter((one) => isUnsent(one) && isDue(one, deps.now()))
    await sendAll(deps, lease, due, signal)
  })
  return true
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

/** One process sends at a time; before it begins, what an earlier one left half-way is put right. */
async function withDeliveryLease(deps: DeliverDeps, work: (lease: Lease) => Promise<void>): Promise<void> {
  const lease = await claimLease(deps.store, 'delivery', deps.now)
  try {
    await deps.store.write(recoverDeliveries)
    await work(lease)
  } finally {
    await lease.release()
  }
}

/** In doubt for the second time stays so: a person decides. */
function isUnsent(one: Delivery): boolean {
  if (one.state === 'in_doubt') return one.doubts < 2
  return one.state === 'pending' || one.state === 'sending' || one.state === 'data'
}

function isDue(one: Delivery, now: Date): boolean {
  const minutes = one.attempts === 0 ? 0 : (RETRY_MINUTES[one.attempts - 1] ?? RETRY_MINUTES.at(-1) ?? 0)
  return now.getTime() >= Date.parse(one.stateAt) + minutes * MINUTE_MS
}

/** A server that cannot be reached ends the round: the other letters would only meet the same. */
async function sendAll(
  deps: DeliverDeps,
  lease: Lease,
  letters: readonly Delivery[],
  signal: AbortSignal,
): Promise<void> {
  for (const one of letters) {
    if (signal.aborted) return
    const failure = await sendOne(deps, lease, one, signal)
    if (failure?.code === 'mail_unreachable') return
  }
}

async function sendOne(
  deps: DeliverDeps,
  lease: Lease,
  one: Delivery,
  signal: AbortSignal,
): Promise<LeadsheetError | null> {
  const move = (from: Delivery['state'][], state: Delivery['state'], response?: string): Promise<boolean> =>
    deps.store.write(async (trx) => {
      const at = deps.now()
      await lease.renew(trx, at)
      const to = { state, at: at.toISOString(), ...(response === undefined ? {} : { response }) }
      return moveDelivery(trx, one.messageId, from, to)
    })
  if (!(await move(['pending', 'in_doubt'], 'sending'))) return null
  const letter = await readLetter(deps.store.db, one.messageId)
  const { recipient } = one
  const { report } = letter
  let response: string
  try {
    const onData = async (): Promise<void> => void (await move(['sending'], 'data'))
    response = (await deps.transport.send(letter, { signal, onData })).response
  } catch (thrown) {
    const state = stateAfter(thrown, one.attempts + 1)
    await move(['sending', 'data'], state, errorText(thrown))
    if (!(thrown instanceof LeadsheetError)) throw thrown
    deps.log.error({ recipient, report, state }, thrown.message)
    return thrown
  }
  // Not inside the try: a store that fails here says nothing about the letter, which has been taken.
  await move(['sending', 'data'], 'sent', response)
  deps.log.info({ recipient, report, response }, 'mail sent')
  return null
}

function stateAfter(thrown: unknown, attempts: number): Delivery['state'] {
  const failure = classifySendFailure(thrown)
  if (failure === 'unknown') return 'in_doubt'
  return failure === 'permanent' || attempts >= ATTEMPTS_MAX ? 'failed' : 'pending'
}
