/** What recipients and operators wish of a report, done: from now on, and for messages that still wait. */

import type { Log } from '../../log.ts'
import { readLink } from '../../mail/unsubscribe.ts'
import type { ListedFacts, SubscriptionView, Wish } from '../../report/preferences/page.ts'
import { areMoreThanWeekly, composeSubscriptionPage, listDueTimes } from '../../report/preferences/page.ts'
import { createLocaleContext, nameReport } from '../../report/words/locale-context.ts'
import type { Timing } from '../../schedule/timing.ts'
import type { Store } from '../../store/db/store.ts'
import { listRefusing } from '../../store/outbox/delivery-problems.ts'
import { withdrawMessages } from '../../store/outbox/message-cancel.ts'
import type { Subscription, SubscriptionKey } from '../../store/reports/preference.ts'
import {
  copyPreferences,
  findSubscription,
  readOrCreateLinkKey,
  saveSubscription,
} from '../../store/reports/preference.ts'
import { isFirstOfWeek } from '../reports/preferences.ts'
import type { Recipient, Report } from '../reports/report-definition.ts'

export interface WishedBy {
  readonly by: Subscription['changedBy']
  readonly reason: string | null
}

export interface ChangedSubscription {
  readonly subscription: Subscription
  /** False where the wish could not be done, since they had unsubscribed. */
  readonly isFit: boolean
  /** Messages that waited and now never go out. */
  readonly withdrawn: number
}

type Standing = Pick<Subscription, 'state' | 'cadence'>

const NEVER_CHANGED: Standing = { state: 'active', cadence: 'as_scheduled' }
const OUTCOMES: Readonly<Record<Wish, Partial<Standing>>> = {
  weekly: { cadence: 'weekly' },
  as_scheduled: { cadence: 'as_scheduled' },
  pause: { state: 'paused' },
  resume: { state: 'active' },
  start: { state: 'active' },
  stop: { state: 'unsubscribed' },
}

/** What changes nothing leaves also who said it last, and when. */
export async function changeSubscription(
  store: Store,
  key: SubscriptionKey,
  wish: Wish,
  { by, reason }: WishedBy,
  now: Date,
): Promise<ChangedSubscription> {
  const at = now.toISOString()
  const changed = await store.write(async (trx) => {
    const earlier = await findSubscription(trx, key)
    const { state, cadence } = earlier ?? NEVER_CHANGED
    const isFit = fits({ state, cadence }, wish)
    const wished = { state, cadence, ...(isFit ? OUTCOMES[wish] : {}) }
    if (earlier && wished.state === state && wished.cadence === cadence) {
      return { subscription: earlier, isFit, withdrawn: 0 }
    }
    const address = key.address.toLowerCase()
    const { report } = key
    const subscription = { address, report, ...wished, changedAt: at, changedBy: by, reason }
    await saveSubscription(trx, subscription)
    const withdrawn = wished.state === 'active' ? 0 : await withdrawMessages(trx, key, at)
    return { subscription, isFit, withdrawn }
  })
  await copyPreferences(store)
  return changed
}

/** A page that was opened long ago may wish what no longer fits: who has unsubscribed does not become paused. */
function fits({ state }: Standing, wish: Wish): boolean {
  return state !== 'unsubscribed' || (wish !== 'pause' && wish !== 'resume')
}

/* What stands behind the page of a recipient: whose link it is, what they get, and their wish done. */

export interface DeskDeps {
  readonly store: Store
  /** The reports of the settings. */
  readonly reports: readonly DeskReport[]
  /** For those who are in the settings no more. */
  readonly reader: { readonly locale: string; readonly timeZone: string }
  readonly log: Log
  readonly now: () => Date
}

export interface DeskReport {
  readonly report: Report
  readonly recipients: readonly Recipient[]
  readonly timing: Timing
}

/** What it shows is null for a token that is not ours. */
export function openSubscriptionDesk(deps: DeskDeps) {
  const { store, log, now } = deps
  const subjectOf = async (token: string) => readLink(await readOrCreateLinkKey(store, now()), token)
  return {
    async show(token: string): Promise<SubscriptionView | null> {
      const subject = await subjectOf(token)
      return subject && viewOf(deps, subject, null)
    },
    async change(token: string, wish: Wish): Promise<SubscriptionView | null> {
      const subject = await subjectOf(token)
      if (subject === null) return null
      if (!mayWish(deps, subject, wish)) return viewOf(deps, subject, null)
      const by = { by: 'recipient', reason: null } as const
      const { isFit } = await changeSubscription(store, subject, wish, by, now())
      const { address: recipient, report } = subject
      if (isFit) log.info({ recipient, report, wish }, 'subscription changed')
      return viewOf(deps, subject, isFit ? wish : null)
    },
  }
}

/** Who is on no list can only see to it that it stays so, and what comes once a week comes no more seldom. */
function mayWish(deps: DeskDeps, subject: SubscriptionKey, wish: Wish): boolean {
  const { of, recipient } = findListed(deps, subject)
  if (wish === 'stop') return true
  if (of === undefined || recipient === undefined) return false
  return wish !== 'weekly' || areMoreThanWeekly(listDueTimes(of.timing, deps.now()), of.timing.timeZone)
}

async function viewOf(
  deps: DeskDeps,
  subject: SubscriptionKey,
  done: Wish | null,
): Promise<SubscriptionView> {
  const { of, recipient } = findListed(deps, subject)
  const now = deps.now()
  const { locale: tag, timeZone } = recipient ?? of?.report ?? deps.reader
  const locale = createLocaleContext(tag, timeZone, now.toISOString())
  const subscription = await findSubscription(deps.store.db, subject)
  const { changedAt, changedBy } = subscription ?? {}
  return composeSubscriptionPage(
    {
      address: recipient?.address ?? subject.address,
      title: of?.report.title ?? nameReport(subject.report, locale),
      state: subscription?.state ?? 'active',
      isWeekly: subscription?.cadence === 'weekly',
      changed: changedAt && changedBy ? { at: changedAt, by: changedBy } : null,
      listed: of && recipient ? await listedFacts(deps, of, recipient) : null,
      done,
    },
    locale,
  )
}

async function listedFacts(
  { store, now }: DeskDeps,
  { report, timing }: DeskReport,
  { filter, attachments }: Recipient,
): Promise<ListedFacts> {
  const { kind, timeZone } = report
  const dueTimes = listDueTimes(timing, now())
  const [next] = dueTimes
  const isWeekNext = next !== undefined && (await isFirstOfWeek(store, report, new Date(next)))
  return { kind, filter, attachments, dueTimes, timeZone, isWeekNext }
}

function findListed({ reports }: DeskDeps, { address, report: name }: SubscriptionKey) {
  const of = reports.find(({ report }) => report.name === name)
  const recipient = of?.recipients.find((one) => one.address.toLowerCase() === address.toLowerCase())
  return { of, recipient }
}

/* Recipients whose server refuses one issue after the other: after so many they get no more, until a person says so. */

export interface PauseDeps {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  /** Issues in a row; 0 for never. */
  readonly suppressAfterBounces: number
}

export async function pauseRefused({ store, log, now, suppressAfterBounces }: PauseDeps): Promise<void> {
  if (suppressAfterBounces === 0) return
  for (const { recipient, report, issues, response } of await listRefusing(store.db, suppressAfterBounces)) {
    const reason = `${issues} issues in a row were refused: ${response}`
    const wishedBy = { by: 'leadsheet', reason } as const
    await changeSubscription(store, { address: recipient, report }, 'pause', wishedBy, now())
    log.warn({ recipient, report }, `paused: ${reason}`)
  }
}
