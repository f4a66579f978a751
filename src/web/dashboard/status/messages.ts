/**
 * The mail on the status page: recent issues, messages that wait, failed or are unconfirmed, and unreachable
 * mail servers.
 */
import { counted } from '../../../report/words/numbers.ts'
import type { Db } from '../../../store/db/store.ts'
import {
  countWaiting,
  listImplausible,
  listRefused,
  type UnconfirmedMessage,
} from '../../../store/outbox/delivery-problems.ts'
import { listMailOutages, type MailOutage } from '../../../store/outbox/send-limits.ts'
import { listIssues } from '../../../store/reports/issue-list.ts'
import { type IssueLine, issueHref, issueLine } from '../archive/list.ts'
import type { Clock, Moment } from '../format.ts'

const ISSUES = 8
const DOUBTFUL_MAX = 20
const WEEK_MS = 7 * 86_400_000

export interface MessagesView {
  readonly issues: readonly IssueView[]
  /** The waiting messages, such as `3 messages`, and the time of the oldest; null if none waits. */
  readonly waiting: { readonly messages: string; readonly since: Moment } | null
  readonly servers: readonly ServerView[]
  /** Unconfirmed messages of the last week. */
  readonly doubtful: readonly UnconfirmedView[]
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
  /** The path of the message's page; null for the message of an alert. */
  readonly href: string | null
  readonly since: Moment
  /** Tells whether the outbox will send the message again by itself. */
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
    doubtful: (await listImplausible(db, weekAgo, DOUBTFUL_MAX)).map((message) =>
      implausibleOf(message, clock),
    ),
    refused: (await listRefused(db, weekAgo)).map(({ report, messages: some, since: from }) => ({
      ...{ report: report ?? 'alerts', messages: counted(some, 'message'), since: clock.at(from) },
    })),
  }
}

function serverOf({ server, kind, beganAt, nextAttemptAt }: MailOutage, clock: Clock): ServerView {
  const problem = kind === 'configuration' ? 'does not let us in' : 'cannot be reached'
  return { server, problem, since: clock.at(beganAt), next: clock.at(nextAttemptAt) }
}

function implausibleOf(message: UnconfirmedMessage, clock: Clock): UnconfirmedView {
  const { messageId, recipient, report, issueId, stateAt, nextAttemptAt } = message
  return {
    ...{ id: messageId.replaceAll(/[<>]/g, ''), recipient, report: report ?? 'alert' },
    href: issueId && issueHref(issueId),
    since: clock.at(stateAt),
    isTriedAgain: nextAttemptAt !== null,
  }
}
