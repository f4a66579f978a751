/**
 * Counts the webhook events that the upstream (the API of the leads) has sent, and their outcomes. All
 * queries use indexes.
 */
import type { EventResource, Instant } from '../../domain/model.ts'
import { hasDroppedIndexes } from '../db/dropped-index.ts'
import { type Model, modelsIn } from '../db/model.ts'
import type { Db } from '../db/store.ts'
import type { EventOutcome } from './event.ts'

export interface EventCount {
  readonly outcome: EventOutcome
  readonly events: number
}

/** `resource` limits the search to one kind. */
export async function findLastArrival(db: Db, resource: EventResource | 'any'): Promise<Instant | null> {
  const events = db.selectFrom('event').select('received_at').orderBy('received_at', 'desc').limit(1)
  const row = await (resource === 'any' ? events : events.where('resource', '=', resource)).executeTakeFirst()
  return row?.received_at ?? null
}

/** Counts the finished events that arrived after an instant, by outcome. Events are kept for a week. */
export async function countEvents(db: Db, since: Instant): Promise<EventCount[]> {
  return db
    .selectFrom('event')
    .where('received_at', '>', since)
    .select((eb) => [
      eb.ref('outcome').$castTo<EventOutcome>().as('outcome'),
      eb.fn.countAll<number>().as('events'),
    ])
    .where('outcome', 'is not', null)
    .groupBy('outcome')
    .execute()
}

/**
 * Counts the rows of the queue: one for each lead or pipeline to be read, and one for all agents. `since` is when the
 * first waiting event arrived; null where no event waits.
 */
export async function countWaitingEvents(db: Db) {
  return db
    .selectFrom('event_queue')
    .select((eb) => [
      eb.fn.countAll<number>().as('toRead'),
      eb.fn.min<Instant | null>('asked_at').as('since'),
    ])
    .executeTakeFirstOrThrow()
}

export interface EventNews extends Model<'event'> {
  /** The name of the lead's company or of the pipeline; null where it is unknown. */
  readonly name: string | null
}

export async function listEvents(db: Db, limit: number): Promise<EventNews[]> {
  const events = await modelsIn(db)
    .selectFrom('event')
    .selectAll()
    .orderBy('receivedAt', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute()
  // Leaves out names while indexes are missing, because each lookup would then search all leads.
  const isIndexed = !(await hasDroppedIndexes(db))
  return Promise.all(
    events.map(async (event) => ({ ...event, name: isIndexed ? await findName(db, event) : null })),
  )
}

async function findName(db: Db, { resource, resourceId: id }: Model<'event'>): Promise<string | null> {
  if (resource === 'lead') {
    const lead = await db.selectFrom('lead').where('id', '=', id).select('company_name').executeTakeFirst()
    return lead?.company_name ?? null
  }
  if (resource !== 'pipeline') return null
  const pipeline = await db.selectFrom('pipeline').where('id', '=', id).select('name').executeTakeFirst()
  return pipeline?.name ?? null
}
