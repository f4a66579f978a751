/** The tables of events, as Kysely sees them. */
import type { Generated } from 'kysely'
import type { EventResource } from '../../model.ts'

export const EVENT_OUTCOMES = [
  ...['inserted', 'updated', 'unchanged', 'removed', 'gone'],
  ...['read', 'ignored', 'unreadable', 'failed'],
] as const
export type EventOutcome = (typeof EVENT_OUTCOMES)[number]

export interface EventTable {
  id: string
  type: string | null
  occurred_at: string | null
  received_at: string
  repeats: Generated<number>
  resource: EventResource | null
  resource_id: string
  done_at: string | null
  outcome: EventOutcome | null
  problem: string | null
}

export interface EventQueueTable {
  resource: EventResource
  resource_id: string
  asked_at: string
  last_at: string
  events: number
  is_removal: number
  record: string | null
  record_at: string | null
  not_before: string | null
  failures: number
}

export interface EventCountTable {
  hour: string
  outcome: EventOutcome
  events: number
  seconds: number
}

interface ScanEventTable {
  seq: Generated<number>
  lead_no: number
}

export interface EventTables {
  sync_scan_event: ScanEventTable
  event_count: EventCountTable
  event: EventTable
  event_queue: EventQueueTable
}
