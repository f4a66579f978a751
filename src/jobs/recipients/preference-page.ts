/** What stands behind the page of a recipient: whose link it is, what they get, and their wish done. */
import type { Log } from '../../log.ts'
import { readLink } from '../../mail/link-token.ts'
import {
  areMoreThanWeekly,
  composeSubscriptionPage,
  type ListedFacts,
  listDueTimes,
  type SubscriptionView,
  type Wish,
} from '../../report/preferences/page.ts'
import { createVoice } from '../../report/words/locale-context.ts'
import type { Timing } from '../../schedule/timing.ts'
import type { Store } from '../../store/db/store.ts'
import { readOrCreateLinkKey } from '../../store/reports/link-key.ts'
import { findSubscription, type SubscriptionKey } from '../../store/reports/preference.ts'
import { isFirstOfWeek } from '../reports/preferences.ts'
import type { Recipient, Report } from '../reports/report-definition.ts'
import { changeSubscription } from './change-preference.ts'

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
  const { locale, timeZone } = recipient ?? of?.report ?? deps.reader
  const voice = createVoice(locale, timeZone, now.toISOString())
  const subscription = await findSubscription(deps.store.db, subject)
  const { changedAt, changedBy } = subscription ?? {}
  return composeSubscriptionPage(
    {
      address: recipient?.address ?? subject.address,
      title: of?.report.title ?? voice.words.title(subject.report),
      state: subscription?.state ?? 'active',
      isWeekly: subscription?.cadence === 'weekly',
      changed: changedAt && changedBy ? { at: changedAt, by: changedBy } : null,
      listed: of && recipient ? await listedFacts(deps, of, recipient) : null,
      done,
    },
    voice,
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
