/** Checks whether the events of the upstream arrive and are applied. */
import { shellCommand } from '../errors.ts'
import { counted } from '../report/words/numbers.ts'
import { hasDroppedIndexes } from '../store/db/dropped-index.ts'
import {
  countRecentEvents,
  countWaitingEvents,
  type EventCount,
  findLastArrival,
} from '../store/events/event-stats.ts'
import type { EventOutcome } from '../store/tables/lead-tables.ts'
import { formatSpan, formatUtc, minutesBefore } from '../time.ts'
import { type Check, type Finding, SHOWN_AND_ALERTED } from './check.ts'
import type { EventSource, Facts } from './facts.ts'
import { findStopped } from './stopped-events.ts'
import { plain } from './sync.ts'

const WAIT_MINUTES = 30
/**
 * The failed events of a day are reported only if they reach both this number and this share of all events.
 */
const FAILED_LEAST = 5
const FAILED_SHARE = 0.1

const OF_EVENTS = { part: 'events', severity: 'warn', shownIn: SHOWN_AND_ALERTED, alert: 'at_once' } as const

export const EVENT_CHECKS = {
  events_stopped: {
    ...OF_EVENTS,
    question: 'Do events arrive?',
    title: 'events stopped',
    meaning:
      'the webhook receives nothing any more, although at least two syncs in a row found new or changed leads; a webhook that was registered by hand may be silent for three days, because it is unknown what it reports',
    find: whereEvents(findStopped),
  },
  events_waiting: {
    ...OF_EVENTS,
    question: 'Are events processed in time?',
    title: 'events waiting',
    meaning: 'leads that events announced have waited half an hour to be read',
    find: whereEvents(findWaiting),
  },
  events_failing: {
    ...OF_EVENTS,
    question: 'Can events be read and processed?',
    title: 'events failing',
    meaning:
      'at least a tenth of the events of a day, and no fewer than five, could not be read or processed',
    find: whereEvents(findFailing),
  },
} as const satisfies Record<string, Check>

function whereEvents(find: (facts: Facts, way: EventSource) => Promise<Finding[]>): Check['find'] {
  return async (facts) => (facts.events === null ? [] : find(facts, facts.events))
}

/**
 * Describes when events arrived, such as `the last one came 3 min ago, 12 events of the last 24 hours
 * followed`.
 */
export async function formatArrivals({ db, now }: Facts, way: EventSource): Promise<string> {
  const lastAt = await findLastArrival(db, 'any')
  if (lastAt !== null) {
    const recent = countIn(await countRecentEvents(db, now))
    const { toRead } = await countWaitingEvents(db)
    const waiting = toRead === 0 ? '' : `, ${toRead.toLocaleString('en')} to be read`
    return `the last one came ${formatSpan(now.getTime() - Date.parse(lastAt))} ago, ${counted(recent, 'event')} of the last 24 hours followed${waiting}`
  }
  const registration = await way.readRegistration()
  if (registration !== null) {
    return `none has come since the webhook was registered, ${formatSpan(now.getTime() - Date.parse(registration.registeredAt))} ago`
  }
  return way.isByHand ? 'none has come yet' : 'no webhook is registered: changes come with each sync'
}

/** Finds nothing during a first load, because events may then have to wait for a long time. */
async function findWaiting({ db, now }: Facts): Promise<Finding[]> {
  const { toRead, since } = await countWaitingEvents(db)
  if (since === null || since > minutesBefore(now, WAIT_MINUTES) || (await hasDroppedIndexes(db))) return []
  const wait =
    toRead === 1 ? 'one waits to be read,' : `${toRead.toLocaleString('en')} wait to be read, the first`
  return [
    plain(
      `Of the leads that events told of ${wait} since ${formatUtc(since)}.`,
      `${shellCommand('doctor')} asks the upstream. The next whole sync reads them, too.`,
    ),
  ]
}

async function findFailing({ db, now }: Facts): Promise<Finding[]> {
  const counts = await countRecentEvents(db, now)
  const all = countIn(counts)
  const failed = countIn(counts, ['failed', 'unreadable'])
  if (failed < FAILED_LEAST || failed < FAILED_SHARE * all) return []
  return [
    plain(
      `${failed.toLocaleString('en')} of ${counted(all, 'event')} of the last 24 hours could not be read or followed.`,
      'The status page lists the last of them with the reason. Look at the part `webhook` of the profile, and at the upstream.',
    ),
  ]
}

/**
 * Counts events.
 * @param outcomes the outcomes whose events are counted; if absent, all events are counted
 */
export function countIn(counts: readonly EventCount[], outcomes?: readonly EventOutcome[]): number {
  return counts
    .filter(({ outcome }) => outcomes?.includes(outcome) ?? true)
    .reduce((sum, { events }) => sum + events, 0)
}
