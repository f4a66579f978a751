/** Decides how a failed job is logged and whether it is tried again. */

import type { Instant } from '../../domain/model.ts'
import { type ErrorCode, errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { BACKOFF, ladderWaitMs } from '../../retry.ts'
import type { RunEnd } from './schedule.ts'

const PASSING = new Set<string>([
  'api_unreachable',
  'api_deferred',
  'data_unwritable',
  'mail_unreachable',
  'report_failed',
  'store_busy',
] satisfies ErrorCode[])
/** The job is not to blame: another process holds the lease, or the store could not be reached. */
const COMES_AGAIN = new Set<string>(['job_busy', 'store_unreachable'] satisfies ErrorCode[])

/**
 * An error that an operator can act on is logged with its code; any other is a bug, logged with its stack.
 */
export function logFailure(log: Log, thrown: unknown, at: Readonly<Record<string, string>> = {}): void {
  const fields = thrown instanceof LeadsheetError ? { code: thrown.code } : { err: thrown }
  const isBusy = thrown instanceof LeadsheetError && thrown.code === 'job_busy'
  log[isBusy ? 'info' : 'error']({ ...at, ...fields }, errorText(thrown))
}

/** Does work whose failure is only logged, because other work does not need it or does it again. */
export async function tryQuietly(log: Log, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    log[signal.aborted ? 'info' : 'warn']({ code: thrown.code }, thrown.message)
  }
}

/**
 * Decides what happens to a scheduled run that threw an error. If the job was not to blame, the run is tried
 * again at the next tick. After a transient failure the run is tried again as `BACKOFF.scheduledRun` says.
 * Any other failure is final.
 * @param attempt the number of the attempt, 1 for the first
 */
export function endAfterFailure(thrown: unknown, attempt: number, now: Date): RunEnd {
  const message = errorText(thrown)
  if (!(thrown instanceof LeadsheetError)) return { state: 'failed', message }
  if (COMES_AGAIN.has(thrown.code)) return { state: 'again', message, notBefore: null, isWait: true }
  return isTransient(thrown.code)
    ? retryLater(message, attempt, now, thrown.notBefore)
    : { state: 'failed', message }
}

export function isTransient(code: string): boolean {
  return PASSING.has(code)
}

export function retryLater(message: string, attempt: number, now: Date, notBefore?: Instant): RunEnd {
  const waitMs = ladderWaitMs(BACKOFF.scheduledRun, attempt, 0)
  if (waitMs === null) return { state: 'failed', message: `${message}; tried ${attempt} times` }
  const after = new Date(now.getTime() + waitMs).toISOString()
  return {
    state: 'again',
    message,
    notBefore: notBefore === undefined || notBefore < after ? after : notBefore,
  }
}
