/** Checks whether the upstream's events (webhook messages about changed leads) arrive and are processed. */

import type { Instant } from '../domain/model.ts'
import { shellCommand } from '../errors.ts'
import { counted } from '../report/words/numbers.ts'
import { hasDroppedIndexes } from '../store/db/dropped-index.ts'
import type { Db } from '../store/db/store.ts'
import type { EventOutcome } from '../store/events/event.ts'
import type { EventCount } from '../store/events/event-stats.ts'
import { countEvents, countWaitingEvents, findLastArrival } from '../store/events/event-stats.ts'
import type { RunSummary } from '../store/sync/sync-run.ts'
import { findProfileSince } from '../store/sync/watermark.ts'
import { formatAge, formatUtc, minutesBefore } from '../time.ts'
import type { Check, EventSource, Facts, Finding, KnownRegistration } from './check.ts'
import { ALERTED, daemonStateOf, plain } from './check.ts'

// Events have stopped if syncs find changes without events and nothing else explains this.

/** Events of found changes may still arrive: an upstream repeats a failed delivery only after a wait. */
const GRACE_MINUTES = 10
/** The minimum number of syncs that must find changes without events before missing events are reported. */
const SYNCS_LEAST = 2
const CHANGES_LEAST = 3
/** Three days: nobody knows which events it sends, and a weekend without events is normal. */
const UNSURE_MINUTES = 3 * 24 * 60
/** The minimum number of earlier syncs that can show whether the upstream sends an event for every change. */
const BESIDE_LEAST = 4
/** A kind of change is expected to cause events if it caused more than this share of the past ones. */
const KIND_SHARE = 0.1
const DAY_MINUTES = 24 * 60
const WEEK_MINUTES = 7 * DAY_MINUTES

type Change = 'inserted' | 'updated'

interface Expected {
  readonly since: Instant
  readonly changes: readonly Change[]
  /** Null if the store, which keeps events for a week, has none about a lead. */
  readonly lastAt: Instant | null
  /** True if each change of these kinds should cause an event; false if perhaps only some do. */
  readonly isSure: boolean
}

/** @throws LeadsheetError webhook_unreadable */
export async function findStopped(facts: Facts, way: EventSource): Promise<Finding[]> {
  const { db, now } = facts
  const registration = await way.readRegistration()
  const runs = (await facts.runs()).filter(({ leadsAsOf }) => leadsAsOf !== null)
  const expected =
    registration === null ? await expectByHand(db, way, now) : await expect(db, registration, runs)
  const uptime = await facts.lastUptime()
  // A daemon that is not running receives no events. The upstream then delivers the events late.
  if (expected === null || uptime === undefined || daemonStateOf(uptime, now) !== 'alive') return []
  const { since, changes, lastAt, isSure } = expected
  if (!isSure && since > minutesBefore(now, UNSURE_MINUTES)) return []
  const from = latestOf([since, uptime.began_at, await findProfileSince(db)])
  const found = listComparableSyncs(runs, from, now)
    .map((run) => countChanges(run, changes))
    .filter((count) => count > 0)
  const count = found.reduce((sum, each) => sum + each, 0)
  if (found.length < SYNCS_LEAST || count < CHANGES_LEAST) return []
  const isForgotten = lastAt === null && since <= minutesBefore(now, WEEK_MINUTES)
  return plain(
    `No event about a lead has come ${isForgotten ? 'for a week' : `since ${formatUtc(since)}`}, though ${found.length} syncs found ${counted(count, 'change')} meanwhile.`,
    registration === null
      ? 'Look at the webhook where it was registered: whether it is on, where it posts to, by which secret it signs. Until it works changes come with each sync.'
      : `${shellCommand('webhooks list')} shows whether the upstream still has it on, ${shellCommand('webhooks register --self')} tries the way to here. Until it works changes come with each sync.`,
  )
}

async function expect(
  db: Db,
  { events, registeredAt }: KnownRegistration,
  runs: readonly RunSummary[],
): Promise<Expected | null> {
  const changes = changesOf(events)
  if (changes.length === 0) return null
  const lastAt = await findLastArrival(db, 'lead')
  const since = latestOf([registeredAt, lastAt])
  // If at least half of the syncs found changes while events still arrived, the upstream does not send an
  // event for every change.
  const before = runs.filter(({ leadsAsOf }) => (leadsAsOf ?? '') > registeredAt && (leadsAsOf ?? '') < since)
  const found = before.filter((run) => countChanges(run, changes) > 0)
  return { since, changes, lastAt, isSure: before.length < BESIDE_LEAST || found.length * 2 < before.length }
}

function changesOf(types: readonly string[]): Change[] {
  // An update may or may not change the status. So an update surely causes an event only if the webhook sends
  // both types of events.
  const areUpdates = types.includes('lead.updated') && types.includes('lead.status_changed')
  const areInserts = types.includes('lead.created')
  return (['inserted', 'updated'] as const).filter((each) => (each === 'inserted' ? areInserts : areUpdates))
}

/** Judged by the events of the last week. Null if no webhook was registered by hand. */
async function expectByHand(db: Db, { isByHand }: EventSource, now: Date): Promise<Expected | null> {
  if (!isByHand) return null
  const changes = usualChanges(await countEvents(db, minutesBefore(now, WEEK_MINUTES)))
  const lastAt = changes.length === 0 ? null : await findLastArrival(db, 'lead')
  return { since: lastAt ?? minutesBefore(now, WEEK_MINUTES), changes, lastAt, isSure: false }
}

function usualChanges(counts: readonly EventCount[]): Change[] {
  const all = countIn(counts, ['inserted', 'updated'])
  return (['inserted', 'updated'] as const).filter((each) => countIn(counts, [each]) > KIND_SHARE * all)
}

function countChanges(run: RunSummary, changes: readonly Change[]): number {
  return changes.reduce((sum, change) => sum + run[change], 0)
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

export const EVENT_CHECKS = {
  events_stopped: {
    ...ALERTED,
    part: 'events',
    title: 'events stopped',
    meaning:
      'no events arrive, although at least two syncs in a row found new or changed leads; a webhook registered by hand has three days',
    find: whereEvents(findStopped),
  },
  events_waiting: {
    ...ALERTED,
    part: 'events',
    title: 'events waiting',
    meaning: 'leads that events announced are still not read after half an hour',
    find: whereEvents(findWaiting),
  },
  events_failing: {
    ...ALERTED,
    part: 'events',
    title: 'events failing',
    meaning:
      'at least a tenth of the events of a day, and no fewer than five, could not be read or processed',
    find: whereEvents(findFailing),
  },
} as const satisfies Record<string, Check>

function whereEvents(find: (facts: Facts, way: EventSource) => Promise<Finding[]>): Check['find'] {
  return async (facts) => (facts.events === null ? [] : find(facts, facts.events))
}

/** Writes `the last one came 3 min ago, 12 events of the last 24 hours followed`. */
export async function formatArrivals({ db, now }: Facts, way: EventSource): Promise<string> {
  const lastAt = await findLastArrival(db, 'any')
  if (lastAt !== null) {
    const recent = countIn(await countEvents(db, minutesBefore(now, DAY_MINUTES)))
    const { toRead } = await countWaitingEvents(db)
    const waiting = toRead === 0 ? '' : `, ${toRead.toLocaleString('en')} to be read`
    return `the last one came ${formatAge(now, lastAt)} ago, ${counted(recent, 'event')} of the last 24 hours followed${waiting}`
  }
  const registration = await way.readRegistration()
  if (registration !== null) {
    return `none has come since the webhook was registered, ${formatAge(now, registration.registeredAt)} ago`
  }
  return way.isByHand ? 'none has come yet' : 'no webhook is registered: changes come with each sync'
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
