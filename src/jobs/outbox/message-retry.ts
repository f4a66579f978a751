/** Decides what happens to a message that could not be sent, and to a server that could not be reached. */
import type { Instant } from '../../domain/model.ts'
import type { FailedSend } from '../../mail/sending.ts'
import { BACKOFF, GIVE_UP, ladderWaitMs, longestWaitMs } from '../../retry.ts'
import { type Delivery, type DeliveryMove, UNCONFIRMED_MAX } from '../../store/outbox/delivery.ts'
import type { MailOutage } from '../../store/outbox/send-limits.ts'
import { HOUR_MS } from '../../time.ts'

/** The random number, from 0 up to 1, varies the backoff. */
interface Drawn {
  readonly now: Date
  readonly random: number
}

/** @param failures the number of failures in a row */
export function retryAt(failures: number, { now, random }: Drawn): Date {
  return new Date(now.getTime() + (ladderWaitMs(BACKOFF.message, failures, random) ?? 0))
}

/** The server may ask for a longer wait, which is kept up to the longest one of the ladder. */
function later(at: Date, { waitMs }: FailedSend, { now }: Drawn): Date {
  const asked = now.getTime() + Math.min(waitMs ?? 0, longestWaitMs(BACKOFF.message))
  return new Date(Math.max(at.getTime(), asked))
}

/**
 * Due is up to `upTo`, and after `beyond`: further than any backoff, so the clock was wrong when it was
 * stored.
 */
export function dueTimesAt(now: Date) {
  const longestMs = longestWaitMs(BACKOFF.message)
  return { upTo: now.toISOString(), beyond: new Date(now.getTime() + longestMs).toISOString() }
}

export function isDue(at: Instant, { upTo, beyond }: ReturnType<typeof dueTimesAt>): boolean {
  return at <= upTo || at > beyond
}

/**
 * Decides the next state of a message after a failed attempt. If the server is to blame, the attempt does not
 * count. If the failure occurred while this message was being sent, the message is sent after all other due
 * messages.
 */
export function moveAfterFailure(one: Delivery, failed: FailedSend, drawn: Drawn): DeliveryMove {
  const at = drawn.now.toISOString()
  const said = { at, replyCode: failed.replyCode, isRefusal: failed.isRefusal, response: failed.said }
  if (failed.concerns === 'server') {
    return { state: 'pending', at, isNoAttempt: true, ...(failed.isInMessage ? { nextAttemptAt: at } : {}) }
  }
  const nextAttemptAt = later(retryAt(one.attempts + 1, drawn), failed, drawn).toISOString()
  if (failed.kind === 'unknown') {
    const isRepeatable = nextAttemptAt < (failed.repeatableUntil ?? '')
    const isUncounted = isRepeatable && one.unconfirmedCount > 0
    const isLeft = !isRepeatable && one.unconfirmedCount + 1 >= UNCONFIRMED_MAX
    return { ...said, state: 'unconfirmed', isUncounted, nextAttemptAt: isLeft ? null : nextAttemptAt }
  }
  if (failed.kind === 'permanent') return { ...said, state: 'failed', nextAttemptAt: null }
  // A lost connection may be the fault of the server, so it never makes a message fail for good.
  const reason = failed.replyCode === null ? null : reasonToGiveUp(one, failed, drawn.now)
  if (reason === null) return { ...said, state: 'pending', nextAttemptAt, isDeferred: true }
  return { ...said, state: 'failed', nextAttemptAt: null, response: `${reason}: ${failed.said}` }
}

function reasonToGiveUp(
  { attempts, deferredAt }: Delivery,
  { isRefusal }: FailedSend,
  now: Date,
): string | null {
  const limits = GIVE_UP.message
  if (attempts + 1 >= limits.attempts) return `given up after ${attempts + 1} attempts`
  if (attempts + 1 < limits.attemptsMin && !isRefusal) return null
  const since = deferredAt === null ? 0 : now.getTime() - Date.parse(deferredAt)
  return since >= limits.hours * HOUR_MS ? `given up after ${limits.hours} hours` : null
}

/** Null if an answer has no code, such as that of a folder, or of an attempt that cannot have made another copy. */
export function replyCodeIn(answer: string): number | null {
  const [code] = /^[245]\d\d(?=[ -])/.exec(answer) ?? []
  return code === undefined ? null : Number(code)
}

/** A wrong setting and a refused sender get the longest backoff, because neither passes within a minute. */
export function outageAfter(
  before: MailOutage | undefined,
  server: string,
  failed: FailedSend,
  drawn: Drawn,
): MailOutage {
  const failures = (before?.failures ?? 0) + 1
  const kind = failed.kind === 'configuration' || failed.kind === 'sender' ? failed.kind : 'transient'
  const steps = kind === 'transient' ? failures : BACKOFF.message.waitsMs.length
  return {
    server,
    kind,
    beganAt: before?.beganAt ?? drawn.now.toISOString(),
    failures,
    nextAttemptAt: later(retryAt(steps, drawn), failed, drawn).toISOString(),
    replyCode: failed.replyCode,
    response: failed.said,
  }
}
