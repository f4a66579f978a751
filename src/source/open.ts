/** The source: the six endpoints of an upstream as functions, over one client. */
import { z } from 'zod'
import { leadDetailSchema, type WireLeadDetail } from '../contract/lead.ts'
import { endpointUrl, PATHS } from '../contract/paths.ts'
import type { PipelineCreate, WirePipeline } from '../contract/pipeline.ts'
import { pipelineSchema } from '../contract/pipeline.ts'
import { FUNNEL_STATUSES, STAGES } from '../contract/stage.ts'
import type { WebhookCreate, WireWebhook } from '../contract/webhook.ts'
import { webhookSchema } from '../contract/webhook.ts'
import type { Log } from '../log.ts'
import type { Stage } from '../model.ts'
import { type ClientOptions, createClient } from './client.ts'
import { unexpected } from './failure.ts'

export interface SourceOptions extends Omit<ClientOptions, 'userAgent'> {
  /** Any of `https://h`, `https://h/api`, `https://h/api/v1`. */
  readonly baseUrl: string
  readonly log: Log
}

/** Filters of the list of leads; instants as RFC 3339. */
export interface LeadFilters {
  readonly pipelineId?: string | undefined
  readonly status?: readonly string[] | undefined
  readonly updatedSince?: string | undefined
  readonly createdSince?: string | undefined
  readonly minScore?: number | undefined
  readonly q?: string | undefined
  readonly sort?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** One page of records as the upstream sent them; `nextCursor` is null on the last one. */
export interface RawPage {
  readonly records: readonly unknown[]
  readonly nextCursor: string | null
  readonly total: number | null
}

/** Every function throws LeadsheetError api_* and takes a signal that ends it. */
export interface Source {
  /** The statuses of this upstream's leads, in funnel order. */
  readonly stages: readonly Stage[]
  listLeads(filters: LeadFilters, signal?: AbortSignal): Promise<RawPage>
  fetchLead(id: string, signal?: AbortSignal): Promise<WireLeadDetail>
  createPipeline(body: PipelineCreate, idempotencyKey: string, signal?: AbortSignal): Promise<WirePipeline>
  /** The statistics as sent, for the whole life or the cohort created in [from, to). */
  fetchPipelineStats(
    id: string,
    period?: { from?: string; to?: string },
    signal?: AbortSignal,
  ): Promise<unknown>
  registerWebhook(body: WebhookCreate, idempotencyKey: string, signal?: AbortSignal): Promise<WireWebhook>
  /** The agents as sent, a record each. */
  fetchAgents(signal?: AbortSignal): Promise<readonly unknown[]>
  readonly usage: { readonly requests: number; readonly retries: number }
  close(): Promise<void>
}

const listShape = z.object({
  data: z.array(z.unknown()),
  page: z.object({
    next_cursor: z.string().min(1).nullish(),
    has_more: z.boolean().nullish(),
    total: z.number().nullish(),
  }),
})
const agentsShape = z.object({ data: z.array(z.unknown()) })
/** Fields that the contract does not know stay in the answer. */
const detailShape = leadDetailSchema.loose()

export function openSource(options: SourceOptions): Source {
  const client = createClient({ ...options, userAgent: 'leadsheet' })
  const at = (path: (typeof PATHS)[keyof typeof PATHS], id?: string) =>
    endpointUrl(options.baseUrl, path, id === undefined ? {} : { id })

  async function get<T>(url: URL, shape: z.ZodType<T>, signal?: AbortSignal): Promise<T> {
    return checked(url, shape, await client.call({ method: 'GET', url, ...(signal && { signal }) }))
  }

  async function post<T>(
    url: URL,
    shape: z.ZodType<T>,
    body: unknown,
    key: string,
    signal?: AbortSignal,
  ): Promise<T> {
    const answer = await client.call({
      method: 'POST',
      url,
      body,
      idempotencyKey: key,
      ...(signal && { signal }),
    })
    return checked(url, shape, answer)
  }

  return {
    stages: STAGES.map(({ status, outcome }, position) => ({
      status,
      position,
      outcome,
      inFunnel: FUNNEL_STATUSES.some((step) => step === status),
    })),
    usage: client.usage,
    close: client.close,
    async listLeads(filters, signal) {
      const url = at(PATHS.leads)
      for (const [name, value] of queryOf(filters)) url.searchParams.append(name, value)
      const { data, page } = await get(url, listShape, signal)
      return { records: data, nextCursor: nextCursorOf(url, data, page), total: page.total ?? null }
    },
    fetchLead: async (id, signal) =>
      (await get(at(PATHS.lead, id), detailShape, signal)) as unknown as WireLeadDetail,
    createPipeline: (body, key, signal) => post(at(PATHS.pipelines), pipelineSchema, body, key, signal),
    async fetchPipelineStats(id, period = {}, signal) {
      const url = at(PATHS.pipelineStats, id)
      if (period.from !== undefined) url.searchParams.set('from', period.from)
      if (period.to !== undefined) url.searchParams.set('to', period.to)
      return get(url, z.looseObject({}), signal)
    },
    registerWebhook: (body, key, signal) => post(at(PATHS.webhooks), webhookSchema, body, key, signal),
    fetchAgents: async (signal) => (await get(at(PATHS.agents), agentsShape, signal)).data,
  }
}

/**
 * Null only where the list ends. A page without records ends it, unless it says that more follow; one that says so
 * and does not tell where is no end, and must not pass for one.
 */
function nextCursorOf(
  url: URL,
  records: readonly unknown[],
  page: z.infer<typeof listShape>['page'],
): string | null {
  const isLast = page.has_more === false || (records.length === 0 && page.has_more !== true)
  if (isLast) return null
  if (page.has_more === true && !page.next_cursor) {
    throw unexpected(url, 'answered that more leads follow, but without a cursor to them')
  }
  return page.next_cursor ?? null
}

function queryOf(filters: LeadFilters): [string, string][] {
  const named: [string, string | number | undefined][] = [
    ['pipeline_id', filters.pipelineId],
    ...(filters.status ?? []).map((status): [string, string] => ['status', status]),
    ['updated_since', filters.updatedSince],
    ['created_since', filters.createdSince],
    ['min_score', filters.minScore],
    ['q', filters.q],
    ['sort', filters.sort],
    ['limit', filters.limit],
    ['cursor', filters.cursor],
  ]
  return named.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
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
