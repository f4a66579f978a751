/** Puts events into a store as if the upstream had sent them. No upstream is needed. */
import type { UpstreamEvent } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import type { EventOutcome } from '../../../src/store/events/event.ts'
import { finishEvents, saveEvents } from '../../../src/store/events/event.ts'

/** Returns an event. It is about a lead unless `change` says otherwise. */
export function event(id: string, change: Partial<Omit<UpstreamEvent, 'id'>> = {}): UpstreamEvent {
  return {
    id,
    type: 'lead.updated',
    occurredAt: null,
    resource: 'lead',
    resourceId: 'a',
    isDeletion: false,
    problem: null,
    ...change,
  }
}

export async function receive(store: Store, events: readonly UpstreamEvent[], at: string): Promise<void> {
  await store.write((trx) => saveEvents(trx, events, at))
}

/**
 * Ends all events that arrived about a lead until then, as if the lead had been read, and takes it from the
 * queue.
 */
export async function follow(
  store: Store,
  leadId: string,
  end: { readonly at: string; readonly outcome: EventOutcome; readonly problem?: string },
): Promise<void> {
  await store.write(async (trx) => {
    const waiting = trx.selectFrom('event_queue').where('resource_id', '=', leadId).selectAll()
    for (const row of await waiting.execute())
      await finishEvents(trx, { ...row, last_at: end.at }, { problem: null, ...end })
    await trx.deleteFrom('event_queue').where('resource_id', '=', leadId).execute()
  })
}
