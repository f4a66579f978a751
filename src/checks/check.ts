/** The shape of a row in the table of checks, of what a check finds, and of what is shown of it. */
import { LeadsheetError } from '../errors.ts'
import type { Instant } from '../model.ts'
import type { Facts } from './facts.ts'

export interface Check {
  /** The line of `status`, `doctor`, /readyz and /metrics under which its findings stand. */
  readonly part: Part
  readonly question: string
  /** Names a finding in subjects, headings and sentences. */
  readonly title: string
  /** When it finds something, as the README says it; null where no alert is opened. */
  readonly meaning: string | null
  /** A finding may name another severity, where it depends. */
  readonly severity: Severity
  /** The setting that moves its threshold. */
  readonly setting?: string
  readonly shownIn: readonly Place[]
  /**
   * When a finding opens an alert: at once; after `alerts.after_failures` where it can pass by itself; or once, with
   * neither reminder nor resolution, because it has happened and cannot be waited for.
   */
  readonly alert?: 'at_once' | 'after_failures' | 'once'
  /** Quick enough for each minute: no network, no large table. Null where it did not look: open alerts stay. */
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
    'held records',
    'disk',
    'log',
    'snapshot',
    'clock',
    'jobs',
    'settings',
  ],
] as const
export type Part = (typeof PARTS)[number]

/** Something that is wrong now. */
export interface Finding {
  /** The report, recipient or field it is about; empty where the check says it. */
  readonly subject: string
  /** Says figures and since when, not for how long, because an alert is written anew when it changes. */
  readonly message: string
  readonly hint: string
  readonly severity?: Severity
  /**
   * The message without addresses and without words of other servers, for places that more people see; the title of
   * the check where it is left out.
   */
  readonly brief?: string
  /** In a row; where they are not known, the runs of the check that have found it are counted. */
  readonly failures?: number
  /** When it last happened, where that is later than when it began: an older acknowledgement does not cover it. */
  readonly last?: Instant
}

/** One line of `status`, `doctor` and `init`. */
export interface CheckResult<What extends string = string> {
  readonly what: What
  readonly verdict: 'ok' | Severity
  /** What was found, in a line. */
  readonly found: string
  /** What to do about it; null where all is well. */
  readonly remedy: string | null
}

/** Turns what the upstream refuses or breaks into a result; anything else thrown is a bug, or the end of the run. */
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
  return { what, verdict: 'ok', found, remedy: null }
}

export function warn<What extends string>(what: What, found: string, remedy: string): CheckResult<What> {
  return { what, verdict: 'warn', found, remedy }
}

export function fail<What extends string>(what: What, found: string, remedy: string): CheckResult<What> {
  return { what, verdict: 'fail', found, remedy }
}
