/**
 * Whether events have stopped: said only where nothing else explains that syncs find what no event told of. Everything
 * is compared by our own clock, so that the upstream's may be wrong.
 */
import { shellCommand } from '../errors.ts'
import type { Instant } from '../model.ts'
import { counted } from '../report/words/numbers.ts'
import type { Db } from '../store/db/store.ts'
import { countEvents, type EventCount, findLastArrival } from '../store/events/event-stats.ts'
import type { RunSummary } from '../store/sync/sync-run.ts'
import { findProfileSince } from '../store/sync/watermark.ts'
import { minutesBefore, tellInstant } from '../time.ts'
import type { Finding } from './check.ts'
import type { EventSource, KnownRegistration } from './event-source.ts'
import type { Facts } from './facts.ts'
import { lifeOf } from './heartbeat.ts'
import { plain } from './sync.ts'

/** A change may be told of a little after a sync has found it: an upstream tries again after some minutes. */
const GRACE_MINUTES = 10
/** Syncs that found changes, and changes, before they mean anything. */
const SYNCS_LEAST = 2
const CHANGES_LEAST = 3
/** Where nobody knows what a webhook tells of, as of one registered by hand, a weekend without a word is all right. */
const UNSURE_MINUTES = 3 * 24 * 60
/** Syncs while events came, before it means anything what they found beside them. */
const BESIDE_LEAST = 4
/** A smaller share of what events brought is no kind of change that they can be relied on to tell of. */
const KIND_SHARE = 0.1
/** As long as events are kept. */
const WEEK_MINUTES = 7 * 24 * 60

type Change = 'inserted' | 'updated'

interface Expected {
  /** From when on events would have come. */
  readonly since: Instant
  /** What they would have told of. */
  readonly changes: readonly Change[]
  /** Null where the last one is longer ago than events are kept, or there never was one. */
  readonly lastAt: Instant | null
  /** Whether they would have told of all of these. */
  readonly isSure: boolean
}

/** @throws LeadsheetError webhook_unreadable */
export async function findStopped(facts: Facts, way: EventSource): Promise<Finding[]> {
  const { db, now } = facts
  const registration = await way.readRegistration()
  const runs = (await facts.runs()).filter(({ leadsAsOf }) => leadsAsOf !== null)
  const expected =
    registration === null ? await expectByHand(db, way, now) : await expect(db, registration, runs)
  const span = await facts.lastSpan()
  // While the daemon is away nobody can be told anything, and what was to be told comes late.
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
      `No event about a lead has come ${isForgotten ? 'for a week' : `since ${tellInstant(since)}`}, though ${found.length} syncs found ${counted(count, 'change')} meanwhile.`,
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
  // Where syncs found changes while events came, too, the upstream does not tell of all of them.
  const before = runs.filter(({ leadsAsOf }) => (leadsAsOf ?? '') > registeredAt && (leadsAsOf ?? '') < since)
  const found = before.filter((run) => countChanges(run, changes) > 0)
  return { since, changes, lastAt, isSure: before.length < BESIDE_LEAST || found.length * 2 < before.length }
}

function changesOf(types: readonly string[]): Change[] {
  // An update may be a change of the status, or any other.
  const areUpdates = types.includes('lead.updated') && types.includes('lead.status_changed')
  return [
    ...(types.includes('lead.created') ? (['inserted'] as const) : []),
    ...(areUpdates ? (['updated'] as const) : []),
  ]
}

/** By what events have brought before; null where no webhook was registered by hand, either. */
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
 * The syncs whose finds have all come about since an instant: all was read, then, by the one before each of them, which
 * had itself begun later. All leads read after mere changes may show what the changes had passed by long ago.
 * @param runs that read all, newest first
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
