/**
 * The preferences of recipients: who gets a report and who has paused it or unsubscribed, and what changes
 * when a recipient or an operator chooses something else.
 */

import { readLink } from '../../mail/message.ts'
import type { PreferenceChoice, PreferenceView } from '../../report/preferences/page.ts'
import { composePreferencePage, listDueTimes } from '../../report/preferences/page.ts'
import { createLocaleContext, nameReport } from '../../report/words/locale-context.ts'
import { counted } from '../../report/words/numbers.ts'
import type { Timing } from '../../schedule/timing.ts'
import type { Store, Trx } from '../../store/db/store.ts'
import { listRefusing } from '../../store/outbox/delivery-problems.ts'
import { withdrawMessages } from '../../store/outbox/message-resolve.ts'
import type { Preference, PreferenceKey } from '../../store/reports/preference.ts'
import {
  copyPreferences,
  findPreference,
  listPreferences,
  readOrCreateLinkKey,
  savePreference,
} from '../../store/reports/preference.ts'
import type { JobDeps } from '../job-deps.ts'
import type { Recipient, Report } from './report-definition.ts'

export interface LeftOut {
  readonly address: string
  readonly why: string
}

/** Leaves out the recipients who have paused the report or unsubscribed from it. */
export async function resolveRecipients(
  { db }: Pick<Store, 'db'>,
  report: Report,
  recipients: readonly Recipient[],
): Promise<{ readonly recipients: readonly Recipient[]; readonly leftOut: readonly LeftOut[] }> {
  const preferences = new Map((await listPreferences(db, report.name)).map((one) => [one.address, one]))
  const [wanted, leftOut]: [Recipient[], LeftOut[]] = [[], []]
  for (const recipient of recipients) {
    const preference = preferences.get(recipient.address.toLowerCase())
    if (preference === undefined || preference.state === 'active') wanted.push(recipient)
    else leftOut.push({ address: recipient.address, why: preferenceText(preference) })
  }
  return { recipients: wanted, leftOut }
}

export function preferenceText({ state, changedAt, changedBy, reason }: Preference): string {
  if (state === 'active') return state
  const by = { recipient: 'themselves', operator: 'the operator', leadsheet: 'leadsheet' }[changedBy]
  return `${state} by ${by} on ${changedAt.slice(0, 10)}${reason === null ? '' : `: ${reason}`}`
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

const OUTCOMES: Readonly<Record<PreferenceChoice, Preference['state']>> = {
  pause: 'paused',
  resume: 'active',
  start: 'active',
  stop: 'unsubscribed',
}

/** If the choice changes nothing, the stored preference keeps its author and its time. */
export async function changePreference(
  store: Store,
  key: PreferenceKey,
  choice: PreferenceChoice,
  chosenBy: ChosenBy,
  now: Date,
): Promise<ChangedPreference> {
  const changed = await store.write((trx) => changePreferenceIn(trx, key, choice, chosenBy, now))
  await copyPreferences(store)
  return changed
}

/** Does so in a transaction, after which the caller copies the preferences. */
export async function changePreferenceIn(
  trx: Trx,
  key: PreferenceKey,
  choice: PreferenceChoice,
  { by, reason }: ChosenBy,
  now: Date,
): Promise<ChangedPreference> {
  const at = now.toISOString()
  const earlier = await findPreference(trx, key)
  const before = earlier?.state ?? 'active'
  const isFit = fits(before, choice)
  const state = isFit ? OUTCOMES[choice] : before
  if (earlier && state === before) return { preference: earlier, isFit, withdrawn: 0 }
  const address = key.address.toLowerCase()
  const { report } = key
  const preference = { address, report, state, changedAt: at, changedBy: by, reason }
  await savePreference(trx, preference)
  const withdrawn = state === 'active' ? 0 : await withdrawMessages(trx, key, at)
  return { preference, isFit, withdrawn }
}

/** A recipient who has unsubscribed cannot be paused or resumed, for example from an old page. */
function fits(state: Preference['state'], choice: PreferenceChoice): boolean {
  return state !== 'unsubscribed' || (choice !== 'pause' && choice !== 'resume')
}

interface PageDeps extends JobDeps {
  readonly reports: readonly SubscribedReport[]
  /** The language and the time zone for recipients whom the settings no longer name. */
  readonly reader: { readonly locale: string; readonly timeZone: string }
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
      // A person who is no recipient may only unsubscribe.
      if (choice !== 'stop' && findListed(deps, subject).recipient === undefined)
        return viewOf(deps, subject, null)
      const by = { by: 'recipient', reason: null } as const
      const { isFit } = await changePreference(store, subject, choice, by, now())
      const { address: recipient, report } = subject
      if (isFit) log.info({ recipient, report, choice }, 'preference changed')
      return viewOf(deps, subject, isFit ? choice : null)
    },
  }
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
  const facts = {
    address: recipient?.address ?? subject.address,
    title: of?.report.title ?? nameReport(subject.report, locale),
    state: preference?.state ?? 'active',
    changed: preference === undefined ? null : { at: preference.changedAt, by: preference.changedBy },
    listed:
      of && recipient ? { ...recipient, kind: of.report.kind, dueTimes: listDueTimes(of.timing, now) } : null,
    done,
  }
  return composePreferencePage(facts, locale)
}

function findListed({ reports }: PageDeps, { address, report: name }: PreferenceKey) {
  const of = reports.find(({ report }) => report.name === name)
  const recipient = of?.recipients.find((one) => one.address.toLowerCase() === address.toLowerCase())
  return { of, recipient }
}

interface PauseDeps extends JobDeps {
  /** 0 if recipients are never paused. */
  readonly suppressAfterBounces: number
}

/** They stay paused until a person resumes them. */
export async function pauseRefused({ store, log, now, suppressAfterBounces }: PauseDeps): Promise<void> {
  if (suppressAfterBounces === 0) return
  for (const { recipient, report, issues, response } of await listRefusing(store.db, suppressAfterBounces)) {
    const reason = `${counted(issues, 'issue')} in a row ${issues === 1 ? 'was' : 'were'} refused or came back: ${response}`
    const chosenBy = { by: 'leadsheet', reason } as const
    await changePreference(store, { address: recipient, report }, 'pause', chosenBy, now())
    log.warn({ recipient, report }, `paused: ${reason}`)
  }
}
