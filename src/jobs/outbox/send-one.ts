/**
 * One message handed over, each step in the ledger before it is taken, so that a crash at any moment leaves what is known.
 */
import type { UnconfirmedPolicy } from '../../domain/choices.ts'
import { errorText } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { FailedSend } from '../../mail/smtp-failure.ts'
import { failedSendOf } from '../../mail/smtp-failure.ts'
import type { Transport } from '../../mail/transport.ts'
import type { Store } from '../../store/db/store.ts'
import type { Delivery, DeliveryMove } from '../../store/outbox/delivery.ts'
import { moveDelivery, takeInHand } from '../../store/outbox/delivery.ts'
import { readMessage } from '../../store/outbox/message.ts'
import { withdrawIfUnwanted } from '../../store/outbox/message-resolve.ts'
import type { Lease } from '../../store/schedule/lease.ts'
import { afterFailure, retryAt } from './message-retry.ts'

export interface HandOverDeps {
  readonly store: Store
  readonly transport: Transport
  readonly log: Log
  readonly now: () => Date
  readonly policy: { readonly onUnconfirmed: UnconfirmedPolicy }
}

/** How long the answer to a message that has left is waited for when all is to stop: without it nobody knows. */
const ANSWER_MS = 5_000

/**
 * @param signal breaks it off, unless it is just leaving
 * @returns the failure; `passed_over` where somebody else has it, or its recipient wants it no more
 * @throws LeadsheetError of the store, such as job_busy where another process has taken over
 */
export async function handOver(
  deps: HandOverDeps,
  lease: Lease,
  one: Delivery,
  signal: AbortSignal,
): Promise<FailedSend | 'sent' | 'passed_over'> {
  const { messageId, recipient } = one
  const isOurs = await deps.store.write(async (trx) => {
    const at = deps.now()
    await lease.renew(trx, at)
    if (await withdrawIfUnwanted(trx, messageId, at.toISOString())) return false
    return takeInHand(trx, one, lease.holder, at.toISOString())
  })
  if (!isOurs) return 'passed_over'
  const move = (from: readonly Delivery['state'][], to: Omit<DeliveryMove, 'at'>): Promise<boolean> =>
    deps.store.write(async (trx) => {
      const at = deps.now()
      await lease.renew(trx, at)
      return moveDelivery(trx, messageId, from, { ...to, at: at.toISOString() })
    })
  const stop = createStopSignal(signal, ANSWER_MS)
  let report: string | undefined
  let response: string
  try {
    const message = await readMessage(deps.store.db, messageId)
    report = message.report
    const onData = async (): Promise<void> => {
      stop.leaves()
      if (!(await move(['sending'], { state: 'data' }))) throw new Error(`${messageId} is sent no more`)
    }
    response = (await deps.transport.send(message, { signal: stop.signal, onData })).response
  } catch (thrown) {
    const drawn = { now: deps.now(), random: Math.random() }
    const failed = failedSendOf(thrown)
    if (failed === null) {
      // No fault of the server; but the messages behind this one are not to wait for it.
      const nextAttemptAt = retryAt(one.attempts + 1, drawn).toISOString()
      await move(['sending'], { state: 'pending', nextAttemptAt, response: errorText(thrown) })
      throw thrown
    }
    const isStopped = signal.aborted && failed.kind === 'transient'
    const to = isStopped
      ? ({ state: 'pending', isNoAttempt: true } as const)
      : afterFailure(one, failed, drawn, deps.policy.onUnconfirmed)
    await move(['sending', 'data'], to)
    if (!isStopped) deps.log.error({ recipient, report, state: to.state }, errorText(thrown))
    return failed
  } finally {
    stop.end()
  }
  // Not inside the try: a store that fails here says nothing about the message, which has been taken.
  const replyCode = replyCodeIn(response)
  await move(['sending', 'data'], { state: 'sent', nextAttemptAt: null, replyCode, response })
  deps.log.info({ recipient, report, response }, 'mail sent')
  return 'sent'
}

/** A folder has none. */
function replyCodeIn(response: string): number | null {
  const [code] = /^\d{3}(?=[ -])/.exec(response) ?? []
  return code === undefined ? null : Number(code)
}

/* When to break off a message that is under way: at once while nothing of it has left, else only after some time. */

interface StopSignal {
  readonly signal: AbortSignal
  /** From now on the message leaves. */
  leaves(): void
  /** The message is done with. */
  end(): void
}

/** @param patienceMs how long the answer to a message that has left is waited for once all is to stop */
function createStopSignal(stop: AbortSignal, patienceMs: number): StopSignal {
  const broken = new AbortController()
  let hasLeft = false
  let timer: NodeJS.Timeout | undefined
  const breakOff = (): void => broken.abort(stop.reason)
  const onStop = (): void => {
    if (hasLeft) timer = setTimeout(breakOff, patienceMs)
    else breakOff()
  }
  stop.addEventListener('abort', onStop, { once: true })
  if (stop.aborted) onStop()
  return {
    signal: broken.signal,
    leaves: () => {
      hasLeft = true
    },
    end: () => {
      clearTimeout(timer)
      stop.removeEventListener('abort', onStop)
    },
  }
}
