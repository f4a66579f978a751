/**
 * The preferences of recipients: who gets a report now and who gets it weekly, and what changes when a
 * recipient or an operator chooses something else. Weekly subscribers get last week's report when the first
 * issue of a week is sent.
 */
import { periodOf } from '../../domain/period.ts'
import type { Log } from '../../log.ts'
import { readLink } from '../../mail/message.ts'
import type { ListedFacts, PreferenceChoice, PreferenceView } from '../../report/preferences/page.ts'
import { areMoreThanWeekly, composePreferencePage, listDueTimes } from '../../report/preferences/page.ts'
import { createLocaleContext, nameReport } from '../../report/words/locale-context.ts'
import type { Timing } from '../../schedule/timing.ts'
import type { Store } from '../../store/db/store.ts'
import { listRefusing } from '../../store/outbox/delivery-problems.ts'
import { withdrawMessages } from '../../store/outbox/message-resolve.ts'
import { wasSent } from '../../store/reports/issue.ts'
import type { Preference, PreferenceKey } from '../../store/reports/preference.ts'
import {
  copyPreferences,
  findPreference,
  listPreferences,
  readOrCreateLinkKey,
  savePreference,
} from '../../store/reports/preference.ts'
import { findPeriod } from './make-issue.ts'
import type { Recipient, Report } from './report-definition.ts'

interface ResolvedRecipients {
  /** A report without recipients is left out. */
  readonly groups: readonly { readonly report: Report; readonly recipients: readonly Recipient[] }[]
  readonly leftOut: readonly LeftOut[]
}

export interface LeftOut {
  readonly address: string
  readonly why: string
}

/** @param at the time at which the report is due */
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

/** @param address null for the usual report; a recipient who prefers the weekly one gets that */
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

export function preferenceText({ state, cadence, changedAt, changedBy, reason }: Preference): string {
  if (state === 'active') return cadence === 'weekly' ? 'weekly' : 'active'
  const by = { recipient: 'themselves', operator: 'the operator', leadsheet: 'leadsheet' }[changedBy]
  return `${state} by ${by} on ${changedAt.slice(0, 10)}${reason === null ? '' : `: ${reason}`}`
}

/** If no issue was sent on the first day of the week, the next day counts as the first. */
async function isFirstOfWeek({ db }: Pick<Store, 'db'>, report: Report, at: Date): Promise<boolean> {
  const { name, timeZone } = report
  const { to: begin } = periodOf('week', at, timeZone, { ...report, lastEnd: null })
  const { to: today } = await findPeriod({ db }, report, at)
  return !(await wasSent(db, name, { from: begin, to: today }))
}

interface ChosenBy {
  readonly by: Preference['changedBy']
  readonly reason: string | null
}

export interface ChangedPreference {
  readonly preference: Preference
  readonly isFit: boolean
  /** The number of waiting messages that will now never be sent. */
  readonly withdrawn: number
}

type Standing = Pick<Preference, 'state' | 'cadence'>

const NEVER_CHANGED: Standing = { state: 'active', cadence: 'as_scheduled' }
const OUTCOMES: Readonly<Record<PreferenceChoice, Partial<Standing>>> = {
  weekly: { cadence: 'weekly' },
  as_scheduled: { cadence: 'as_scheduled' },
  pause: { state: 'paused' },
  resume: { state: 'active' },
  start: { state: 'active' },
  stop: { state: 'unsubscribed' },
}

/** If the choice changes nothing, the stored preference keeps its author and its time. */
export async function changePreference(
  store: Store,
  key: PreferenceKey,
  choice: PreferenceChoice,
  { by, reason }: ChosenBy,
  now: Date,
): Promise<ChangedPreference> {
  const at = now.toISOString()
  const changed = await store.write(async (trx) => {
    const earlier = await findPreference(trx, key)
    const { state, cadence } = earlier ?? NEVER_CHANGED
    const isFit = fits({ state, cadence }, choice)
    const chosen = { state, cadence, ...(isFit ? OUTCOMES[choice] : {}) }
    if (earlier && chosen.state === state && chosen.cadence === cadence) {
      return { preference: earlier, isFit, withdrawn: 0 }
    }
    const address = key.address.toLowerCase()
    const { report } = key
    const preference = { address, report, ...chosen, changedAt: at, changedBy: by, reason }
    await savePreference(trx, preference)
    const withdrawn = chosen.state === 'active' ? 0 : await withdrawMessages(trx, key, at)
    return { preference, isFit, withdrawn }
  })
  await copyPreferences(store)
  return changed
}

/** A recipient who has unsubscribed cannot be paused or resumed, for example from an old page. */
function fits({ state }: Standing, choice: PreferenceChoice): boolean {
  return state !== 'unsubscribed' || (choice !== 'pause' && choice !== 'resume')
}

interface PageDeps {
  readonly store: Store
  readonly reports: readonly SubscribedReport[]
  /** The language and the time zone for recipients whom the settings no longer name. */
  readonly reader: { readonly locale: string; readonly timeZone: string }
  readonly log: Log
  readonly now: () => Date
}

interface SubscribedReport {
  readonly report: Report
  readonly recipients: readonly Recipient[]
  readonly timing: Timing
}

/** Both functions return null if this installation did not sign the token. */
export function openPreferencePage(deps: PageDeps) {
  const { store, log, now } = deps
  const subjectOf = async (token: string) => readLink(await readOrCreateLinkKey(store, now()), token)
  return {
    async show(token: string): Promise<PreferenceView | null> {
      const subject = await subjectOf(token)
      return subject && viewOf(deps, subject, null)
    },
    async change(token: string, choice: PreferenceChoice): Promise<PreferenceView | null> {
      const subject = await subjectOf(token)
      if (subject === null) return null
      if (!mayChoose(deps, subject, choice)) return viewOf(deps, subject, null)
      const by = { by: 'recipient', reason: null } as const
      const { isFit } = await changePreference(store, subject, choice, by, now())
      const { address: recipient, report } = subject
      if (isFit) log.info({ recipient, report, choice }, 'preference changed')
      return viewOf(deps, subject, isFit ? choice : null)
    },
  }
}

/**
 * A person who is no recipient may only unsubscribe. A report that is at most weekly cannot be set to weekly.
 */
function mayChoose(deps: PageDeps, subject: PreferenceKey, choice: PreferenceChoice): boolean {
  const { of, recipient } = findListed(deps, subject)
  if (choice === 'stop') return true
  if (of === undefined || recipient === undefined) return false
  return choice !== 'weekly' || areMoreThanWeekly(listDueTimes(of.timing, deps.now()), of.report)
}

async function viewOf(
  deps: PageDeps,
  subject: PreferenceKey,
  done: PreferenceChoice | null,
): Promise<PreferenceView> {
  const { of, recipient } = findListed(deps, subject)
  const now = deps.now()
  const { locale: tag, timeZone } = recipient ?? of?.report ?? deps.reader
  const locale = createLocaleContext(tag, timeZone, now.toISOString())
  const preference = await findPreference(deps.store.db, subject)
  const { changedAt, changedBy } = preference ?? {}
  return composePreferencePage(
    {
      address: recipient?.address ?? subject.address,
      title: of?.report.title ?? nameReport(subject.report, locale),
      state: preference?.state ?? 'active',
      isWeekly: preference?.cadence === 'weekly',
      changed: changedAt && changedBy ? { at: changedAt, by: changedBy } : null,
      listed: of && recipient ? await listedFacts(deps, of, recipient) : null,
      done,
    },
    locale,
  )
}

async function listedFacts(
  { store, now }: PageDeps,
  { report, timing }: SubscribedReport,
  { filter, attachments }: Recipient,
): Promise<ListedFacts> {
  const { kind, timeZone, weekStarts } = report
  const dueTimes = listDueTimes(timing, now())
  const [next] = dueTimes
  const isWeekNext = next !== undefined && (await isFirstOfWeek(store, report, new Date(next)))
  return { kind, filter, attachments, dueTimes, timeZone, weekStarts, isWeekNext }
}

function findListed({ reports }: PageDeps, { address, report: name }: PreferenceKey) {
  const of = reports.find(({ report }) => report.name === name)
  const recipient = of?.recipients.find((one) => one.address.toLowerCase() === address.toLowerCase())
  return { of, recipient }
}

interface PauseDeps {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  /** 0 if recipients are never paused. */
  readonly suppressAfterBounces: number
}

/** They stay paused until a person resumes them. */
export async function pauseRefused({ store, log, now, suppressAfterBounces }: PauseDeps): Promise<void> {
  if (suppressAfterBounces === 0) return
  for (const { recipient, report, issues, response } of await listRefusing(store.db, suppressAfterBounces)) {
    const reason = `${issues} issues in a row were refused: ${response}`
    const chosenBy = { by: 'leadsheet', reason } as const
    await changePreference(store, { address: recipient, report }, 'pause', chosenBy, now())
    log.warn({ recipient, report }, `paused: ${reason}`)
  }
}
