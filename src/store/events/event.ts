/**
 * Stores the webhook events of the upstream. Each event is stored only once, however often it arrives. Also
 * stores the queue of leads, pipelines and agents that have to be read because of events. An event and its
 * row in the queue are written together, so that no event is forgotten.
 */
import { sql } from 'kysely'
import type { Instant, UpstreamEvent } from '../../domain/model.ts'
import { hasDroppedIndexes } from '../db/dropped-index.ts'
import { insertRows, listOf } from '../db/rows.ts'
import type { Db, Trx } from '../db/store.ts'
import { listHeldLeases } from '../schedule/lease.ts'
import type { Row } from '../tables/tables.ts'

export type EventOutcome = NonNullable<Row<'event'>['outcome']>

export const EVENT_OUTCOMES = [
  ...(['inserted', 'updated', 'unchanged', 'deleted', 'not_found'] as const),
  ...(['read', 'ignored', 'unreadable', 'failed'] as const),
] satisfies readonly EventOutcome[]

/**
 * Saves the new events, and counts the others as repeats.
 * @returns true if data has to be read because of the new events
 */
export async function saveEvents(trx: Trx, events: readonly UpstreamEvent[], at: Instant): Promise<boolean> {
  const known = await findKnown(trx, [...new Set(events.map(({ id }) => id))])
  const newEvents = new Map<string, UpstreamEvent>()
  const repeated: string[] = []
  for (const event of events) {
    if (known.has(event.id) || newEvents.has(event.id)) repeated.push(event.id)
    else newEvents.set(event.id, event)
  }
  const arrived = [...newEvents.values()]
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

function rowOf(event: UpstreamEvent, at: Instant): Omit<Row<'event'>, 'repeats'> {
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

/** Returns the outcome of an event for which nothing has to be read; null for any other event. */
function fateOf(event: UpstreamEvent): 'unreadable' | 'ignored' | null {
  if (event.problem !== null) return 'unreadable'
  return event.resource === null ? 'ignored' : null
}

/**
 * A row of the queue, as it was when leadsheet began to read the data for it. The queue has a row for each
 * lead or pipeline to be read, and one row for all agents. An event that arrives meanwhile changes the stored
 * row, so that the lead is read again.
 */
export type QueuedEvent = Readonly<Row<'event_queue'>>

/** Queues the leads, pipelines and agents that events are about, to be requested from the upstream. */
async function queueEvents(trx: Trx, events: readonly UpstreamEvent[], at: Instant): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ resource, resourceId, isDeletion }) => [
    resource,
    resourceId,
    isDeletion ? 1 : 0,
  ])
  // Merges the events about one lead or pipeline, because one PostgreSQL statement can change a row only once.
  await sql`INSERT INTO event_queue (resource, resource_id, asked_at, last_at, events, is_deletion, failures)
    SELECT value ->> 0, value ->> 1, ${at}, ${at}, count(*), max(CAST(value ->> 2 AS bigint)), 0
    FROM json_each(${JSON.stringify(rows)}) WHERE true GROUP BY value ->> 0, value ->> 1
    ON CONFLICT (resource, resource_id) DO UPDATE SET
      last_at = max(event_queue.last_at, excluded.last_at), events = event_queue.events + excluded.events,
      is_deletion = max(event_queue.is_deletion, excluded.is_deletion)`.execute(trx)
}

/**
 * Lists the rows of the queue for which data may be read now. The row that has waited longest comes first.
 * @param without leaves out the rows with these keys, because their data is being read
 */
export async function listQueued(
  db: Db,
  now: Instant,
  limit: number,
  without: readonly Pick<QueuedEvent, 'resource' | 'resource_id'>[],
): Promise<QueuedEvent[]> {
  const keys = without.map(({ resource, resource_id }) => [resource, resource_id])
  const { rows } = await sql<QueuedEvent>`SELECT * FROM event_queue
    WHERE (not_before IS NULL OR not_before <= ${now})
      AND (resource, resource_id) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(keys)}))
    ORDER BY asked_at LIMIT ${limit}`.execute(db)
  return rows
}

/**
 * Tells whether events may be applied. They wait while a sync runs, so that neither undoes the work of the
 * other, and until the first load of all leads has ended, which needs an empty store and drops indexes.
 */
export async function mayApplyEvents(db: Db, now: Date): Promise<boolean> {
  if (await hasDroppedIndexes(db)) return false
  if ((await listHeldLeases(db, now)).some(({ name }) => name === 'sync')) return false
  const { rows } = await sql<{ yes: number }>`SELECT EXISTS (SELECT 1 FROM lead)
    OR EXISTS (SELECT 1 FROM sync_run WHERE leads_as_of IS NOT NULL) AS yes`.execute(db)
  return rows[0]?.yes === 1
}

/**
 * Finishes the events that a row of the queue stands for, and deletes the row. Call this function in the transaction
 * that writes the data that was read for the row. If another event arrived meanwhile, the row stays in the queue for
 * that event.
 */
export async function finishEvents(
  trx: Trx,
  { resource, resource_id, last_at, events }: QueuedEvent,
  end: { readonly at: Instant; readonly outcome: EventOutcome; readonly problem: string | null },
): Promise<void> {
  await trx
    .updateTable('event')
    .where('done_at', 'is', null)
    .where('resource', '=', resource)
    .where('resource_id', '=', resource_id)
    .where('received_at', '<=', last_at)
    .set({ done_at: end.at, outcome: end.outcome, problem: end.problem })
    .execute()
  const taken = await trx
    .deleteFrom('event_queue')
    .where('resource', '=', resource)
    .where('resource_id', '=', resource_id)
    .where('last_at', '=', last_at)
    .where('events', '=', events)
    .executeTakeFirst()
  if (taken.numDeletedRows > 0n) return
  await trx
    .updateTable('event_queue')
    .where('resource', '=', resource)
    .where('resource_id', '=', resource_id)
    .set({ asked_at: last_at, events: sql`max(1, events - ${events})`, not_before: null, failures: 0 })
    .execute()
}

export async function postponeEvent(trx: Trx, row: QueuedEvent, notBefore: Instant): Promise<void> {
  await trx
    .updateTable('event_queue')
    .where('resource', '=', row.resource)
    .where('resource_id', '=', row.resource_id)
    .set({ not_before: notBefore, failures: row.failures + 1 })
    .execute()
}

/**
 * Finishes the events about leads that arrived before a complete scan
 * began, because the scan has read these leads.
 * @param scan.asksForDeleted whether leads that an event calls deleted stay in the queue, to be requested
 */
export async function finishLeadEvents(
  trx: Trx,
  scan: { readonly startedAt: Instant; readonly asksForDeleted: boolean },
  at: Instant,
): Promise<void> {
  const isFinished = sql`resource = 'lead' AND last_at < ${scan.startedAt}
    AND is_deletion <= ${scan.asksForDeleted ? 0 : 1}`
  await sql`UPDATE event SET done_at = ${at}, outcome = 'read' WHERE done_at IS NULL AND resource = 'lead'
    AND resource_id IN (SELECT resource_id FROM event_queue WHERE ${isFinished})`.execute(trx)
  await sql`DELETE FROM event_queue WHERE ${isFinished}`.execute(trx)
}
