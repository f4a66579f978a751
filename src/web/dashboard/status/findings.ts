/** What is wrong, with what to do about it: what operators were told of, and what the judgement of now finds beside it. */
import type { HealthCheck, Subject } from '../../../jobs/health/installation.ts'
import type { Health } from '../../../jobs/health.ts'
import { factsOf, type Reason } from '../../../jobs/notice-reasons.ts'
import { listNotices, type Notice } from '../../../store/alerts/alert.ts'
import type { Db } from '../../../store/db/store.ts'
import { type InlineCode, withInlineCode } from '../../server/frame.ts'
import { acknowledgeButton, type Button } from '../actions/buttons.ts'
import type { Clock, Moment } from '../format.ts'

interface FindingView {
  /** By which a page that changes tells it from the others. */
  readonly key: string
  readonly kind: 'warn' | 'fail'
  readonly title: string
  readonly message: InlineCode
  readonly remedy: InlineCode | null
  readonly since: Moment | null
  /** When an operator said that they know. */
  readonly known: Moment | null
  /** Null where nothing can be done, or nothing is left to be. */
  readonly acknowledge: Button | null
}

interface Look {
  readonly canAct: boolean
  readonly clock: Clock
}

interface FindingsView {
  /** The worst first, and of the same weight those nobody knows of. */
  readonly findings: readonly FindingView[]
}

const NOTICES_MAX = 50
/** As long as it is open, the notice tells what the check finds, and more of it. */
const TOLD_BY: Readonly<Record<Subject, readonly Reason[]>> = {
  database: ['store_damaged'],
  daemon: [],
  leads: ['sync_late', 'sync_failing', 'key_refused', 'sync_deferred'],
  statistics: ['sync_late', 'sync_failing', 'key_refused', 'sync_deferred'],
  agents: ['sync_late', 'sync_failing', 'key_refused', 'sync_deferred'],
  times: [],
  syncs: ['sync_failing', 'key_refused', 'sync_deferred'],
  upstream: ['removals_refused', 'counts_unusual', 'fields_changed'],
  events: ['events_stopped', 'events_waiting', 'events_failing'],
  schedules: ['report_late', 'report_held'],
  messages: ['mail_away', 'messages_waiting', 'messages_failed', 'messages_unconfirmed'],
  notices: [],
  'held records': ['records_quarantined'],
  disk: ['disk_low'],
  log: ['log_large'],
  snapshot: ['snapshot_old'],
}

export async function readFindings(db: Db, { checks }: Health, look: Look): Promise<FindingsView> {
  const notices = await listNotices(db, 'open', NOTICES_MAX)
  const open = new Set(notices.map(({ reason }) => reason))
  const isTold = ({ what }: HealthCheck) =>
    what === 'notices' || TOLD_BY[what].some((reason) => open.has(reason))
  const failing: ReadonlySet<string> = new Set(
    checks.filter(({ verdict }) => verdict === 'fail').flatMap(({ what }) => TOLD_BY[what]),
  )
  const found = checks.filter((check) => !isTold(check)).flatMap((check) => findingOf(check, look.clock))
  const told = notices.map((notice) => fromNotice(notice, failing.has(notice.reason) ? 'fail' : 'warn', look))
  return { findings: [...found, ...told].sort((a, b) => weightOf(a) - weightOf(b)) }
}

function findingOf({ what, verdict, found, remedy }: HealthCheck, clock: Clock): FindingView[] {
  if (verdict === 'ok') return []
  const first = `${found.charAt(0).toUpperCase()}${found.slice(1)}`
  const trouble = {
    key: `check-${what.replaceAll(' ', '-')}`,
    ...{ kind: verdict, title: what, message: withInlineCode(clock.within(first)) },
    remedy: remedy === null ? null : withInlineCode(clock.within(remedy)),
  }
  return [{ ...trouble, since: null, known: null, acknowledge: null }]
}

function fromNotice(notice: Notice, kind: FindingView['kind'], { canAct, clock }: Look): FindingView {
  const { id, reason, subject, openedAt, acknowledgedAt } = notice
  const { title } = factsOf(reason)
  return {
    ...{ key: `notice-${id}`, kind, title: subject === '' ? title : `${title}: ${subject}` },
    ...{
      message: withInlineCode(clock.within(notice.message)),
      remedy: withInlineCode(clock.within(notice.hint)),
    },
    ...{ since: clock.at(openedAt), known: clock.at(acknowledgedAt) },
    acknowledge: canAct && acknowledgedAt === null ? acknowledgeButton(id, title) : null,
  }
}

function weightOf({ kind, known }: FindingView): number {
  return (known === null ? 0 : 2) + (kind === 'fail' ? 0 : 1)
}
