/**
 * The source of leads: the functions that every upstream offers. This file has only types; `open.ts`
 * implements them.
 */

import type { WireLeadDetail } from '../contract/lead.ts'
import type { PipelineCreate, WirePipeline } from '../contract/pipeline.ts'
import type {
  Agent,
  Instant,
  Lead,
  LeadDetail,
  PipelineStat,
  QuarantinedRecord,
  Stage,
} from '../domain/model.ts'
import type { Usage } from './client/retrying-client.ts'
import type { SingleLead } from './mapping/detail-mapping.ts'
import type { FindKnown, RawRecord } from './mapping/raw-record.ts'
import type { LeadFilters } from './paging/list-filters.ts'
import type { Profile } from './profile/profile.ts'
import type { WebhookSource } from './webhooks/registered-webhooks.ts'

/** A page of records as the upstream sent them; `next` is null on the last page. */
export interface RawPage {
  readonly records: readonly RawRecord[]
  readonly next: string | null
  readonly total: number | null
  /** Tells whether the answer says explicitly that more records follow. */
  readonly saysMore?: boolean
}

export interface ListOptions {
  readonly signal?: AbortSignal
  /** Looks up known records. Without this function no record counts as known. */
  readonly findKnown?: FindKnown | undefined
}

/**
 * A lead as the upstream sent it. `detail` is set only if the upstream is the reference service, whose
 * answers have a known form.
 */
interface LeadAnswer {
  readonly raw: unknown
  readonly detail: WireLeadDetail | null
}

/**
 * The endpoints of an upstream. Every function that sends a request throws LeadsheetError api_* and takes a
 * signal that ends the request.
 */
export interface Source {
  readonly profile: Profile
  /** The statuses of this upstream's leads, in funnel order. */
  readonly stages: readonly Stage[]
  /** Tells whether the upstream can list only the leads changed since a time. */
  readonly hasUpdatedSince: boolean
  has(endpoint: 'lead' | 'stats' | 'agents'): boolean
  listLeads(
    filters: LeadFilters,
    position: string | null,
    size: number,
    options?: ListOptions,
  ): Promise<RawPage>
  /**
   * Maps the record of a lead.
   * @param sent the record's JSON as received, which is kept unchanged; if absent, the JSON is serialised
   * from `raw`
   */
  mapLead(raw: unknown, sent?: string): Lead | QuarantinedRecord
  fetchLead(id: string, signal?: AbortSignal): Promise<LeadAnswer>
  fetchDetail(id: string, signal?: AbortSignal): Promise<LeadDetail>
  /** Fetches the lead and its details with one request. */
  fetchSingleLead(id: string, signal?: AbortSignal): Promise<SingleLead>
  /**
   * Reads the lead and its details from a record (JSON) that came with an event.
   * @returns the lead, or the reason if the record is not the lead with this id
   */
  readLeadRecord(record: string, id: string): SingleLead | { readonly reason: string }
  createPipeline(body: PipelineCreate, idempotencyKey: string, signal?: AbortSignal): Promise<WirePipeline>
  /**
   * Fetches the statistics of a pipeline as the upstream sent them: for all its leads, or for the leads
   * created in [from, to).
   */
  fetchPipelineStats(
    id: string,
    period?: { from?: string; to?: string },
    signal?: AbortSignal,
  ): Promise<unknown>
  mapPipelineStat(raw: unknown, pipelineId: string, observedAt: Instant): PipelineStat | QuarantinedRecord
  readonly webhooks: WebhookSource
  /** Fetches the agents as the upstream sent them, one record for each agent. */
  fetchAgents(signal?: AbortSignal): Promise<readonly unknown[]>
  mapAgent(raw: unknown): Agent | QuarantinedRecord
  readonly usage: Usage
  /**
   * Returns by how many milliseconds our clock was ahead of the upstream's at the last answer; null if that
   * is unknown.
   */
  clockAheadMs(): number | null
  close(): Promise<void>
}
