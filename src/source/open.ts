/** The source: the endpoints of an upstream as functions, over one client and as its profile says. */

import type { z } from 'zod'
import { leadDetailSchema, type WireLeadDetail } from '../contract/lead.ts'
import { type PipelineCreate, pipelineSchema, type WirePipeline } from '../contract/pipeline.ts'
import type { LeadsheetError } from '../errors.ts'
import { shellCommand } from '../errors.ts'
import type { Agent, HeldRow, Instant, Lead, LeadDetail, PipelineStat, Stage } from '../model.ts'
import { endpointUrl, hasEndpoint } from './address.ts'
import type { Answer } from './answer.ts'
import { authorize, redactorOf } from './auth.ts'
import { quote, saidIn } from './body.ts'
import { type Call, type ClientOptions, createClient, type Usage } from './client.ts'
import { mapDetail } from './detail-mapping.ts'
import { unexpected } from './failure.ts'
import { type FieldPath, readPath } from './field-path.ts'
import { type LeadFilters, putFilters } from './filters.ts'
import { parseJson } from './json.ts'
import { readListBody } from './list-body.ts'
import { mapAgent, mapLead, mapPipelineStat } from './mapping.ts'
import { nextPosition, readTotal, requestPage, saysMore } from './paging.ts'
import { refuseOpenHttp } from './plain-http.ts'
import type { Profile } from './profile.ts'
import type { FindKnown, RawRecord } from './raw-record.ts'
import { REFERENCE_PROFILE } from './reference-profile.ts'
import { readSingleLead, type SingleLead } from './single-lead.ts'
import { createWebhookSource, type WebhookSource } from './webhooks.ts'

export interface SourceOptions extends Omit<ClientOptions, 'userAgent' | 'authorize' | 'requestsPerSecond'> {
  /** Any of `https://h`, `https://h/api`, `https://h/api/v1`, or what the profile's paths go behind. */
  readonly baseUrl: string
  /** That of the reference service unless told otherwise. */
  readonly profile?: Profile
}

/** One page of records as the upstream sent them; `next` is null on the last one. */
export interface RawPage {
  readonly records: readonly RawRecord[]
  readonly next: string | null
  readonly total: number | null
  /** Whether the answer says with true that more follow, whatever it gives. */
  readonly saysMore?: boolean
}

export interface ListOptions {
  readonly signal?: AbortSignal
  /** None of the records is known without it. */
  readonly findKnown?: FindKnown | undefined
}

/** One lead as sent; `detail` where the upstream is the reference service, whose shape is known. */
export interface LeadAnswer {
  readonly raw: unknown
  readonly detail: WireLeadDetail | null
}

/** Every function throws LeadsheetError api_* and takes a signal that ends it. */
export interface Source {
  readonly profile: Profile
  /** The statuses of this upstream's leads, in funnel order. */
  readonly stages: readonly Stage[]
  /** Whether the upstream can be asked for changes alone. */
  readonly hasUpdatedSince: boolean
  has(endpoint: 'lead' | 'stats' | 'agents'): boolean
  listLeads(
    filters: LeadFilters,
    position: string | null,
    size: number,
    options?: ListOptions,
  ): Promise<RawPage>
  /** @param sent the record's JSON as it came, kept as it is; written anew where it is not given */
  mapLead(raw: unknown, sent?: string): Lead | HeldRow
  fetchLead(id: string, signal?: AbortSignal): Promise<LeadAnswer>
  fetchDetail(id: string, signal?: AbortSignal): Promise<LeadDetail>
  /** The lead and its details by one request. */
  fetchSingleLead(id: string, signal?: AbortSignal): Promise<SingleLead>
  /** The same of a record, JSON, that came with an event; the reason where it is not that lead's. */
  readLeadRecord(record: string, id: string): SingleLead | { readonly reason: string }
  createPipeline(body: PipelineCreate, idempotencyKey: string, signal?: AbortSignal): Promise<WirePipeline>
  /** The statistics as sent, for the whole life or the cohort created in [from, to). */
  fetchPipelineStats(
    id: string,
    period?: { from?: string; to?: string },
    signal?: AbortSignal,
  ): Promise<unknown>
  mapPipelineStat(raw: unknown, pipelineId: string, observedAt: Instant): PipelineStat | HeldRow
  readonly webhooks: WebhookSource
  /** The agents as sent, a record each. */
  fetchAgents(signal?: AbortSignal): Promise<readonly unknown[]>
  mapAgent(raw: unknown): Agent | HeldRow
  readonly usage: Usage
  /** By how much our clock was ahead of the upstream's at the last answer; null where that is not known. */
  clockAheadMs(): number | null
  close(): Promise<void>
}

/** Fields that the contract does not know stay in the answer. */
const detailShape = leadDetailSchema.loose()

/** @throws LeadsheetError config_invalid for a base URL that would show the key to everyone on the way */
export function openSource(options: SourceOptions): Source {
  refuseOpenHttp(new URL(options.baseUrl))
  const profile = options.profile ?? REFERENCE_PROFILE
  const redact = redactorOf(options)
  const client = createClient({
    ...options,
    userAgent: 'leadsheet',
    requestsPerSecond: profile.limits.requests_per_second,
    authorize: (url, headers) => authorize(profile, options.apiKey, url, headers),
  })
  const at = (name: keyof Profile['endpoints'], id?: string): URL =>
    endpointUrl(options.baseUrl, profile, name, id)
  const call = async (call: Call): Promise<Answer> => {
    const answer = await client.call(call)
    refuseError(call.url, answer.status, answer.body)
    return answer
  }

  /** Some upstreams say with status 200 that something went wrong. */
  function refuseError(url: URL, status: number, body: unknown): void {
    const error = profile.envelope.error === undefined ? null : readPath(body, profile.envelope.error)
    if (error === null || error === undefined || error === false) return
    throw unexpected(url, `answered ${status} with an error: ${redact(JSON.stringify(error)).slice(0, 200)}`)
  }

  async function fetchRaw(id: string, signal?: AbortSignal): Promise<{ url: URL; raw: unknown }> {
    const url = at('lead', id)
    const { body } = await call({ method: 'GET', url, ...(signal && { signal }) })
    return { url, raw: readPath(body, profile.envelope.lead) }
  }

  return {
    profile,
    stages: stagesOf(profile),
    hasUpdatedSince: profile.filters.updated_since !== undefined,
    has: (endpoint) => hasEndpoint(profile, endpoint),
    usage: client.usage,
    clockAheadMs: client.clockAheadMs,
    close: client.close,
    async listLeads(filters, position, size, { signal, findKnown } = {}) {
      const list = at('leads')
      const headers: Record<string, string> = {}
      putFilters(profile, filters, list, headers)
      const url = requestPage(profile.paging, list, headers, position, size)
      const answer = await client.call({
        method: 'GET',
        url,
        headers,
        parse: (bytes) => readListBody(bytes, profile, findKnown),
        ...(signal && { signal }),
      })
      const { body, records } = answer.body
      refuseError(url, answer.status, body)
      if (records === null) throw withoutList(url, body, profile.envelope.leads, 'leads', redact)
      if (profile.name === REFERENCE_PROFILE.name) refuseOtherPaging(url, body, profile)
      const page = { url, body, headers: answer.headers, records }
      return {
        records,
        next: nextPosition(profile.paging, position, page),
        total: readTotal(profile.paging.total, page),
        saysMore: saysMore(profile.paging, body),
      }
    },
    mapLead: (raw, sent) => mapLead(raw, profile, sent),
    async fetchLead(id, signal) {
      const { url, raw } = await fetchRaw(id, signal)
      const detail = profile.name === REFERENCE_PROFILE.name ? checked(url, detailShape, raw) : null
      return { raw, detail }
    },
    async fetchDetail(id, signal) {
      const { url, raw } = await fetchRaw(id, signal)
      return readable(url, mapDetail(raw, id, profile))
    },
    async fetchSingleLead(id, signal) {
      const { url, raw } = await fetchRaw(id, signal)
      return readable(url, readSingleLead(raw, id, profile))
    },
    readLeadRecord: (record, id) => readSingleLead(parseJson(record), id, profile),
    async createPipeline(body, idempotencyKey, signal) {
      const url = at('pipelines')
      const answer = await call({ method: 'POST', url, body, idempotencyKey, ...(signal && { signal }) })
      return checked(url, pipelineSchema, answer.body)
    },
    async fetchPipelineStats(id, period = {}, signal) {
      const url = at('stats', id)
      if (period.from !== undefined) url.searchParams.set('from', period.from)
      if (period.to !== undefined) url.searchParams.set('to', period.to)
      const { body } = await call({ method: 'GET', url, ...(signal && { signal }) })
      return readPath(body, profile.envelope.stats)
    },
    mapPipelineStat: (raw, pipelineId, observedAt) => mapPipelineStat(raw, pipelineId, profile, observedAt),
    webhooks: createWebhookSource({ profile, at: () => at('webhooks'), call, checked }),
    async fetchAgents(signal) {
      const url = at('agents')
      const { body } = await call({ method: 'GET', url, ...(signal && { signal }) })
      return itemsOf(url, body, profile.envelope.agents, 'agents', redact)
    },
    mapAgent: (raw) => mapAgent(raw, profile),
  }
}

function readable<T extends object>(url: URL, read: T): Exclude<T, { readonly reason: string }> {
  if ('reason' in read) throw unexpected(url, `answered with a lead that cannot be read: ${read.reason}`)
  return read as Exclude<T, { readonly reason: string }>
}

function stagesOf(profile: Profile): Stage[] {
  const firstQualified = profile.stages.findIndex((stage) => stage.qualified)
  return profile.stages.map(({ status, outcome, in_funnel }, position) => {
    const inFunnel = in_funnel ?? (outcome === 'open' || outcome === 'won')
    const isQualified = inFunnel && firstQualified >= 0 && position >= firstQualified
    return { status, position, outcome, inFunnel, isQualified }
  })
}

type Redact = (text: string) => string

function itemsOf(url: URL, body: unknown, path: FieldPath, what: string, redact: Redact): readonly unknown[] {
  const items = readPath(body, path)
  if (Array.isArray(items)) return items
  throw withoutList(url, body, path, what, redact)
}

/** With what it says of an error; other parts may be leads in another place, and are nobody's business. */
function withoutList(url: URL, body: unknown, path: FieldPath, what: string, redact: Redact): LeadsheetError {
  const place = path.length === 0 ? 'the answer itself' : path.join('.')
  const said = saidIn(body)
  const told = said === null ? '' : `; it says: ${quote(redact(said))}`
  return unexpected(url, `has no list of ${what} at ${place}${told}`, PROBE_HINT)
}

const PROBE_HINT = `If this is not the Lead Pipeline Service, it needs a profile: ${shellCommand('probe URL --write FILE')} makes one for api.profile.`

/** A list that does not say how it goes on may be another's first page, and would pass for the whole. */
function refuseOtherPaging(url: URL, body: unknown, { paging }: Profile): void {
  if (paging.has_more === undefined || readPath(body, paging.has_more) !== undefined) return
  throw unexpected(url, `does not say whether there is more (${paging.has_more.join('.')})`, PROBE_HINT)
}

function checked<T>(url: URL, shape: z.ZodType<T>, answer: unknown): T {
  const parsed = shape.safeParse(answer)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw unexpected(
    url,
    `answered with JSON of another shape: ${issue?.path.join('.') || 'body'}: ${issue?.message}`,
  )
}
