/** The source of leads: one upstream with all its endpoints, made of an HTTP client and a profile. */

import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { leadDetailSchema } from '../contract/lead.ts'
import type { PipelineCreate } from '../contract/pipeline.ts'
import { pipelineSchema } from '../contract/pipeline.ts'
import type { Instant, LeadDetail, Stage } from '../domain/model.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Answer } from './client/answer.ts'
import { quote, saidIn, TooLargeBody } from './client/answer.ts'
import { authorize, refuseOpenHttp, refuseUnsendable, withoutKey } from './client/authorize.ts'
import type { Call } from './client/request.ts'
import { endpointUrl, hasEndpoint, pathStep } from './client/request.ts'
import type { ClientOptions } from './client/retrying-client.ts'
import { createClient } from './client/retrying-client.ts'
import { redirected, unexpected } from './client/upstream-failure.ts'
import type { SingleLead } from './mapping/detail-mapping.ts'
import { mapDetail, readSingleLead } from './mapping/detail-mapping.ts'
import { isTombstone, leadIdIn, mapAgent, mapLead, mapPipelineStat } from './mapping/lead-mapping.ts'
import type { RawRecord } from './mapping/raw-record.ts'
import { findGraphqlFault } from './paging/graphql-fault.ts'
import { itemsOf, leavesOutList, readListBody } from './paging/list-body.ts'
import { composeListRequest } from './paging/list-request.ts'
import type { PageAnswer } from './paging/paging.ts'
import {
  behindCounted,
  ignoresRange,
  namesNext,
  nextPosition,
  readTotal,
  saysMore,
  saysWhetherMore,
} from './paging/paging.ts'
import { findPartialSign, isErrorValue } from './paging/partial-answer.ts'
import type { RawPage, ReadPage } from './paging/raw-page.ts'
import { chainSearches, scannedPaging } from './paging/search-chain.ts'
import type { PagingProfile, Profile } from './profile/profile.ts'
import { REFERENCE_PROFILE } from './profile/reference-profile.ts'
import { sourceAddress } from './source-address.ts'
import type { FieldPath } from './values/json.ts'
import { readPath } from './values/json.ts'
import { createWebhookSource } from './webhooks/registered-webhooks.ts'

/** Every function that sends a request may throw LeadsheetError api_*, and its signal aborts the request. */
export type Source = ReturnType<typeof openSource>

export interface SourceOptions extends Omit<ClientOptions, 'userAgent' | 'authorize' | 'requestsPerSecond'> {
  /**
   * `https://h`, `https://h/api`, `https://h/api/v1`, or another base to which the profile's paths are
   * appended.
   */
  readonly baseUrl: string
  readonly profile?: Profile
}

const NO_PROFILE_HINT = `No profile is set (api.profile), so that the list is looked for where the reference service has it. ${shellCommand('probe URL -o profile.yaml')} finds out where another service has it; or check api.url (LEADSHEET_API_URL).`

/** The shape of a lead's details. Fields that the shape does not name are kept. */
const detailShape = leadDetailSchema.loose()

/**
 * Opens the source.
 * @throws LeadsheetError config_invalid for a base URL to which the key would be sent unencrypted over the
 * internet, and for a key that its header cannot carry
 */
export function openSource(options: SourceOptions) {
  refuseOpenHttp(new URL(options.baseUrl))
  const profile = options.profile ?? REFERENCE_PROFILE
  const { apiKey, secret } = options
  for (const key of typeof apiKey === 'string' ? [apiKey] : apiKey.known())
    refuseUnsendable(profile, key, secret)
  const client = createClient({
    ...options,
    userAgent: 'leadsheet',
    requestsPerSecond: profile.limits.requests_per_second,
    authorize: (url, headers, key) => authorize(profile, key, url, headers, secret),
  })
  const { redact } = client
  const at = (name: keyof Profile['endpoints'], id?: string): URL =>
    endpointUrl(options.baseUrl, profile, name, id)
  const call = async (call: Call): Promise<Answer> => {
    const answer = await client.call(call)
    refuseError(call.url, answer.status, answer.body)
    return answer
  }

  /** Throws if the body contains an error, because some upstreams report errors with status 200. */
  function refuseError(url: URL, status: number, body: unknown): void {
    const error = profile.envelope.error === undefined ? null : readPath(body, profile.envelope.error)
    if (!isErrorValue(error)) return
    throw unexpected(url, `answered ${status} with an error: ${redact(JSON.stringify(error)).slice(0, 200)}`)
  }

  async function fetchRaw(id: string, signal?: AbortSignal): Promise<{ url: URL; raw: unknown }> {
    const url = at('lead', id)
    const { status, headers, body } = await call({ method: 'GET', url, takes: [301, 308], signal })
    if (status >= 300) {
      const target = headers.location === undefined ? null : URL.parse(headers.location, url.href)
      throw isOtherLead(url, target, id)
        ? gone(url, `leads to ${target?.pathname}`)
        : redirected(status, url, headers.location ?? null)
    }
    const raw = readPath(body, profile.envelope.lead)
    const other = leadIdIn(raw, profile)
    if (other !== null && other !== id) throw gone(url, `answered with the lead ${other.slice(0, 100)}`)
    if (isTombstone(raw, profile)) throw gone(url, 'says that the lead is deleted')
    return { url, raw }
  }

  /** The records of the first page that was read last. */
  let firstRecords: readonly RawRecord[] = []

  /** Returns whether an answer has left out its empty list. A first page must not count leads, or have an error. */
  function isLeftOut(answer: PageAnswer, position: string | null): boolean {
    if (!leavesOutList(answer.body, profile)) return false
    const total = position === null ? readTotal(profile.paging.total, answer) : null
    return (total ?? 0) === 0 && findPartialSign(profile, 200, {}, answer.body) === null
  }

  const readPage: ReadPage = async (filters, position, size, options = {}) => {
    const { signal, findUnchanged } = options
    const request = composeListRequest(profile, at('leads'), filters, position, size)
    const { url } = request
    const answer = await client.call({
      ...request,
      parse: (bytes) => readListBody(bytes, profile, findUnchanged),
      // An error with a good status and without a record is asked again, like an error with its own status.
      findFault: (status, answered, { records, body }) => {
        if (records === null) return findGraphqlFault(body)
        const said = records.length === 0 ? findPartialSign(profile, status, answered, body) : null
        return said === null ? null : { said }
      },
      // Some upstreams answer so if nothing has changed since the time of the filter, or past the last page.
      takes: filters.updatedSince === undefined ? [204] : [204, 304],
      notFoundHint: profile === REFERENCE_PROFILE ? NO_PROFILE_HINT : undefined,
      signal,
    })
    const isNamed = position !== null && namesNext(profile.paging)
    if (answer.status === 204 || answer.status === 304) {
      // A page that the page before has named must have records, or say that it is the last.
      return {
        records: [],
        next: null,
        total: null,
        partialSign: isNamed ? `status ${answer.status}` : null,
      }
    }
    const { body } = answer.body
    const place = readPath(body, profile.envelope.leads)
    const empty = { url, body, headers: answer.headers, records: [] }
    // PHP writes an empty list as an object; on a first page, that may be another thing than a list. Go writes
    // it as null or leaves it out, and what makes JSON of XML writes it as an empty text. After a page that names
    // the next one, an answer without a list does not show the end, unless it says so.
    const isNone = place === null || place === '' || (position !== null && isDeepStrictEqual(place, {}))
    const isEmpty = isNamed
      ? isNone && saysWhetherMore(profile.paging, position, empty)
      : isNone || isLeftOut(empty, position)
    const records = isEmpty ? [] : answer.body.records
    if (records === null) {
      refuseError(url, answer.status, body)
      throw withoutList(url, body, profile.envelope.leads, 'leads', redact)
    }
    if (profile.name === REFERENCE_PROFILE.name) refuseOtherPaging(url, body, profile)
    const page = { url, body, headers: answer.headers, records, takesJson: profile.request !== undefined }
    const isWhole = ignoresRange(profile.paging, answer, records.length, size)
    const named = isWhole ? null : nextPosition(profile.paging, position, page, size)
    if (position === null) firstRecords = records
    const rows = firstRecords.length
    const behind = named === null ? behindCounted(profile.paging, position, page, size, rows) : null
    // Past their end, some upstreams give the first or the last page once more.
    const known = [...firstRecords, ...records]
    const hasMore = behind === null ? null : await hasNew(readPage(filters, behind, size, options), known)
    const next = hasMore ? behind : named
    // The empty page past the end of a numbered list may say this of the list.
    const isLast = next === null && (records.length > 0 || namesNext(profile.paging))
    const sign = findPartialSign(profile, answer.status, answer.headers, body, isLast)
    return {
      records,
      next: next && withoutKey(profile, next),
      total: readTotal(profile.paging.total, page),
      saysMore: hasMore ?? saysMore(profile.paging, position, page),
      partialSign: sign === null ? null : quote(redact(sign)),
    }
  }

  return {
    profile,
    /** The paging of `listLeads`. */
    paging: scannedPaging(profile),
    address: sourceAddress(at('leads'), profile, redact),
    stages: stagesOf(profile),
    hasUpdatedSince: profile.filters.updated_since !== undefined,
    has: (endpoint: 'lead' | 'stats' | 'agents') => hasEndpoint(profile, endpoint),
    usage: client.usage,
    clockAheadMs: client.clockAheadMs,
    /** Sends a request, and returns by how many milliseconds our clock is ahead; null if no answer says it. */
    async askClock(signal: AbortSignal): Promise<number | null> {
      const request = composeListRequest(profile, at('leads'), {}, null, 1)
      client.forgetClock()
      // Ignores whatever is wrong with the answer, because a refusal has a date too.
      await client.call({ ...request, signal }).catch(() => undefined)
      return client.clockAheadMs()
    },
    close: client.close,
    listLeads: chainSearches(withFittingPages(readPage, profile.paging, options.log), profile),
    /** @param sent the JSON as received, which is stored; if absent, `raw` is written as JSON */
    mapLead: (raw: unknown, sent?: string) => mapLead(raw, profile, sent),
    /** `detail` is set only for the reference service, the format of whose answers is known. */
    async fetchLead(id: string, signal?: AbortSignal) {
      const { url, raw } = await fetchRaw(id, signal)
      const detail = profile.name === REFERENCE_PROFILE.name ? checked(url, detailShape, raw) : null
      return { raw, detail }
    },
    async fetchDetail(id: string, signal?: AbortSignal): Promise<LeadDetail> {
      const { url, raw } = await fetchRaw(id, signal)
      return readable(url, mapDetail(raw, id, profile))
    },
    async fetchSingleLead(id: string, signal?: AbortSignal): Promise<SingleLead> {
      const { url, raw } = await fetchRaw(id, signal)
      return readable(url, readSingleLead(raw, id, profile))
    },
    async createPipeline(body: PipelineCreate, idempotencyKey: string, signal?: AbortSignal) {
      const url = at('pipelines')
      const answer = await call({ method: 'POST', url, body, idempotencyKey, signal })
      return checked(url, pipelineSchema, answer.body)
    },
    /** With `period`, only about leads created from `from` until before `to`. */
    async fetchPipelineStats(
      id: string,
      period: { from?: string; to?: string } = {},
      signal?: AbortSignal,
    ): Promise<unknown> {
      const url = at('stats', id)
      if (period.from !== undefined) url.searchParams.set('from', period.from)
      if (period.to !== undefined) url.searchParams.set('to', period.to)
      const { body } = await call({ method: 'GET', url, signal })
      return readPath(body, profile.envelope.stats)
    },
    mapPipelineStat: (raw: unknown, pipelineId: string, observedAt: Instant) =>
      mapPipelineStat(raw, pipelineId, profile, observedAt),
    webhooks: createWebhookSource({ profile, at: () => at('webhooks'), call, checked }),
    async fetchAgents(signal?: AbortSignal): Promise<readonly unknown[]> {
      const url = at('agents')
      const { body } = await call({ method: 'GET', url, signal })
      const agents = itemsOf(body, profile.envelope.agents, profile.mapping.agent.id)
      if (agents === null) throw withoutList(url, body, profile.envelope.agents, 'agents', redact)
      return agents
    },
    mapAgent: (raw: unknown) => mapAgent(raw, profile),
  }
}

/** A page that is refused has none, because it may lie behind the end of the list; null for another failure. */
async function hasNew(page: Promise<RawPage>, others: readonly RawRecord[]): Promise<boolean | null> {
  try {
    const { records } = await page
    return records.some(({ high, low }) => !others.some((each) => each.high === high && each.low === low))
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    return /^api_(rejected|not_found)$/.test(thrown.code) ? false : null
  }
}

/** Asks for a page that is too large again with half as many leads, and keeps to that size. */
function withFittingPages(readPage: ReadPage, paging: PagingProfile, log: Log): ReadPage {
  let fittingSize = Number.POSITIVE_INFINITY
  return async (filters, position, size, options) => {
    for (;;) {
      const usual = Math.min(size, paging.size_max)
      const wanted = Math.min(usual, fittingSize)
      try {
        return await readPage(filters, position, wanted, options)
      } catch (thrown) {
        if (!(thrown instanceof LeadsheetError)) throw thrown
        if (!(thrown.cause instanceof TooLargeBody)) throw wanted < usual ? asFault(thrown) : thrown
        if (wanted === 1 || !canShrink(paging, position)) throw withSizeHint(thrown, wanted)
        fittingSize = Math.min(fittingSize, Math.floor(wanted / 2))
        log.warn({ leads: wanted, next_leads: fittingSize }, thrown.message)
      }
    }
  }

  /** After smaller pages, the last page does not show whether the list has ended, so a refusal is a fault. */
  function asFault(error: LeadsheetError): LeadsheetError {
    const mayBeEnd = paging.kind === 'offset' && /^api_(rejected|not_found)$/.test(error.code)
    return mayBeEnd ? new LeadsheetError('api_unexpected', error.message, { hint: error.hint ?? '' }) : error
  }
}

/** Positions that count pages, and links of the upstream, belong to one size. */
function canShrink(paging: PagingProfile, position: string | null): boolean {
  if (paging.kind === 'range') return true
  if (paging.kind === 'none' || paging.kind === 'page' || paging.size_param === undefined) return false
  return position === null || (paging.kind !== 'next_url' && paging.kind !== 'link')
}

function withSizeHint({ code, message, cause }: LeadsheetError, size: number): LeadsheetError {
  const hint =
    size === 1
      ? 'Ask the upstream for leads with fewer fields, such as by a parameter in endpoints.leads of the profile.'
      : `Set api.page_size to less than ${size}, or name the parameter of the size in the profile (paging.size_param).`
  return new LeadsheetError(code, message, { hint, cause })
}

/** Like any lead that is not found, it is marked as deleted by an event or by whole scans. */
function gone(url: URL, what: string): LeadsheetError {
  return new LeadsheetError('api_not_found', `${url.origin}${url.pathname} ${what}`, {
    hint: 'The lead was deleted, or merged into another one.',
  })
}

function isOtherLead(from: URL, to: URL | null, id: string): boolean {
  if (to === null || to.host !== from.host) return false
  const [parts, others] = [from, to].map(({ pathname }) => pathname.replace(/\/$/, '').split('/'))
  const differing = parts?.flatMap((part, index) => (part === others?.[index] ? [] : [part])) ?? []
  return parts?.length === others?.length && differing.length === 1 && differing[0] === pathStep(id)
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

/** Only an error message in the answer is quoted, because the rest may be data of leads. */
function withoutList(url: URL, body: unknown, path: FieldPath, what: string, redact: Redact): LeadsheetError {
  const place = path.length === 0 ? 'the answer itself' : path.join('.')
  const said = saidIn(body)
  const answer = said === null ? '' : `; it says: ${quote(redact(said))}`
  return unexpected(url, `has no list of ${what} at ${place}${answer}`, PROBE_HINT)
}

const PROBE_HINT = `If this is not the Lead Pipeline Service, it needs a profile: ${shellCommand('probe URL -o FILE')} makes one for api.profile.`

/**
 * Without `has_more`, the answer may be the first page of an API with another paging, and would pass as the
 * whole list.
 */
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
