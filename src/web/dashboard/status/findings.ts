/** The problems on the status page, with what to do: open alerts, and findings that have no alert. */
import type { Part } from '../../../checks/check.ts'
import type { Health, PartResult } from '../../../checks/run-checks.ts'
import { alertFacts, CHECKS } from '../../../checks/table.ts'
import { type Alert, listAlerts } from '../../../store/alerts/alert.ts'
import type { Db } from '../../../store/db/store.ts'
import { type InlineCode, withInlineCode } from '../../server/frame.ts'
import { acknowledgeButton, type Button } from '../actions/buttons.ts'
import type { Clock, Moment } from '../format.ts'

interface FindingView {
  /** Identifies the finding when the page updates itself. */
  readonly key: string
  readonly kind: 'warn' | 'fail'
  readonly title: string
  readonly message: InlineCode
  readonly remedy: InlineCode | null
  readonly since: Moment | null
  /** The time at which an operator acknowledged the alert. */
  readonly known: Moment | null
  /** Null if the alert is acknowledged, or users cannot act. */
  readonly acknowledge: Button | null
}

interface Look {
  readonly canAct: boolean
  readonly clock: Clock
}

interface FindingsView {
  /** The most severe first, and unacknowledged findings before acknowledged ones. */
  readonly findings: readonly FindingView[]
}

const ALERTS_MAX = 50

export async function readFindings(db: Db, { checks }: Health, look: Look): Promise<FindingsView> {
  const alerts = await listAlerts(db, 'open', ALERTS_MAX)
  const failing: ReadonlySet<Part | undefined> = new Set(
    checks.filter(({ verdict }) => verdict === 'fail').map(({ what }) => what),
  )
  const found = checks
    .filter((result) => !isCovered(result, alerts))
    .flatMap((result) => findingOf(result, look.clock))
  const told = alerts.map((alert) =>
    fromAlert(alert, failing.has(alertFacts(alert.check).part) ? 'fail' : 'warn', look),
  )
  return { findings: [...found, ...told].sort((a, b) => weightOf(a) - weightOf(b)) }
}

/**
 * Returns whether open alerts already report everything that was found. A check that raises no alerts is
 * covered by an alert on the same part.
 */
function isCovered({ what, findings }: PartResult, alerts: readonly Alert[]): boolean {
  return findings.every(({ check }) =>
    alerts.some((alert) =>
      CHECKS[check].alert === undefined ? alertFacts(alert.check).part === what : alert.check === check,
    ),
  )
}

function findingOf({ what, verdict, found, remedy }: PartResult, clock: Clock): FindingView[] {
  if (verdict === 'ok') return []
  const first = `${found.charAt(0).toUpperCase()}${found.slice(1)}`
  const trouble = {
    key: `check-${what.replaceAll(' ', '-')}`,
    ...{ kind: verdict, title: what, message: withInlineCode(clock.within(first)) },
    remedy: remedy === null ? null : withInlineCode(clock.within(remedy)),
  }
  return [{ ...trouble, since: null, known: null, acknowledge: null }]
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
