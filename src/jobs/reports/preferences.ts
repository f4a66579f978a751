/**
 * Applies the recipients' preferences to a report: decides who gets the report now, and who gets it weekly.
 * Weekly subscribers get last week's report when the first issue of an ISO week is sent.
 */
import { periodOf } from '../../domain/period.ts'
import type { Store } from '../../store/db/store.ts'
import { wasSent } from '../../store/reports/issue.ts'
import { findPreference, listPreferences, type Preference } from '../../store/reports/preference.ts'
import { findPeriod } from './make-issue.ts'
import type { Recipient, Report } from './report-definition.ts'

interface ResolvedRecipients {
  /**
   * The usual report and the weekly report, each with its recipients. A report without recipients is left
   * out.
   */
  readonly groups: readonly { readonly report: Report; readonly recipients: readonly Recipient[] }[]
  readonly leftOut: readonly LeftOut[]
}

export interface LeftOut {
  readonly address: string
  /** The reason why the recipient is left out, such as `paused by the operator on 2026-11-20: on leave`. */
  readonly why: string
}

/**
 * Decides by their preferences which recipients get a report, and in which cadence.
 * @param at the time at which the report is due
 */
export async function resolveRecipients(
  { db }: Pick<Store, 'db'>,
  report: Report,
  recipients: readonly Recipient[],
  at: Date,
): Promise<ResolvedRecipients> {
  const preferences = new Map((await listPreferences(db, report.name)).map((one) => [one.address, one]))
  const isWeekDue = await isFirstOfWeek({ db }, report, at)
  const [usual, weekly, leftOut]: [Recipient[], Recipient[], LeftOut[]] = [[], [], []]
  for (const recipient of recipients) {
    const { address } = recipient
    const preference = preferences.get(address.toLowerCase())
    if (preference === undefined) usual.push(recipient)
    else if (preference.state !== 'active') leftOut.push({ address, why: preferenceText(preference) })
    else if (preference.cadence === 'as_scheduled') usual.push(recipient)
    else if (isWeekDue) weekly.push(recipient)
    else leftOut.push({ address, why: 'weekly: that of this week has gone out' })
  }
  const groups = [
    { report, recipients: usual },
    { report: weeklyReport(report), recipients: weekly },
  ]
  return { groups: groups.filter((group) => group.recipients.length > 0), leftOut }
}

/**
 * Returns the report as a recipient gets it.
 * @param address the address of the recipient, who gets the weekly report if they prefer it; null for the
 *   usual report
 */
export async function reportAs(
  { db }: Pick<Store, 'db'>,
  report: Report,
  address: string | null,
): Promise<Report> {
  const preference = address === null ? undefined : await findPreference(db, { address, report: report.name })
  return preference?.cadence === 'weekly' ? weeklyReport(report) : report
}

function weeklyReport(report: Report): Report {
  return { ...report, kind: 'week' }
}

/** Describes a preference, such as `paused by the operator on 2026-11-20: on leave`. */
export function preferenceText({ state, cadence, changedAt, changedBy, reason }: Preference): string {
  if (state === 'active') return cadence === 'weekly' ? 'weekly' : 'active'
  const by = { recipient: 'themselves', operator: 'the operator', leadsheet: 'leadsheet' }[changedBy]
  return `${state} by ${by} on ${changedAt.slice(0, 10)}${reason === null ? '' : `: ${reason}`}`
}

/**
 * Returns whether no issue was sent on an earlier day of this ISO week. If no issue is sent on the first day
 * of a week, the next day therefore counts as the first.
 */
export async function isFirstOfWeek({ db }: Pick<Store, 'db'>, report: Report, at: Date): Promise<boolean> {
  const { name, timeZone, holidays } = report
  const { to: monday } = periodOf('week', at, timeZone, { holidays, lastEnd: null })
  const { to: today } = await findPeriod({ db }, report, at)
  return !(await wasSent(db, name, { from: monday, to: today }))
}
