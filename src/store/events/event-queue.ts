/**
 * What is to be read since events told of it: a row for each lead, pipeline, or all agents. An event that comes while
 * its lead is being read changes the row, and so the lead is read again.
 */
import { sql } from 'kysely'
import type { Instant, UpstreamEvent } from '../../model.ts'
import { hasDroppedIndexes } from '../db/dropped-index.ts'
import type { Db, Trx } from '../db/store.ts'
import type { EventQueueTable } from '../tables/event-tables.ts'

/** What there is of a lead that no event tells of. */
const ASKED_FOR = { resource: 'lead', isRemoval: false, record: null, occurredAt: null } as const

type Told = Pick<UpstreamEvent, 'resource' | 'resourceId' | 'isRemoval' | 'record' | 'occurredAt'>

/** A row as it was when its reading began. */
export type QueuedEvent = Readonly<EventQueueTable>

/**
 * Of two records the one of the later event stays, whichever came first; a lead that one event says nothing more of
 * than its name is asked for.
 */
export async function queueEvents(trx: Trx, events: readonly Told[], at: Instant): Promise<void> {
  if (events.length === 0) return
  const rows = mergedByKey(events).map(({ resource, resourceId, isRemoval, record, occurredAt, times }) => [
    ...[resource, resourceId, isRemoval ? 1 : 0, record],
    ...[record === null ? null : occurredAt, times],
  ])
  await sql`INSERT INTO event_queue (resource, resource_id, asked_at, last_at, events, is_removal, record, record_at, failures)
    SELECT value ->> 0, value ->> 1, ${at}, ${at}, CAST(value ->> 5 AS bigint), CAST(value ->> 2 AS bigint),
      value ->> 3, value ->> 4, 0
    FROM json_each(${JSON.stringify(rows)}) WHERE true
    ON CONFLICT (resource, resource_id) DO UPDATE SET
      last_at = max(event_queue.last_at, excluded.last_at), events = event_queue.events + excluded.events,
      is_removal = max(event_queue.is_removal, excluded.is_removal),
      (record, record_at) = (SELECT iif(later, excluded.record, event_queue.record), iif(later, excluded.record_at, event_queue.record_at)
        FROM (SELECT event_queue.record IS NOT NULL AND (excluded.record IS NULL
          OR coalesce(event_queue.record_at <= excluded.record_at, true)) AS later) AS records)`.execute(trx)
}

/** What several say of the same lead or pipeline as one would: a statement of PostgreSQL changes a row only once. */
function mergedByKey(events: readonly Told[]): (Told & { readonly times: number })[] {
  const merged = new Map<string, Told & { readonly times: number }>()
  for (const event of events) {
    const key = JSON.stringify([event.resource, event.resourceId])
    const before = merged.get(key)
    const isRemoval = event.isRemoval || before?.isRemoval === true
    const told = before === undefined || isLater(before, event) ? event : before
    merged.set(key, { ...told, isRemoval, times: (before?.times ?? 0) + 1 })
  }
  return [...merged.values()]
}

/** Whether the record of the second is to be read, or its lead asked for. */
function isLater(before: Told, event: Told): boolean {
  if (before.record === null || event.record === null) return before.record !== null
  return before.occurredAt === null || event.occurredAt === null || before.occurredAt <= event.occurredAt
}

/** A lead that is to be asked for, whatever events said of it. */
export async function queueLeads(trx: Trx, ids: readonly string[], at: Instant): Promise<void> {
  await queueEvents(
    trx,
    ids.map((resourceId) => ({ ...ASKED_FOR, resourceId })),
    at,
  )
}

/**
 * Those that may be read now, the one that has waited longest first.
 * @param without keys of those that are being read, and whether to leave out leads that have to be asked for
 */
export async function listQueued(
  db: Db,
  now: Instant,
  limit: number,
  without: {
    readonly keys: readonly Pick<QueuedEvent, 'resource' | 'resource_id'>[]
    readonly askedLeads: boolean
  },
): Promise<QueuedEvent[]> {
  const keys = without.keys.map(({ resource, resource_id }) => [resource, resource_id])
  const { rows } = await sql<QueuedEvent>`SELECT * FROM event_queue
    WHERE (not_before IS NULL OR not_before <= ${now})
      AND (resource, resource_id) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(keys)}))
      AND NOT (${without.askedLeads ? sql`true` : sql`false`} AND resource = 'lead' AND record IS NULL)
    ORDER BY asked_at LIMIT ${limit}`.execute(db)
  return rows
}

/** How many leads are to be asked for, counted up to a limit, so that it costs the same however many there are. */
export async function countAskedLeads(db: Db, limit: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (
    SELECT 1 FROM event_queue WHERE resource = 'lead' AND record IS NULL LIMIT ${limit}) AS asked`.execute(db)
  return rows[0]?.n ?? 0
}

/** Not during a first load, which looks up no lead and has put the indexes aside; nor before it. */
export async function mayApplyEvents(db: Db): Promise<boolean> {
  if (await hasDroppedIndexes(db)) return false
  const { rows } = await sql<{ yes: number }>`SELECT EXISTS (SELECT 1 FROM lead)
    OR EXISTS (SELECT 1 FROM sync_run WHERE leads_as_of IS NOT NULL) AS yes`.execute(db)
  return rows[0]?.yes === 1
}

/**
 * Takes out what was read, in the transaction that writes it. Where another event came meanwhile, what it told of is
 * still to be read.
 */
export async function takeOut(trx: Trx, row: QueuedEvent): Promise<void> {
  const { resource, resource_id, last_at, events } = row
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

export async function putOff(trx: Trx, row: QueuedEvent, notBefore: Instant): Promise<void> {
  await trx
    .updateTable('event_queue')
    .where('resource', '=', row.resource)
    .where('resource_id', '=', row.resource_id)
    .set({ not_before: notBefore, failures: row.failures + 1 })
    .execute()
}

/**
 * Leads that events told of before a scan began that was complete have been read by it.
 * @param scan.asksForDeleted whether those that are called gone stay, to be asked for
 */
export async function settleLeads(
  trx: Trx,
  scan: { readonly startedAt: Instant; readonly asksForDeleted: boolean },
  at: Instant,
): Promise<void> {
  const isSettled = sql`resource = 'lead' AND last_at < ${scan.startedAt}
    AND is_removal <= ${scan.asksForDeleted ? 0 : 1}`
  await sql`UPDATE event SET done_at = ${at}, outcome = 'read' WHERE done_at IS NULL AND resource = 'lead'
    AND resource_id IN (SELECT resource_id FROM event_queue WHERE ${isSettled})`.execute(trx)
  await sql`DELETE FROM event_queue WHERE ${isSettled}`.execute(trx)
}
