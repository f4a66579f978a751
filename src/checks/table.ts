/** The table of all checks. Only these checks decide whether an installation is healthy. */
import type { Check, Part } from './check.ts'
import { EVENT_CHECKS } from './events.ts'
import { LEAD_CHECKS } from './leads.ts'
import { MACHINE_CHECKS } from './machine.ts'
import { MAIL_CHECKS } from './mail.ts'
import { REPORT_CHECKS } from './reports.ts'
import { SETTINGS_CHECKS } from './settings.ts'
import { SYNC_CHECKS } from './sync.ts'

const TABLE = {
  ...SYNC_CHECKS,
  ...EVENT_CHECKS,
  ...LEAD_CHECKS,
  ...REPORT_CHECKS,
  ...MAIL_CHECKS,
  ...MACHINE_CHECKS,
  ...SETTINGS_CHECKS,
} as const

export type CheckId = keyof typeof TABLE
export const CHECKS: Readonly<Record<CheckId, Check>> = TABLE
export const CHECK_IDS = Object.keys(TABLE) as readonly CheckId[]
/** The checks that open alerts. */
export const ALERTING_IDS = CHECK_IDS.filter((id) => CHECKS[id].shownIn.includes('alerts'))

/**
 * Returns the title and the alert rule of the check of a stored alert. A check that this version does not
 * know gets its id as title.
 */
export function alertFacts(id: string): Pick<Check, 'title' | 'alert'> & { readonly part?: Part } {
  const known: Readonly<Record<string, Check>> = CHECKS
  return known[id] ?? { title: id.replaceAll('_', ' '), alert: 'at_once' }
}
