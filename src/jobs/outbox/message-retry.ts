/** Decides what becomes of a message that could not be sent, and of a server that could not be reached. Pure. */
import type { UnconfirmedPolicy } from '../../domain/choices.ts'
import type { FailedSend } from '../../mail/smtp-failure.ts'
import type { Instant } from '../../model.ts'
import { BACKOFF, GIVE_UP, ladderWaitMs, longestWaitMs } from '../../retry.ts'
import { type Delivery, type DeliveryMove, DOUBTS_MAX } from '../../store/outbox/delivery.ts'
import type { MailOutage } from '../../store/outbox/smtp-circuit.ts'

const HOUR_MS = 60 * 60_000

/** A moment, and a number from 0 up to 1 that was drawn for it. */
export interface Drawn {
  readonly now: Date
  readonly random: number
}

/** How often a message may be unconfirmed before it is left to a person. */
export function doubtsMaxOf(onUnconfirmed: UnconfirmedPolicy): number {
  return onUnconfirmed === 'hold' ? 1 : DOUBTS_MAX
}

/** When to try again after so many failures in a row. */
export function retryAt(failures: number, { now, random }: Drawn): Date {
  return new Date(now.getTime() + (ladderWaitMs(BACKOFF.message, failures, random) ?? 0))
}

/** Times that have come, and those that no wait is long enough for: a clock that was ahead noted them. */
interface DueTimes {
  readonly upTo: Instant
  readonly beyond: Instant
}

export function dueTimesAt(now: Date): DueTimes {
  const longestMs = longestWaitMs(BACKOFF.message)
  return { upTo: now.toISOString(), beyond: new Date(now.getTime() + longestMs).toISOString() }
}

export function isDue(at: Instant, { upTo, beyond }: DueTimes): boolean {
  return at <= upTo || at > beyond
}

/**
 * The step of a message that an attempt has failed with. Where the server is to blame it is as if there had been none;
 * but one that made the server end the session goes behind all that wait.
 */
export function afterFailure(
  one: Delivery,
  failed: FailedSend,
  drawn: Drawn,
  onUnconfirmed: UnconfirmedPolicy,
): DeliveryMove {
  const at = drawn.now.toISOString()
  const said = { at, replyCode: failed.replyCode, response: failed.said }
  if (failed.concerns === 'server') {
    return { state: 'pending', at, isNoAttempt: true, ...(failed.isInMessage ? { nextAttemptAt: at } : {}) }
  }
  const nextAttemptAt = retryAt(one.attempts + 1, drawn).toISOString()
  if (failed.kind === 'unknown') {
    const isLeft = one.doubts + 1 >= doubtsMaxOf(onUnconfirmed)
    return { ...said, state: 'unconfirmed', nextAttemptAt: isLeft ? null : nextAttemptAt }
  }
  if (failed.kind === 'permanent') return { ...said, state: 'failed', nextAttemptAt: null }
  // A connection that is lost may be the server's fault: the message is not given up for it, but told of.
  const reason = failed.replyCode === null ? null : reasonToGiveUp(one, drawn.now)
  if (reason === null) return { ...said, state: 'pending', nextAttemptAt, isPutOff: true }
  return { ...said, state: 'failed', nextAttemptAt: null, response: `${reason}: ${failed.said}` }
}

function reasonToGiveUp({ attempts, putOffAt }: Delivery, now: Date): string | null {
  if (attempts + 1 >= GIVE_UP.message.attempts) return `given up after ${attempts + 1} attempts`
  const since = putOffAt === null ? 0 : now.getTime() - Date.parse(putOffAt)
  return since >= GIVE_UP.message.hours * HOUR_MS ? `given up after ${GIVE_UP.message.hours} hours` : null
}

/** Counts one more failure of a server. A wrong setting gets the longest wait, since it is not mended in a minute. */
export function outageAfter(
  before: MailOutage | undefined,
  server: string,
  failed: FailedSend,
  drawn: Drawn,
): MailOutage {
  const failures = (before?.failures ?? 0) + 1
  const isSetting = failed.kind === 'configuration'
  return {
    server,
    kind: isSetting ? 'configuration' : 'transient',
    beganAt: before?.beganAt ?? drawn.now.toISOString(),
    failures,
    nextAttemptAt: retryAt(isSetting ? BACKOFF.message.waitsMs.length : failures, drawn).toISOString(),
    replyCode: failed.replyCode,
    response: failed.said,
  }
}
