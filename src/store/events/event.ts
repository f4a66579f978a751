/**
 * What the upstream has told of, each event once however often it comes. An event and its place in the queue go in
 * together, so that none is known and never followed.
 */
import { sql } from 'kysely'
import type { EventResource, Instant, UpstreamEvent } from '../../model.ts'
import { insertRows, listOf } from '../db/rows.ts'
import type { Store, Trx } from '../db/store.ts'
import type { PruneCounts, PruneOptions } from '../retention/retention.ts'
import type { EventOutcome, EventTable } from '../tables/event-tables.ts'
import { queueEvents } from './event-queue.ts'

/** Few enough for a transaction that nobody notices. */
const CHUNK_ROWS = 500

/**
 * Keeps those that are new, and counts the others as repeats.
 * @returns whether there is anything to follow
 */
export async function saveEvents(trx: Trx, events: readonly UpstreamEvent[], at: Instant): Promise<boolean> {
  const known = await findKnown(trx, [...new Set(events.map(({ id }) => id))])
  const fresh = new Map<string, UpstreamEvent>()
  const repeated: string[] = []
  for (const event of events) {
    if (known.has(event.id) || fresh.has(event.id)) repeated.push(event.id)
    else fresh.set(event.id, event)
  }
  const arrived = [...fresh.values()]
  await insertRows(
    trx,
    'event',
    arrived.map((event) => rowOf(event, at)),
  )
  await countRepeats(trx, repeated)
  const followed = arrived.filter((event) => fateOf(event) === null)
  await queueEvents(trx, followed, at)
  return followed.length > 0
}

/** Of what is done: those that told of it until an instant. */
export async function finishEvents(
  trx: Trx,
  of: { readonly resource: EventResource; readonly resourceId: string; readonly until: Instant },
  end: { readonly at: Instant; readonly outcome: EventOutcome; readonly problem: string | null },
): Promise<void> {
  await trx
    .updateTable('event')
    .where('done_at', 'is', null)
    .where('resource', '=', of.resource)
    .where('resource_id', '=', of.resourceId)
    .where('received_at', '<=', of.until)
    .set({ done_at: end.at, outcome: end.outcome, problem: end.problem })
    .execute()
}

/** Those that came before and are done with; what waits stays, however old. */
export async function pruneEvents(
  store: Store,
  before: Instant,
  { isDry, pause }: PruneOptions,
): Promise<PruneCounts> {
  const counts = { read: 0, gone: 0 }
  let after = { at: '', id: '' }
  for (;;) {
    const { rows } = await sql<{ id: string; at: Instant; isDone: number }>`
      SELECT id, received_at AS at, done_at IS NOT NULL AS "isDone" FROM event
      WHERE (received_at, id) > (${after.at}, ${after.id}) AND received_at < ${before}
      ORDER BY received_at, id LIMIT ${CHUNK_ROWS}`.execute(store.db)
    const gone = rows.filter(({ isDone }) => isDone === 1).map(({ id }) => id)
    if (!isDry && gone.length > 0) await store.write((trx) => deleteEvents(trx, gone))
    counts.read += rows.length
    counts.gone += gone.length
    after = rows.at(-1) ?? after
    await pause()
    if (rows.length < CHUNK_ROWS) return counts
  }
}

async function deleteEvents(trx: Trx, ids: readonly string[]): Promise<void> {
  await trx.deleteFrom('event').where('id', 'in', listOf(ids)).execute()
}

async function findKnown(trx: Trx, ids: readonly string[]): Promise<Set<string>> {
  const rows = await trx.selectFrom('event').where('id', 'in', listOf(ids)).select('id').execute()
  return new Set(rows.map(({ id }) => id))
}

async function countRepeats(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`UPDATE event SET repeats = repeats + again.times
    FROM (SELECT value AS id, count(*) AS times FROM json_each(${JSON.stringify(ids)}) GROUP BY value) AS again
    WHERE event.id = again.id`.execute(trx)
}

function rowOf(event: UpstreamEvent, at: Instant): Omit<EventTable, 'repeats'> {
  const fate = fateOf(event)
  return {
    id: event.id,
    type: event.type,
    occurred_at: event.occurredAt,
    received_at: at,
    resource: event.resource,
    resource_id: event.resourceId,
    done_at: fate === null ? null : at,
    outcome: fate,
    problem: event.problem,
  }
}

/** Null for what is to be followed. */
function fateOf(event: UpstreamEvent): 'unreadable' | 'ignored' | null {
  if (event.problem !== null) return 'unreadable'
  return event.resource === null ? 'ignored' : null
}
