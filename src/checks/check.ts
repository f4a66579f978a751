/** The types of a check, of its findings, and of the result that is shown. */

import type { Instant } from '../domain/model.ts'
import { LeadsheetError } from '../errors.ts'
import type { Facts } from './facts.ts'

export interface Check {
  /** The line of `status`, `doctor`, /readyz and /metrics that shows the findings. */
  readonly part: Part
  readonly question: string
  /** The name of the finding in subjects, headings and sentences. */
  readonly title: string
  /**
   * The condition under which the check finds a problem, worded as in docs/reference/checks.md; null if the
   * check opens no alert.
   */
  readonly meaning: string | null
  /** The severity of the check's findings, unless a finding has its own. */
  readonly severity: Severity
  /** The name of the setting that changes the threshold of the check. */
  readonly setting?: string
  readonly shownIn: readonly Place[]
  /**
   * Tells when a finding opens an alert. `at_once`: when the finding first occurs. `after_failures`: after as
   * many failures as the setting `alerts.after_failures` says, because the problem may pass by itself.
   * `once`: when the finding first occurs, but without reminders or a resolution, because the finding reports
   * a past event.
   */
  readonly alert?: 'at_once' | 'after_failures' | 'once'
  /**
   * Looks for findings. The checks run each minute, so a check must be fast: no network, no large table. Null
   * means that the check did not look; its open alerts then stay open.
   */
  readonly find: (facts: Facts) => Promise<readonly Finding[] | null>
}

export type Severity = 'warn' | 'fail'
export type Place = 'status' | 'doctor' | 'readyz' | 'metrics' | 'alerts'

export const SHOWN: readonly Place[] = ['status', 'doctor', 'metrics']
export const SHOWN_AND_ALERTED: readonly Place[] = [...SHOWN, 'alerts']

/** The lines of `status` and /metrics, in the order in which they are shown. */
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
  /** The report, recipient or field that the finding is about; empty if the check has only one subject. */
  readonly subject: string
  /**
   * The text of the finding. It states figures and a start time but no duration, because an alert is
   * rewritten whenever this text changes.
   */
  readonly message: string
  readonly hint: string
  readonly severity?: Severity
  /**
   * The message without addresses and without text from other servers, for places that more people can read.
   * If absent, the title of the check is used.
   */
  readonly brief?: string
  /** The number of failures in a row. If absent, the runs of the check that had this finding are counted. */
  readonly failures?: number
  /**
   * The time at which the problem last occurred, if that is later than its start. An acknowledgement from
   * before this time does not cover the new occurrence.
   */
  readonly last?: Instant
}

/** One line of `status`, `doctor` and `init`. */
export interface CheckResult<What extends string = string> {
  readonly what: What
  readonly status: 'ok' | Severity
  /** The text of the findings, in one line. */
  readonly found: string
  /** The action to take; null if nothing is wrong. */
  readonly remedy: string | null
}

/**
 * Runs a check and turns an error of the upstream into a failed result. Any other error is thrown again,
 * because it is a bug or the end of the run.
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
