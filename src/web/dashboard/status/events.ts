/** Composes the events of the status page: recent events from webhooks, and what became of each. */
import type { EventSource } from '../../../checks/check.ts'
import { countIn } from '../../../checks/events.ts'
import type { PartResult } from '../../../checks/run-checks.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { oneLine } from '../../../report/words/clean-text.ts'
import { counted } from '../../../report/words/numbers.ts'
import type { Db } from '../../../store/db/store.ts'
import {
  countEvents,
  countWaitingEvents,
  type EventCount,
  type EventNews,
  listEvents,
} from '../../../store/events/event-stats.ts'
import { minutesBefore } from '../../../time.ts'
import { count, duration, type Tag } from '../../server/format.ts'

const EVENTS = 20
const NAME_LENGTH = 80
const TYPE_LENGTH = 40
const PROBLEM_LENGTH = 300

interface Look {
  readonly way: EventSource
  readonly checks: readonly PartResult[]
  readonly now: Date
}

export async function readEvents(db: Db, { way, checks, now }: Look) {
  const news = await listEvents(db, EVENTS)
  const { toRead, since } = await countWaitingEvents(db)
  const isAwaited = await isSetUp(way)
  const isWell = checks.every(({ what, status }) => what !== 'events' || status === 'ok')
  return {
    tag: tagOf(isAwaited, news.length > 0, isWell),
    words: isAwaited ? (news.length > 0 ? null : AWAITED) : formatPolling(way),
    recent: formatRecent(await countEvents(db, minutesBefore(now, 24 * 60))),
    waiting: since === null ? null : { toRead, isOne: toRead === 1, since },
    events: news.map(eventOf),
  }
}

const AWAITED = `A webhook is set up, and has brought none yet. ${shellCommand('webhooks register --self')} has one sent to try the way.`

/** A registration that cannot be read counts too, because other parts explain the error. */
async function isSetUp({ isByHand, readRegistration }: EventSource): Promise<boolean> {
  try {
    return isByHand || (await readRegistration()) !== null
  } catch (thrown) {
    if (thrown instanceof LeadsheetError) return true
    throw thrown
  }
}

function tagOf(isAwaited: boolean, hasNews: boolean, isWell: boolean): Tag {
  if (!isAwaited) return { kind: 'off', text: 'not registered' }
  if (!isWell) return { kind: 'warn', text: 'in problem' }
  return hasNews ? { kind: 'ok', text: 'in order' } : { kind: 'off', text: 'none yet' }
}

function formatPolling({ canRegister }: EventSource): string {
  return `Changes come with each sync. ${
    canRegister
      ? `${shellCommand('webhooks register --self')} has the upstream tell of each at once.`
      : 'To hear of each at once, register a webhook at the upstream, and put its secret into `events.secret_file`.'
  }`
}

function formatRecent(counts: readonly EventCount[]): string | null {
  const all = countIn(counts)
  if (all === 0) return null
  const parts = [
    [countIn(counts, ['inserted', 'updated', 'deleted']), 'brought a change'],
    [countIn(counts, ['unchanged', 'not_found']), 'brought nothing new'],
    [countIn(counts, ['read']), 'had data read again'],
    [countIn(counts, ['ignored']), 'were about something that is not stored'],
    [countIn(counts, ['unreadable', 'failed']), 'failed'],
  ] as const
  const named = parts.filter(([events]) => events > 0)
  const areAlike = named.length === 1 && all > 1
  const words = named.map(([events, what]) => `${areAlike ? 'all' : count(events)} ${what}`)
  return `${counted(all, 'event')} in the last 24 hours: ${words.join(', ')}.`
}

const TAGS: Readonly<Record<NonNullable<EventNews['outcome']>, Tag>> = {
  inserted: { kind: 'ok', text: 'new' },
  updated: { kind: 'ok', text: 'changed' },
  unchanged: { kind: 'off', text: 'nothing new' },
  deleted: { kind: 'ok', text: 'deleted' },
  not_found: { kind: 'off', text: 'deleted upstream' },
  read: { kind: 'ok', text: 'read' },
  ignored: { kind: 'off', text: 'ignored' },
  unreadable: { kind: 'fail', text: 'unreadable' },
  failed: { kind: 'fail', text: 'failed' },
}
const WAITS: Tag = { kind: 'busy', text: 'waits' }

function eventOf(event: EventNews) {
  const { type, receivedAt, outcome, problem } = event
  return {
    receivedAt,
    type: oneLine(type ?? 'event', TYPE_LENGTH),
    about: aboutOf(event),
    tag: outcome === null ? WAITS : TAGS[outcome],
    note: problem === null ? null : oneLine(problem, PROBLEM_LENGTH),
    took: tookOf(event),
  }
}

function tookOf({ receivedAt, doneAt, outcome }: EventNews): string {
  const isFollowed = outcome !== 'ignored' && outcome !== 'unreadable'
  return doneAt === null || !isFollowed
    ? ''
    : duration(Math.max(0, Date.parse(doneAt) - Date.parse(receivedAt)))
}

function aboutOf({ resource, resourceId, name, outcome }: EventNews): string {
  if (resource === null) return outcome === 'unreadable' ? 'unknown' : 'nothing kept'
  if (resource === 'agents') return 'agents'
  return oneLine(name ?? `${resource} ${resourceId}`, NAME_LENGTH)
}
