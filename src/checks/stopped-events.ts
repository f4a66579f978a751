/**
 * Decides whether events have stopped. Reported only if nothing else explains why syncs find changes
 * without events. All times are from our own clock, so the upstream's clock may be wrong.
 */

import type { Instant } from '../domain/model.ts'
import { shellCommand } from '../errors.ts'
import { counted } from '../report/words/numbers.ts'
import type { Db } from '../store/db/store.ts'
import { countEvents, type EventCount, findLastArrival } from '../store/events/event-stats.ts'
import type { RunSummary } from '../store/sync/sync-run.ts'
import { findProfileSince } from '../store/sync/watermark.ts'
import { formatUtc, minutesBefore } from '../time.ts'
import type { Finding } from './check.ts'
import type { EventSource, Facts, KnownRegistration } from './facts.ts'
import { lifeOf } from './facts.ts'
import { plain } from './sync.ts'

/**
 * An event may arrive a little after a sync has found its change: an upstream tries again after some
 * minutes.
 */
const GRACE_MINUTES = 10
/** The minimum number of syncs that found changes, and of changes, before they count. */
const SYNCS_LEAST = 2
const CHANGES_LEAST = 3
/** If it is unknown what a webhook reports, as with one registered by hand, a silent weekend is normal. */
const UNSURE_MINUTES = 3 * 24 * 60
/** The minimum number of syncs in a time with events, before their changes count. */
const BESIDE_LEAST = 4
/** A kind of change with a smaller share of the events cannot be relied on to cause events. */
const KIND_SHARE = 0.1
/** Events are kept for this long. */
const WEEK_MINUTES = 7 * 24 * 60

type Change = 'inserted' | 'updated'

interface Expected {
  /** The time from which events should have come. */
  readonly since: Instant
  /** The kinds of changes that should have caused events. */
  readonly changes: readonly Change[]
  /** Tells when the last event came; null if it is no longer kept or there never was one. */
  readonly lastAt: Instant | null
  /** Tells whether each of these changes should have caused an event. */
  readonly isSure: boolean
}

/**
 * Looks for stopped events.
 * @throws LeadsheetError webhook_unreadable
 */
export async function findStopped(facts: Facts, way: EventSource): Promise<Finding[]> {
  const { db, now } = facts
  const registration = await way.readRegistration()
  const runs = (await facts.runs()).filter(({ leadsAsOf }) => leadsAsOf !== null)
  const expected =
    registration === null ? await expectByHand(db, way, now) : await expect(db, registration, runs)
  const span = await facts.lastSpan()
  // While the daemon is away it receives nothing, and what was sent meanwhile comes late.
  if (expected === null || span === undefined || lifeOf(span, now) !== 'alive') return []
  const { since, changes, lastAt, isSure } = expected
  if (!isSure && since > minutesBefore(now, UNSURE_MINUTES)) return []
  const from = latestOf([since, span.began_at, await findProfileSince(db)])
  const found = listUntold(runs, from, now)
    .map((run) => countChanges(run, changes))
    .filter((count) => count > 0)
  const count = found.reduce((sum, each) => sum + each, 0)
  if (found.length < SYNCS_LEAST || count < CHANGES_LEAST) return []
  const isForgotten = lastAt === null && since <= minutesBefore(now, WEEK_MINUTES)
  return [
    plain(
      `No event about a lead has come ${isForgotten ? 'for a week' : `since ${formatUtc(since)}`}, though ${found.length} syncs found ${counted(count, 'change')} meanwhile.`,
      registration === null
        ? 'Look at the webhook where it was registered: whether it is on, where it posts to, by which secret it signs. Until it works changes come with each sync.'
        : `${shellCommand('webhooks list')} shows whether the upstream still has it on, ${shellCommand('webhooks test')} tries the way to here. Until it works changes come with each sync.`,
    ),
  ]
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
  // If syncs also found changes while events came, the upstream does not send an event for every change.
  const before = runs.filter(({ leadsAsOf }) => (leadsAsOf ?? '') > registeredAt && (leadsAsOf ?? '') < since)
  const found = before.filter((run) => countChanges(run, changes) > 0)
  return { since, changes, lastAt, isSure: before.length < BESIDE_LEAST || found.length * 2 < before.length }
}

function changesOf(types: readonly string[]): Change[] {
  // An update may be a change of the status or of anything else, so both types are needed.
  const areUpdates = types.includes('lead.updated') && types.includes('lead.status_changed')
  return [
    ...(types.includes('lead.created') ? (['inserted'] as const) : []),
    ...(areUpdates ? (['updated'] as const) : []),
  ]
}

/** Derives what to expect from earlier events; null if no webhook was registered by hand. */
async function expectByHand(db: Db, { isByHand }: EventSource, now: Date): Promise<Expected | null> {
  if (!isByHand) return null
  const changes = usualChanges(await countEvents(db))
  const lastAt = changes.length === 0 ? null : await findLastArrival(db, 'lead')
  return { since: lastAt ?? minutesBefore(now, WEEK_MINUTES), changes, lastAt, isSure: false }
}

function usualChanges(counts: readonly EventCount[]): Change[] {
  const brought = (['inserted', 'updated'] as const).map((change) => ({
    change,
    events: counts.find(({ outcome }) => outcome === change)?.events ?? 0,
  }))
  const all = brought.reduce((sum, { events }) => sum + events, 0)
  return brought.filter(({ events }) => events > KIND_SHARE * all).map(({ change }) => change)
}

function countChanges(run: RunSummary, changes: readonly Change[]): number {
  return changes.reduce((sum, change) => sum + run[change], 0)
}

/**
 * Lists the syncs whose changes must all have happened since an instant, because the sync before read
 * everything and began later. A full sync after an incremental one is left out: it may show changes that
 * incremental syncs missed long ago.
 * @param runs complete syncs, newest first
 */
function listUntold(runs: readonly RunSummary[], from: Instant, now: Date): RunSummary[] {
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
