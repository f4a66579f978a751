/**
 * What is to be read since events told of it: a row for each lead, pipeline, or all agents. An event that comes while
 * its lead is being read changes the row, and so the lead is read again.
 */
import { sql } from 'kysely'
import type { EventResource, Instant, UpstreamEvent } from '../model.ts'
import type { EventQueueTable } from './event-tables.ts'
import type { Db, Trx } from './open.ts'

/** A row as it was when its reading began. */
export type QueuedEvent = Readonly<EventQueueTable>

/**
 * Of two records the one of the later event stays, whichever came first; a lead that one event says nothing more of
 * than its name is asked for.
 */
export async function queueEvents(trx: Trx, events: readonly UpstreamEvent[], at: Instant): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ resource, resourceId, isRemoval, record, occurredAt }) => [
    ...[resource, resourceId, isRemoval ? 1 : 0, record],
    record === null ? null : occurredAt,
  ])
  await sql`INSERT INTO event_queue (resource, resource_id, asked_at, last_at, events, is_removal, record, record_at, failures)
    SELECT value ->> 0, value ->> 1, ${at}, ${at}, 1, value ->> 2, value ->> 3, value ->> 4, 0
    FROM json_each(${JSON.stringify(rows)}) WHERE true
    ON CONFLICT (resource, resource_id) DO UPDATE SET last_at = excluded.last_at, events = events + 1,
      is_removal = max(is_removal, excluded.is_removal),
      (record, record_at) = (SELECT iif(later, excluded.record, event_queue.record), iif(later, excluded.record_at, event_queue.record_at)
        FROM (SELECT event_queue.record IS NOT NULL AND (excluded.record IS NULL
          OR coalesce(event_queue.record_at <= excluded.record_at, true)) AS later))`.execute(trx)
}

/**
 * Those that may be read now, the one that has waited longest first.
 * @param except the keys of those that are being read
 */
export async function listQueued(
  db: Db,
  now: Instant,
  limit: number,
  except: readonly Pick<QueuedEvent, 'resource' | 'resource_id'>[],
): Promise<QueuedEvent[]> {
  const keys = except.map(({ resource, resource_id }) => [resource, resource_id])
  const { rows } = await sql<QueuedEvent>`SELECT * FROM event_queue
    WHERE (not_before IS NULL OR not_before <= ${now})
      AND (resource, resource_id) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(keys)}))
    ORDER BY asked_at LIMIT ${limit}`.execute(db)
  return rows
}

/** Up to a limit, so that it costs the same however many there are. */
export async function countQueued(db: Db, resource: EventResource, limit: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM (SELECT 1 FROM event_queue WHERE resource = ${resource} LIMIT ${limit})`.execute(
    db,
  )
  return rows[0]?.n ?? 0
}
