/** Checks whether the upstream's events (webhook messages about changed leads) arrive and are processed. */

import type { Instant } from '../domain/model.ts'
import { shellCommand } from '../errors.ts'
import { counted } from '../report/words/numbers.ts'
import { hasDroppedIndexes } from '../store/db/dropped-index.ts'
import type { EventOutcome } from '../store/events/event.ts'
import type { EventCount } from '../store/events/event-stats.ts'
import { countEvents, countWaitingEvents, findLastArrival } from '../store/events/event-stats.ts'
import type { RunSummary } from '../store/sync/sync-run.ts'
import { findProfileHash } from '../store/sync/watermark.ts'
import { formatUtc, minutesBefore } from '../time.ts'
import type { Check, EventSource, Facts, Finding } from './check.ts'
import { ALERTED, daemonStateOf, plain } from './check.ts'

/** Three days: a weekend may pass in silence, and an upstream need not send an event for every change. */
const SILENT_MINUTES = 3 * 24 * 60
/** Events of found changes may still arrive: an upstream repeats a failed delivery only after a wait. */
const GRACE_MINUTES = 10
/** The minimum number of syncs that must find changes without events before missing events are reported. */
const SYNCS_LEAST = 2
const CHANGES_LEAST = 3
const DAY_MINUTES = 24 * 60
/** A kind of change is expected to cause events if it caused more than this share of the past ones. */
const KIND_SHARE = 0.1

type Change = 'inserted' | 'updated'

/**
 * Events have stopped if none has come for three days, although syncs find changes that should cause some.
 * @throws LeadsheetError webhook_unreadable
 */
async function findStopped(facts: Facts, way: EventSource): Promise<Finding[]> {
  const { db, now } = facts
  const registration = await way.readRegistration()
  if (registration === null && !way.isByHand) return []
  const changes =
    registration === null ? usualChanges(await countEvents(db, '')) : changesOf(registration.events)
  const since = latestOf([registration?.registeredAt ?? null, await findLastArrival(db, 'lead')])
  const uptime = await facts.lastUptime()
  if (changes.length === 0 || since > minutesBefore(now, SILENT_MINUTES)) return []
  // A daemon that is not running receives no events. The upstream then delivers the events late.
  if (uptime === undefined || daemonStateOf(uptime, now) !== 'alive') return []
  const from = latestOf([since, uptime.began_at, (await findProfileHash(db))?.since ?? null])
  const runs = (await facts.runs()).filter(({ leadsAsOf }) => leadsAsOf !== null)
  const found = listComparableSyncs(runs, from, now)
    .map((run) => changes.reduce((sum, change) => sum + run[change], 0))
    .filter((count) => count > 0)
  const count = found.reduce((sum, each) => sum + each, 0)
  if (found.length < SYNCS_LEAST || count < CHANGES_LEAST) return []
  // The store keeps events for a week.
  return plain(
    `No event about a lead has come ${since === '' ? 'for a week' : `since ${formatUtc(since)}`}, though ${found.length} syncs found ${counted(count, 'change')} meanwhile.`,
    registration === null
      ? 'Look at the webhook where it was registered: whether it is on, where it posts to, by which secret it signs. Until it works changes come with each sync.'
      : `${shellCommand('webhooks list')} shows whether the upstream still has it on, ${shellCommand('webhooks register --self')} tries the way to here. Until it works changes come with each sync.`,
  )
}

function changesOf(types: readonly string[]): Change[] {
  // An update may or may not change the status. So an update surely causes an event only if the webhook sends
  // both types of events.
  const areUpdates = types.includes('lead.updated') && types.includes('lead.status_changed')
  const areInserts = types.includes('lead.created')
  return (['inserted', 'updated'] as const).filter((each) => (each === 'inserted' ? areInserts : areUpdates))
}

function usualChanges(counts: readonly EventCount[]): Change[] {
  const all = countIn(counts, ['inserted', 'updated'])
  return (['inserted', 'updated'] as const).filter((each) => countIn(counts, [each]) > KIND_SHARE * all)
}

/**
 * Lists the syncs that found only changes made after `from`, because the previous sync began after `from`
 * too. Leaves out a full sync after an incremental sync, because it may find older changes that incremental
 * syncs missed. Leaves out syncs that ended less than GRACE_MINUTES ago.
 * @param runs complete syncs, newest first
 */
function listComparableSyncs(runs: readonly RunSummary[], from: Instant, now: Date): RunSummary[] {
  const until = minutesBefore(now, GRACE_MINUTES)
  return runs.filter((run, index) => {
    const before = runs[index + 1]
    if (before === undefined || (before.leadsAsOf ?? '') <= from) return false
    const isComparable = run.mode === 'incremental' || before.mode === 'full'
    return isComparable && run.finishedAt !== null && run.finishedAt <= until
  })
}

function latestOf(instants: readonly (Instant | null)[]): Instant {
  return instants.reduce<Instant>((latest, at) => (at !== null && at > latest ? at : latest), '')
}

const WAIT_MINUTES = 30
/** The minimum number of failed events of the last 24 hours that is reported. */
const FAILED_LEAST = 5
/** The minimum share of failed events, of all events of the last 24 hours, that is reported. */
const FAILED_SHARE = 0.1
const OF_EVENTS = { ...ALERTED, part: 'events' } as const

export const EVENT_CHECKS = {
  events_stopped: {
    ...OF_EVENTS,
    title: 'events stopped',
    meaning: 'no event has arrived for three days, although syncs found changed leads',
    find: whereEvents(findStopped),
  },
  events_waiting: {
    ...OF_EVENTS,
    title: 'events waiting',
    meaning: 'leads that events announced are still not read after half an hour',
    find: whereEvents(findWaiting),
  },
  events_failing: {
    ...OF_EVENTS,
    title: 'events failing',
    meaning: 'at least a tenth of the events of a day, and no fewer than five, could not be processed',
    find: whereEvents(findFailing),
  },
} as const satisfies Record<string, Check>

function whereEvents(find: (facts: Facts, way: EventSource) => Promise<Finding[]>): Check['find'] {
  return async (facts) => (facts.events === null ? [] : find(facts, facts.events))
}

/** Finds events that have waited too long. Finds none during a first sync, when events must wait. */
async function findWaiting({ db, now }: Facts): Promise<Finding[]> {
  const { toRead, since } = await countWaitingEvents(db)
  if (since === null || since > minutesBefore(now, WAIT_MINUTES) || (await hasDroppedIndexes(db))) return []
  const wait =
    toRead === 1 ? 'one waits to be read,' : `${toRead.toLocaleString('en')} wait to be read, the first`
  return plain(
    `Of the leads that events told of ${wait} since ${formatUtc(since)}.`,
    `${shellCommand('doctor')} asks the upstream. The next whole sync reads them, too.`,
  )
}

async function findFailing({ db, now }: Facts): Promise<Finding[]> {
  const counts = await countEvents(db, minutesBefore(now, DAY_MINUTES))
  const all = countIn(counts)
  const failed = countIn(counts, ['failed', 'unreadable'])
  if (failed < FAILED_LEAST || failed < FAILED_SHARE * all) return []
  return plain(
    `${failed.toLocaleString('en')} of ${counted(all, 'event')} of the last 24 hours could not be read or followed.`,
    'The status page lists the last of them with the reason. Look at the part `webhook` of the profile, and at the upstream.',
  )
}

/** @param outcomes the outcomes to count, such as `failed`; if absent, all events are counted */
export function countIn(counts: readonly EventCount[], outcomes?: readonly EventOutcome[]): number {
  return counts
    .filter(({ outcome }) => outcomes?.includes(outcome) ?? true)
    .reduce((sum, { events }) => sum + events, 0)
}
