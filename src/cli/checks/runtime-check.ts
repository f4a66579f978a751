/** Whether what the program runs on is as it should be: Node, and what it knows of languages and time zones. */

import { type CheckResult, fail, ok, warn } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'

export interface Runtime {
  readonly node: string
  /** Of the IANA time zone data, such as `2026a`. */
  readonly tz: string | undefined
  /** Whether there are words of other languages than English. */
  readonly hasLanguages: boolean
}

/** Zones change a few times a year somewhere, and Node brings their data along. */
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
  // An older one does not get as far as this.
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
