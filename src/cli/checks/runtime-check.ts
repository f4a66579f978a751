/** Checks the runtime: the version of Node, and its data about languages and time zones. */

import { type CheckResult, fail, ok, warn } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'

export interface Runtime {
  readonly node: string
  /** The version of the IANA time zone data, such as `2026a`. */
  readonly tz: string | undefined
  /** Whether this Node has words of languages other than English. */
  readonly hasLanguages: boolean
}

// Some country changes its clocks every year, and the data comes with Node, so old data gives wrong times.
const ZONES_MAX_YEARS = 2

export function thisRuntime(): Runtime {
  const { node, tz } = process.versions
  const january = new Intl.DateTimeFormat('de', { month: 'long', timeZone: 'UTC' }).format(0)
  return { node, tz, hasLanguages: january === 'Januar' }
}

export function* checkRuntime(
  { timeZone, reports }: Pick<Config, 'timeZone' | 'reports'>,
  { node, tz, hasLanguages }: Runtime,
  now: Date,
): Generator<CheckResult> {
  // A version of Node that is too old never gets here.
  yield ok('node', node)
  if (tz === undefined || !hasLanguages) {
    yield fail(
      'zone data',
      'this Node has no data of time zones or languages: it was built without them',
      'take a Node with full ICU, as nodejs.org and its images have it, or set NODE_ICU_DATA',
    )
    return
  }
  const zones = [...new Set([timeZone, ...reports.map((report) => report.timeZone)])]
  const years = now.getUTCFullYear() - Number.parseInt(tz, 10)
  yield years <= ZONES_MAX_YEARS
    ? ok('zone data', `${tz}, for ${zones.join(', ')}`)
    : warn(
        'zone data',
        `of ${tz}, ${years} years ago: due times may be an hour off where clocks are changed otherwise since`,
        'take a newer Node, which brings newer data',
      )
}
