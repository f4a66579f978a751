/** The status page: one overall status, and the parts that explain it. The open page is kept up to date. */
import type { Installation, Part } from '../../../checks/check.ts'
import { outageProblem } from '../../../checks/mail.ts'
import type { Health, PartResult } from '../../../checks/run-checks.ts'
import { alertFacts, CHECKS, readHealth } from '../../../checks/run-checks.ts'
import type { Log } from '../../../log.ts'
import { upperFirst } from '../../../report/words/clean-text.ts'
import { counted } from '../../../report/words/numbers.ts'
import { DAY_MS } from '../../../schedule/zone.ts'
import type { Alert } from '../../../store/alerts/alert.ts'
import { listAlerts } from '../../../store/alerts/alert.ts'
import { readChangeStamp } from '../../../store/db/dialect.ts'
import type { Db } from '../../../store/db/store.ts'
import type { UnconfirmedMessage } from '../../../store/outbox/delivery-problems.ts'
import {
  countWaiting,
  listRefused,
  listUnconfirmedMessages,
} from '../../../store/outbox/delivery-problems.ts'
import type { MailOutage } from '../../../store/outbox/send-limits.ts'
import { listMailOutages } from '../../../store/outbox/send-limits.ts'
import { listIssues } from '../../../store/reports/issue-list.ts'
import type { DashboardDeps, InlineCode } from '../../server/frame.ts'
import { frameOf, withInlineCode } from '../../server/frame.ts'
import type { AddRoutes } from '../../server/server.ts'
import { sendPage } from '../../server/server.ts'
import type { Button } from '../actions/buttons.ts'
import { acknowledgeButton, fullSyncButton, syncButton } from '../actions/buttons.ts'
import type { IssueLine } from '../archive/list.ts'
import { issueHref, issueLine } from '../archive/list.ts'
import type { Clock, Moment } from '../format.ts'
import { clockOf } from '../format.ts'
import type { InstallationFacts } from './daemon.ts'
import { readInstallation, readSchedules, readWorkers } from './daemon.ts'
import { readFreshnessView, readRecords } from './data.ts'
import { readEvents } from './events.ts'
import { liveRoutes } from './live.ts'
import { readProgress, readRuns } from './syncs.ts'

interface StatusDeps extends DashboardDeps, InstallationFacts {
  readonly installation: Installation
  readonly snapshotFile: string
  readonly log: Log
}

/** The parts of the page. The template `status/NAME.hbs` renders the element with the id `part-NAME`. */
const PARTS = [
  ...['head', 'progress', 'findings', 'freshness', 'schedules'],
  ...['events', 'runs', 'messages', 'records', 'workers', 'installation'],
] as const satisfies readonly (keyof StatusView)[]

export function statusRoutes(deps: StatusDeps): AddRoutes {
  const { pages, store, now, timeZone, log } = deps
  const page = pages.page<StatusView>('status')
  const parts = PARTS.map((name) => ({ name, render: pages.statusPart<object>(name) }))
  const live = liveRoutes(
    {
      readStamp: () => readChangeStamp(store.db),
      async renderParts() {
        const view = await readStatusView(deps, now())
        return new Map(
          parts.flatMap(({ name, render }) => {
            const part = view[name]
            return part === null ? [] : [[`part-${name}`, render(part)] as const]
          }),
        )
      },
      formatTime: () => clockOf(timeZone, now()).at(now().toISOString()).text,
    },
    log,
  )
  return (app) => {
    app.get('/', async (request, reply) =>
      sendPage(reply, page(await readStatusView(deps, now()), frameOf(request, 'Status', '/'))),
    )
    live(app)
  }
}

type StatusView = Awaited<ReturnType<typeof readStatusView>>

/** @throws LeadsheetError store_* */
async function readStatusView(deps: StatusDeps, now: Date) {
  const { store, timeZone, canAct } = deps
  const clock = clockOf(timeZone, now)
  // All parts are read on one connection, so that a running sync writes nothing between two parts.
  return store.db.connection().execute(async (db) => {
    const installation = { ...deps.installation, store: { db, place: store.place } }
    const health = await readHealth(installation, now)
    const progress = await readProgress(db, clock)
    return {
      head: {
        ...{ kind: health.status, sentence: clock.within(health.sentence), timeZone },
        asOf: clock.at(now.toISOString()),
        buttons: canAct ? [syncButton(), fullSyncButton()] : [],
      },
      progress: { progress },
      findings: await readFindings(db, health, { canAct, clock }),
      freshness: await readFreshnessView(db, health, deps.snapshotFile, clock),
      schedules: await readSchedules(db, installation.schedules, { timeZone, canAct, clock }),
      events:
        installation.events &&
        (await readEvents(db, {
          ...{ way: installation.events, schedules: installation.schedules, checks: health.checks, clock },
        })),
      runs: await readRuns(db, clock, progress !== null),
      messages: await readMessages(db, clock),
      records: await readRecords(db, clock),
      workers: await readWorkers(installation.store, clock),
      installation: await readInstallation({ ...store, db }, deps, clock),
    }
  })
}

/* The problems on the status page, with what to do: open alerts, and findings that have no alert. */

interface FindingView {
  /** The id by which the browser recognizes a finding after the page was updated. */
  readonly key: string
  readonly kind: 'warn' | 'fail'
  readonly title: string
  readonly message: InlineCode
  readonly remedy: InlineCode | null
  readonly since: Moment | null
  /** The time at which an operator acknowledged the alert; null if nobody has. */
  readonly known: Moment | null
  /** The button to acknowledge the alert; null if it is acknowledged or the user may not act. */
  readonly acknowledge: Button | null
}

interface Look {
  readonly canAct: boolean
  readonly clock: Clock
}

interface FindingsView {
  /**
   * The findings. Those that nobody has acknowledged come first. In each group, failures come before
   * warnings.
   */
  readonly findings: readonly FindingView[]
}

const ALERTS_MAX = 50

async function readFindings(db: Db, { checks }: Health, look: Look): Promise<FindingsView> {
  const alerts = await listAlerts(db, 'open', ALERTS_MAX)
  const failing: ReadonlySet<Part | undefined> = new Set(
    checks.filter(({ status }) => status === 'fail').map(({ what }) => what),
  )
  const found = checks
    .filter((result) => !isCovered(result, alerts))
    .flatMap((result) => findingOf(result, look.clock))
  const alertFindings = alerts.map((alert) =>
    fromAlert(alert, failing.has(alertFacts(alert.check).part) ? 'fail' : 'warn', look),
  )
  return { findings: [...found, ...alertFindings].sort((a, b) => weightOf(a) - weightOf(b)) }
}

/**
 * Returns whether open alerts already show all findings of a part. For a check without alerts of its own, any
 * open alert about the part is enough.
 */
function isCovered({ what, findings }: PartResult, alerts: readonly Alert[]): boolean {
  return findings.every(({ check }) =>
    alerts.some((alert) =>
      CHECKS[check].alert === undefined ? alertFacts(alert.check).part === what : alert.check === check,
    ),
  )
}

function findingOf({ what, status, found, remedy }: PartResult, clock: Clock): FindingView[] {
  if (status === 'ok') return []
  const problem = {
    key: `check-${what.replaceAll(' ', '-')}`,
    ...{ kind: status, title: what, message: withInlineCode(clock.within(upperFirst(found))) },
    remedy: remedy === null ? null : withInlineCode(clock.within(remedy)),
  }
  return [{ ...problem, since: null, known: null, acknowledge: null }]
}

function fromAlert(alert: Alert, kind: FindingView['kind'], { canAct, clock }: Look): FindingView {
  const { id, check, subject, openedAt, acknowledgedAt } = alert
  const { title } = alertFacts(check)
  return {
    ...{ key: `alert-${id}`, kind, title: subject === '' ? title : `${title}: ${subject}` },
    ...{
      message: withInlineCode(clock.within(alert.message)),
      remedy: withInlineCode(clock.within(alert.hint)),
    },
    ...{ since: clock.at(openedAt), known: clock.at(acknowledgedAt) },
    acknowledge: canAct && acknowledgedAt === null ? acknowledgeButton(id, title) : null,
  }
}

function weightOf({ kind, known }: FindingView): number {
  return (known === null ? 0 : 2) + (kind === 'fail' ? 0 : 1)
}

/*
 * The mail on the status page: recent issues, messages that wait, failed or are unconfirmed, and unreachable
 * mail servers.
 */

const ISSUES = 8
const UNCONFIRMED_SHOWN_MAX = 20
const WEEK_MS = 7 * DAY_MS

interface MessagesView {
  readonly issues: readonly IssueView[]
  /** The waiting messages, such as `3 messages`, and since when the oldest waits; null if none waits. */
  readonly waiting: { readonly messages: string; readonly since: Moment } | null
  readonly servers: readonly ServerView[]
  /** The messages that became unconfirmed in the last week: nobody knows whether they arrived. */
  readonly unconfirmed: readonly UnconfirmedView[]
  readonly refused: readonly { readonly report: string; readonly messages: string; readonly since: Moment }[]
}

interface IssueView extends IssueLine {
  readonly id: string
}

interface ServerView {
  readonly server: string
  readonly problem: string
  readonly since: Moment
  readonly next: Moment
}

interface UnconfirmedView {
  readonly id: string
  readonly recipient: string
  readonly report: string
  /** The path of the message's page; null if the message is an alert, which has no page. */
  readonly href: string | null
  readonly since: Moment
  /** True if the outbox will send the message again by itself. */
  readonly isTriedAgain: boolean
}

export async function readMessages(db: Db, clock: Clock): Promise<MessagesView> {
  const weekAgo = new Date(clock.now.getTime() - WEEK_MS).toISOString()
  const { messages, since } = await countWaiting(db)
  return {
    issues: (await listIssues(db, null, ISSUES)).map((issue) => ({
      id: issue.id,
      ...issueLine(issue, clock),
    })),
    waiting: since === null ? null : { messages: counted(messages, 'message'), since: clock.at(since) },
    servers: (await listMailOutages(db)).map((outage) => serverOf(outage, clock)),
    unconfirmed: (await listUnconfirmedMessages(db, weekAgo, UNCONFIRMED_SHOWN_MAX)).map((message) =>
      unconfirmedOf(message, clock),
    ),
    refused: (await listRefused(db, weekAgo)).map(({ report, messages: some, since: from }) => ({
      ...{ report: report ?? 'alerts', messages: counted(some, 'message'), since: clock.at(from) },
    })),
  }
}

function serverOf(outage: MailOutage, clock: Clock): ServerView {
  const { server, beganAt, nextAttemptAt } = outage
  return { server, problem: outageProblem(outage), since: clock.at(beganAt), next: clock.at(nextAttemptAt) }
}

function unconfirmedOf(message: UnconfirmedMessage, clock: Clock): UnconfirmedView {
  const { messageId, recipient, report, issueId, stateAt, nextAttemptAt } = message
  return {
    ...{ id: messageId.replaceAll(/[<>]/g, ''), recipient, report: report ?? 'alert' },
    href: issueId && issueHref(issueId),
    since: clock.at(stateAt),
    isTriedAgain: nextAttemptAt !== null,
  }
}
