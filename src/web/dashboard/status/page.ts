/** The status page: one overall status, and the parts that explain it. */
import type { Installation, Part } from '../../../checks/check.ts'
import { outageProblem } from '../../../checks/mail.ts'
import { alertFacts, CHECKS, type Health, type PartResult, readHealth } from '../../../checks/run-checks.ts'
import type { Instant } from '../../../domain/model.ts'
import { upperFirst } from '../../../report/words/clean-text.ts'
import { DAY_MS } from '../../../schedule/zone.ts'
import { type Alert, listAlerts } from '../../../store/alerts/alert.ts'
import type { Db } from '../../../store/db/store.ts'
import { countWaiting, findDeliveries, listProblems } from '../../../store/outbox/delivery-problems.ts'
import { listMailOutages } from '../../../store/outbox/send-limits.ts'
import { listIssues } from '../../../store/reports/issue-list.ts'
import { type Clock, clockOf } from '../../server/format.ts'
import { type DashboardDeps, frameOf } from '../../server/frame.ts'
import { type AddRoutes, sendPage } from '../../server/server.ts'
import { button } from '../actions/buttons.ts'
import { issueHref, issueLine } from '../archive/list.ts'
import { readInstallation, readSchedules, readWorkers } from './daemon.ts'
import { readFreshnessView, readRecords } from './data.ts'
import { readEvents } from './events.ts'
import { readProgress, readRuns } from './syncs.ts'

interface StatusDeps extends DashboardDeps {
  readonly version: string
  readonly installation: Installation
  readonly snapshotFile: string
}

export function statusRoutes(deps: StatusDeps): AddRoutes {
  const { pages, now, timeZone } = deps
  const page = pages.page('status')
  return (app) => {
    app.get<{ Querystring: { readonly reload?: unknown } }>('/', async (request, reply) => {
      const clock = clockOf(timeZone, now())
      const view = await readStatusView(deps, clock)
      // Only a page that its reader asked for loads itself again, because that folds all parts.
      const isReloading = request.query.reload !== undefined
      const frame = { ...frameOf(request, 'Status', '/'), isReloading }
      return sendPage(reply, page({ ...view, isReloading }, frame, clock))
    })
  }
}

/** @throws LeadsheetError store_* */
async function readStatusView(deps: StatusDeps, clock: Clock) {
  const { store, timeZone, canAct } = deps
  const { now } = clock
  // All parts are read on one connection, so that a running sync writes nothing between two parts.
  return store.db.connection().execute(async (db) => {
    const installation = { ...deps.installation, store: { db, place: store.place } }
    const health = await readHealth(installation, now)
    const progress = await readProgress(db, now)
    return {
      head: {
        kind: health.status,
        sentence: health.sentence,
        timeZone,
        asOf: now.toISOString(),
        buttons: canAct ? [button('sync', 'Sync now'), button('sync', 'Full sync', '', { full: 'yes' })] : [],
      },
      progress: { progress },
      findings: await readFindings(db, health, canAct),
      freshness: await readFreshnessView(db, health, deps.snapshotFile),
      schedules: await readSchedules(db, installation.schedules, { timeZone, canAct, clock }),
      events:
        installation.events &&
        (await readEvents(db, {
          way: installation.events,
          checks: health.checks,
          now,
        })),
      runs: await readRuns(db, now, progress !== null),
      messages: await readMessages(db, now),
      records: await readRecords(db, now),
      workers: await readWorkers(installation.store, now),
      version: deps.version,
      installation: await readInstallation({ ...store, db }, installation.settingsFile, now),
    }
  })
}

/* The problems on the status page, with what to do: open alerts, and findings that have no alert. */

const ALERTS_MAX = 50

/** The findings that nobody has acknowledged come first. In each group, failures come before warnings. */
async function readFindings(db: Db, { checks }: Health, canAct: boolean) {
  const alerts = await listAlerts(db, 'open', ALERTS_MAX)
  const failing: ReadonlySet<Part | undefined> = new Set(
    checks.filter(({ status }) => status === 'fail').map(({ what }) => what),
  )
  const found = checks.filter((result) => !isCovered(result, alerts)).flatMap(findingOf)
  const alertFindings = alerts.map((alert) =>
    fromAlert(alert, failing.has(alertFacts(alert.checkId).part) ? 'fail' : 'warn', canAct),
  )
  return { findings: [...found, ...alertFindings].sort((a, b) => weightOf(a) - weightOf(b)) }
}

/** For a check without alerts of its own, any open alert about the part is enough. */
function isCovered({ what, findings }: PartResult, alerts: readonly Alert[]): boolean {
  return findings.every(({ check }) =>
    alerts.some((alert) =>
      CHECKS[check].alert === undefined ? alertFacts(alert.checkId).part === what : alert.checkId === check,
    ),
  )
}

function findingOf({ what, status, found, remedy }: PartResult) {
  if (status === 'ok') return []
  const facts = { kind: status, title: what, message: upperFirst(found), remedy }
  return [{ ...facts, since: null, known: null, acknowledge: null }]
}

function fromAlert(alert: Alert, kind: 'warn' | 'fail', canAct: boolean) {
  const { id, checkId: check, subject, openedAt, acknowledgedAt } = alert
  const { title } = alertFacts(check)
  return {
    kind,
    title: subject === '' ? title : `${title}: ${subject}`,
    message: alert.message,
    remedy: alert.hint,
    since: openedAt,
    known: acknowledgedAt,
    acknowledge:
      canAct && acknowledgedAt === null
        ? button('acknowledge', 'Acknowledge', title, { alert: String(id) })
        : null,
  }
}

function weightOf({ kind, known }: { readonly kind: string; readonly known: Instant | null }): number {
  return (known === null ? 0 : 2) + (kind === 'fail' ? 0 : 1)
}

/** The mail on the status page: recent issues, waiting and failed messages, and outages. */

const ISSUES = 8
const UNCONFIRMED_SHOWN_MAX = 20
const WEEK_MS = 7 * DAY_MS

async function readMessages(db: Db, now: Date) {
  const weekAgo = new Date(now.getTime() - WEEK_MS).toISOString()
  const { messages, since } = await countWaiting(db)
  const issues = await listIssues(db, null, ISSUES)
  const question = { states: ['unconfirmed'], since: weekAgo } as const
  const unconfirmed = await findDeliveries(db, question, UNCONFIRMED_SHOWN_MAX)
  return {
    issues: issues.map(issueLine),
    waiting: since === null ? null : { messages, since },
    servers: (await listMailOutages(db)).map((outage) => ({ ...outage, problem: outageProblem(outage) })),
    // The messages that became unconfirmed in the last week: nobody knows whether they arrived.
    unconfirmed: unconfirmed.map((message) => ({
      ...message,
      // An alert has no page.
      href: message.issueId && issueHref(message.issueId),
    })),
    refused: await listProblems(db, 'failed', weekAgo),
  }
}
