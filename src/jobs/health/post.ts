/** Whether messages leave the house, and what operators have been told of. */
import { shellCommand } from '../../errors.ts'
import type { Instant } from '../../model.ts'
import { counted } from '../../report/words/numbers.ts'
import { listNotices, type Notice } from '../../store/alerts/alert.ts'
import type { Db } from '../../store/db/store.ts'
import { countQuarantinedRecords, countQuarantinedSince } from '../../store/leads/quarantined-record.ts'
import {
  countWaiting,
  listRefused,
  listUnconfirmed,
  type MessageTrouble,
} from '../../store/outbox/delivery-problems.ts'
import { listMailOutages } from '../../store/outbox/smtp-circuit.ts'
import { ok, warn } from '../../upstream/checkup.ts'
import { factsOf, type Reason } from '../notice-reasons.ts'
import { PUT_OFF_MINUTES, subjectOf, WEEK_MINUTES } from '../troubles/mail.ts'
import { minutesBefore } from '../troubles/watch.ts'
import { type HealthCheck, tellSpan } from './installation.ts'

const DAY_MINUTES = 24 * 60
const NOTICES_MAX = 100
/** What another check finds by itself. */
const FOUND_ELSEWHERE: readonly string[] = [
  'sync_late',
  'records_quarantined',
  'report_late',
  'report_held',
  'disk_low',
  'log_large',
  'snapshot_old',
  'mail_away',
  'messages_waiting',
  'messages_failed',
  'messages_unconfirmed',
  'events_stopped',
  'events_waiting',
  'events_failing',
] satisfies readonly Reason[]

/** @param known troubles of which an operator has said that they know */
export async function checkMessages(db: Db, known: readonly Notice[], now: Date): Promise<HealthCheck> {
  const { messages, since } = await countWaiting(db)
  const weekAgo = minutesBefore(now, WEEK_MINUTES)
  const refused = countNews(await listRefused(db, weekAgo), 'messages_failed', known)
  const doubted = countNews(await listUnconfirmed(db, weekAgo), 'messages_unconfirmed', known)
  const waiting = tellWaiting(messages, since, now)
  const isAway = (await listMailOutages(db)).length > 0
  const isLate = since !== null && since < minutesBefore(now, PUT_OFF_MINUTES)
  const faults = [
    isAway ? 'the mail server cannot be reached or does not let us in' : null,
    isAway || isLate ? waiting : null,
    refused ? `${counted(refused, 'message')} of the last week refused or given up` : null,
    doubted ? `${counted(doubted, 'message')} of the last week unconfirmed` : null,
  ].filter((fault) => fault !== null)
  if (faults.length === 0) return ok('messages', waiting)
  return warn(
    'messages',
    faults.join('; '),
    `${shellCommand('outbox list')} tells what the mail server said, and ${shellCommand('doctor')} tries it`,
  )
}

/** A message that meets the same fate later is news again. */
function countNews(groups: readonly MessageTrouble[], reason: Reason, known: readonly Notice[]): number {
  const isKnown = (group: MessageTrouble) =>
    known.some(
      (notice) =>
        notice.reason === reason &&
        notice.subject === subjectOf(group) &&
        notice.acknowledgedAt !== null &&
        notice.acknowledgedAt >= group.last,
    )
  return groups.reduce((sum, group) => sum + (isKnown(group) ? 0 : group.messages), 0)
}

function tellWaiting(messages: number, since: Instant | null, now: Date): string {
  if (since === null) return 'none waits'
  const span = tellSpan(now.getTime() - Date.parse(since))
  return messages === 1
    ? `1 message waits, for ${span}`
    : `${counted(messages, 'message')} wait, the oldest for ${span}`
}

export interface OpenNotices {
  readonly open: number
  /** Those of which no operator has said that they know, and what they are called. */
  readonly news: number
  readonly titles: readonly string[]
  /** The others, those that another check finds too. */
  readonly known: readonly Notice[]
}

/** Counted without what another check finds. */
export async function readOpenNotices(db: Db): Promise<OpenNotices> {
  const all = await listNotices(db, 'open', NOTICES_MAX)
  const open = all.filter(({ reason }) => !FOUND_ELSEWHERE.includes(reason))
  const news = open.filter(({ acknowledgedAt }) => acknowledgedAt === null)
  const titles = [...new Set(news.map(({ reason }) => factsOf(reason).title))]
  const known = all.filter(({ acknowledgedAt }) => acknowledgedAt !== null)
  return { open: open.length, news: news.length, titles, known }
}

export function checkNotices({ open, news, titles }: OpenNotices): HealthCheck {
  if (news === 0) return ok('notices', open === 0 ? 'none is open' : `${open} open, all acknowledged`)
  return warn(
    'notices',
    `${counted(news, 'trouble')}: ${titles.join(', ')}`,
    `${shellCommand('alerts list')} tells more`,
  )
}

export async function checkQuarantinedRecords(db: Db, now: Date): Promise<HealthCheck> {
  const total = await countQuarantinedRecords(db)
  const lately = await countQuarantinedSince(db, minutesBefore(now, DAY_MINUTES))
  const records = lately.reduce((sum, one) => sum + one.records, 0)
  if (records === 0) return ok('held records', total === 0 ? 'none' : `${total}, none of the last day`)
  return warn(
    'held records',
    `${counted(records, 'record')} of the last day cannot be read`,
    'they are kept whole in the table quarantined_record; mend the mapping of the profile, and they are read again',
  )
}
