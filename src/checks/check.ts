/** The types of a check, of its findings and of the shown result. */

import type { Instant } from '../domain/model.ts'
import { LeadsheetError } from '../errors.ts'
import type { Facts } from './facts.ts'

export interface Check {
  /** The line of `status`, `doctor`, /readyz and /metrics that shows the findings. */
  readonly part: Part
  readonly question: string
  /** Names a finding in subjects, headings and sentences. */
  readonly title: string
  /** Tells when the check finds something, in the words of docs/reference/checks.md; null if it opens no alert. */
  readonly meaning: string | null
  /** The default severity; a finding may have another. */
  readonly severity: Severity
  /** The setting that changes the threshold. */
  readonly setting?: string
  readonly shownIn: readonly Place[]
  /**
   * Tells when a finding opens an alert: `at_once`; `after_failures`, that is after `alerts.after_failures`
   * runs, if it can pass by itself; `once`, without reminder or resolution, if it reports a past event.
   */
  readonly alert?: 'at_once' | 'after_failures' | 'once'
  /**
   * Looks for findings. Must be fast enough for each minute: no network, no large table. Null means that
   * the check did not look; its open alerts then stay open.
   */
  readonly find: (facts: Facts) => Promise<readonly Finding[] | null>
}

export type Severity = 'warn' | 'fail'
export type Place = 'status' | 'doctor' | 'readyz' | 'metrics' | 'alerts'

export const SHOWN: readonly Place[] = ['status', 'doctor', 'metrics']
export const SHOWN_AND_ALERTED: readonly Place[] = [...SHOWN, 'alerts']

/** The lines of `status` and /metrics, in order. */
export const PARTS = [
  ...[
    'database',
    'daemon',
    'leads',
    'statistics',
    'agents',
    'times',
    'syncs',
    'upstream',
    'events',
    'schedules',
  ],
  ...[
    'reports',
    'messages',
    'recipients',
    'quarantined records',
    'disk',
    'log',
    'snapshot',
    'clock',
    'jobs',
    'settings',
  ],
] as const
export type Part = (typeof PARTS)[number]

/** A problem that exists now. */
export interface Finding {
  /** The report, recipient or field of the finding; empty if the check has only one subject. */
  readonly subject: string
  /**
   * States figures and a start time rather than a duration, because an alert is rewritten whenever its
   * message changes.
   */
  readonly message: string
  readonly hint: string
  readonly severity?: Severity
  /**
   * The message without addresses and without text from other servers, for more public places. The title of
   * the check is used if absent.
   */
  readonly brief?: string
  /** The failures in a row; if absent, the runs of the check that found this are counted. */
  readonly failures?: number
  /**
   * The time at which it last happened, if later than its start; an older acknowledgement does not cover
   * it.
   */
  readonly last?: Instant
}

/** One line of `status`, `doctor` and `init`. */
export interface CheckResult<What extends string = string> {
  readonly what: What
  readonly status: 'ok' | Severity
  /** The text of what was found, in one line. */
  readonly found: string
  /** The action to take; null if nothing is wrong. */
  readonly remedy: string | null
}

/**
 * Runs a check and turns an upstream failure into a result. Anything else that is thrown is a bug or the
 * end of the run.
 */
export async function attempt(
  what: string,
  remedy: string,
  check: () => Promise<CheckResult>,
): Promise<CheckResult> {
  try {
    return await check()
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
    return fail(what, thrown.message, thrown.hint ?? remedy)
  }
}

export function ok<What extends string>(what: What, found: string): CheckResult<What> {
  return { what, status: 'ok', found, remedy: null }
}

export function warn<What extends string>(what: What, found: string, remedy: string): CheckResult<What> {
  return { what, status: 'warn', found, remedy }
}

export function fail<What extends string>(what: What, found: string, remedy: string): CheckResult<What> {
  return { what, status: 'fail', found, remedy }
}
