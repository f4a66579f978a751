/** What is wrong with the events of the upstream: they stopped, wait to be followed, or come to nothing. */
import { shellCommand } from '../../errors.ts'
import { counted } from '../../report/words/numbers.ts'
import { hasDroppedIndexes } from '../../store/db/dropped-index.ts'
import type { Db } from '../../store/db/store.ts'
import { countRecentEvents, countWaitingEvents, type EventCount } from '../../store/events/event-stats.ts'
import type { EventOutcome } from '../../store/tables/event-tables.ts'
import type { EventSource } from '../events/event-source.ts'
import type { Trouble } from '../notice.ts'
import { tellInstant } from '../schedule/schedule.ts'
import { findStopped } from './stopped-events.ts'
import { minutesBefore, type Watch } from './watch.ts'

const WAIT_MINUTES = 30
/** Fewer than these, and less than this share of all, are the upstream's mistakes of a day. */
const FAILED_LEAST = 5
const FAILED_SHARE = 0.1

export const WATCH_EVENTS: Watch = {
  reasons: ['events_stopped', 'events_waiting', 'events_failing'],
  find: async ({ store: { db }, events }, now) => (events === null ? [] : findEventTroubles(db, events, now)),
}

/** @throws LeadsheetError webhook_unreadable */
export async function findEventTroubles(db: Db, way: EventSource, now: Date): Promise<Trouble[]> {
  const troubles = [await findStopped(db, way, now), await findWaiting(db, now), await findFailing(db, now)]
  return troubles.filter((trouble) => trouble !== null)
}

/** A first load is waited for, however long it takes. */
async function findWaiting(db: Db, now: Date): Promise<Trouble | null> {
  const { toRead, since } = await countWaitingEvents(db)
  if (since === null || since > minutesBefore(now, WAIT_MINUTES) || (await hasDroppedIndexes(db))) return null
  const wait =
    toRead === 1 ? 'one waits to be read,' : `${toRead.toLocaleString('en')} wait to be read, the first`
  return {
    ...{ reason: 'events_waiting', subject: '' },
    message: `Of the leads that events told of ${wait} since ${tellInstant(since)}.`,
    hint: `${shellCommand('doctor')} asks the upstream. The next whole sync reads them, too.`,
  }
}

async function findFailing(db: Db, now: Date): Promise<Trouble | null> {
  const counts = await countRecentEvents(db, now)
  const all = countIn(counts)
  const failed = countIn(counts, ['failed', 'unreadable'])
  if (failed < FAILED_LEAST || failed < FAILED_SHARE * all) return null
  return {
    ...{ reason: 'events_failing', subject: '' },
    message: `${failed.toLocaleString('en')} of ${counted(all, 'event')} of the last 24 hours could not be read or followed.`,
    hint: 'The status page lists the last of them with the reason. Look at the part `webhook` of the profile, and at the upstream.',
  }
}

/** @param outcomes all of them unless given */
export function countIn(counts: readonly EventCount[], outcomes?: readonly EventOutcome[]): number {
  return counts
    .filter(({ outcome }) => outcomes?.includes(outcome) ?? true)
    .reduce((sum, { events }) => sum + events, 0)
}
