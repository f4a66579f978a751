/**
 * Sends one message. Each step is stored before it is taken, so that after a crash the store tells how far
 * the message got.
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
import { withdrawIfUnwanted } from '../../store/outbox/message-resolve.ts'
import { readMessage } from '../../store/outbox/stored-message.ts'
import type { Lease } from '../../store/schedule/lease.ts'
import { afterFailure, retryAt } from './message-retry.ts'

export interface HandOverDeps {
  readonly store: Store
  readonly transport: Transport
  readonly log: Log
  readonly now: () => Date
  readonly policy: { readonly onUnconfirmed: UnconfirmedPolicy }
}

/**
 * The time for which a stopping program waits for the server's answer to a message whose body was sent.
 * Without the answer the message is unconfirmed.
 */
const ANSWER_MS = 5_000

/**
 * Sends one message.
 * @param signal stops the sending; if the body is already being sent, the sending stops after a short wait
 *   for the server's answer
 * @returns `sent`, the failure, or `passed_over` if another process sends the message or the recipient no
 *   longer wants it
 * @throws LeadsheetError errors of the store, such as job_busy if another process has taken over
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
      // The failure is a bug in leadsheet and not a failure of the server, so this message is deferred and
      // other messages can go on.
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
  // This write stands outside the `try`, because the message was already sent: a failure of the store must
  // not count as a failure of the message.
  const replyCode = replyCodeIn(response)
  await move(['sending', 'data'], { state: 'sent', nextAttemptAt: null, replyCode, response })
  deps.log.info({ recipient, report, response }, 'mail sent')
  return 'sent'
}

/** Returns the SMTP reply code; null if the message was written to a folder. */
function replyCodeIn(response: string): number | null {
  const [code] = /^\d{3}(?=[ -])/.exec(response) ?? []
  return code === undefined ? null : Number(code)
}

interface StopSignal {
  readonly signal: AbortSignal
  /** Notes that the body of the message is now being sent. */
  leaves(): void
  /** Removes the listener and the timer after the attempt has ended. */
  end(): void
}

/**
 * Creates the signal that aborts the sending of one message when the program stops. It aborts at once if the
 * body is not being sent yet, otherwise after `patienceMs`.
 * @param patienceMs the milliseconds to wait for the server's answer after the body began to be sent
 */
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
