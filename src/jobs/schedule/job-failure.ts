/** Failures of work that is due: how they are logged, and whether they may pass by themselves. */
import { type ErrorCode, errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Instant } from '../../model.ts'
import { BACKOFF, ladderWaitMs } from '../../retry.ts'

const PASSING = new Set<string>([
  'api_unreachable',
  'api_deferred',
  'data_unwritable',
  'mail_unreachable',
  'report_failed',
  'store_busy',
] satisfies ErrorCode[])
/** Nothing is wrong with the work here: another process is at it, or the store itself was away. */
const COMES_AGAIN = new Set<string>(['job_busy', 'store_unreachable'] satisfies ErrorCode[])

/** Logs a failure: one that an operator can act on has a code, anything else is a bug and shows its stack. */
export function logFailure(log: Log, thrown: unknown, at: Readonly<Record<string, string>> = {}): void {
  const fields = thrown instanceof LeadsheetError ? { code: thrown.code } : { err: thrown }
  const isBusy = thrown instanceof LeadsheetError && thrown.code === 'job_busy'
  log[isBusy ? 'info' : 'error']({ ...at, ...fields }, errorText(thrown))
}

type AfterFailure =
  | { readonly state: 'failed'; readonly message: string }
  | {
      readonly state: 'again'
      readonly message: string
      readonly notBefore: Instant | null
      /** Nothing was tried. */
      readonly isWait?: boolean
    }

/**
 * Decides what becomes of a scheduled run whose work has thrown. Where nothing was wrong with the work, it comes with
 * the next tick; a failure that may be transient is tried again by `BACKOFF.scheduledRun`; anything else has failed.
 * @param attempt 1 for the first
 */
export function afterFailure(thrown: unknown, attempt: number, now: Date): AfterFailure {
  const message = errorText(thrown)
  if (!(thrown instanceof LeadsheetError)) return { state: 'failed', message }
  if (COMES_AGAIN.has(thrown.code)) return { state: 'again', message, notBefore: null, isWait: true }
  return isTransient(thrown.code)
    ? retryLater(message, attempt, now, thrown.notBefore)
    : { state: 'failed', message }
}

/** Tells whether a failure of that code may be gone by itself after a while. */
export function isTransient(code: string): boolean {
  return PASSING.has(code)
}

/** Has a scheduled run tried again later, or lets it fail after its last try. */
export function retryLater(message: string, attempt: number, now: Date, notBefore?: Instant): AfterFailure {
  const waitMs = ladderWaitMs(BACKOFF.scheduledRun, attempt, 0)
  if (waitMs === null) return { state: 'failed', message: `${message}; tried ${attempt} times` }
  const after = new Date(now.getTime() + waitMs).toISOString()
  return {
    ...{ state: 'again', message },
    notBefore: notBefore === undefined || notBefore < after ? after : notBefore,
  }
}
