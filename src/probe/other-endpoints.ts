/** Finds the endpoints other than the list, with GETs only: a single lead, statistics, and agents. */
import { API_PREFIX } from '../contract/api.ts'
import { endpointUrl, withoutEndSlash } from '../upstream/client/request.ts'
import { toText } from '../upstream/profile/field-rule.ts'
import type { AGENT_FIELDS, EndpointName, Profile } from '../upstream/profile/profile.ts'
import { type FieldPath, fieldsOf, findRecords, pathText, readPath } from '../upstream/values/json.ts'
import { toNumber } from '../upstream/values/scalar.ts'
import type { Asker, List, Reply } from './ask.ts'
import { evidenceOf, type Finding, finding, type Gap, gap } from './ask.ts'
import { columnsOf } from './columns.ts'
import { pickId } from './field-probe.ts'
import { endpointPath } from './list-probe.ts'

const STATS_PATHS = [`${API_PREFIX}/pipelines/{id}/stats`, '/pipelines/{id}/stats', '/stats'] as const
const AGENT_PATHS = [`${API_PREFIX}/agents/status`, '/agents'] as const

/** Compared in lower case and without characters such as `_`. */
const STAT_NAMES: Readonly<Record<string, readonly string[]>> = {
  name: ['name', 'pipelinename'],
  leads: ['leads', 'totalleads', 'total', 'count', 'leadcount'],
  open: ['open', 'openleads', 'active'],
  won: ['won', 'wonleads', 'converted'],
  lost: ['lost', 'lostleads'],
  disqualified: ['disqualified', 'rejected'],
  win_rate: ['winrate', 'conversionrate', 'conversion'],
}
/** Usual names of the fields of agents. They are compared in the same way. */
const AGENT_NAMES: Readonly<Partial<Record<(typeof AGENT_FIELDS)[number], readonly string[]>>> = {
  name: ['name', 'displayname', 'title'],
  kind: ['kind', 'type', 'role'],
  status: ['status', 'state'],
  last_seen_at: ['lastseenat', 'lastseen', 'heartbeat', 'updatedat'],
  task_type: ['currenttask.type', 'task', 'currenttask'],
}

/** The endpoints other than the list of leads, and the fields of their answers. */
export interface OtherEndpoints {
  readonly endpoints: Readonly<Partial<Record<EndpointName, string>>>
  readonly envelope: { lead?: string; agents?: string }
  readonly stat: Readonly<Record<string, string>>
  readonly agent: Readonly<Record<string, string>>
  readonly findings: readonly Finding[]
  readonly gaps: readonly Gap[]
}

export const NO_OTHER_ENDPOINTS = {
  endpoints: { lead: 'none', pipelines: 'none', stats: 'none', webhooks: 'none', agents: 'none' },
  envelope: {},
  stat: {},
  agent: {},
  findings: [],
  gaps: [],
} as const satisfies OtherEndpoints

/**
 * Finds the other endpoints.
 * @param ids the ids of the leads; an answer with one of these ids is the lead list again, so it is ignored
 * @param pipelineId the id of a pipeline; null if no lead names one
 */
export async function findOtherEndpoints(
  asker: Asker,
  base: URL,
  list: List,
  ids: readonly string[],
  pipelineId: string | null,
): Promise<OtherEndpoints> {
  const lead = await findLead(asker, base, list, ids)
  const isList = ({ body }: Reply): boolean => holdsAny(body, list.id, new Set(ids))
  const found = await findStats(asker, base, pipelineId, isList)
  const stats = found !== null && 'path' in found ? found : null
  const unread = found !== null && 'problem' in found ? found : null
  const agents = await findAgents(asker, base, isList)
  return {
    endpoints: {
      ...NO_OTHER_ENDPOINTS.endpoints,
      lead: lead?.path ?? 'none',
      stats: stats?.path ?? 'none',
      agents: agents?.path ?? 'none',
    },
    envelope: {
      ...(lead && { lead: pathText(lead.envelope) }),
      ...(agents && { agents: pathText(agents.envelope) }),
    },
    stat: stats?.mapping ?? {},
    agent: agents?.mapping ?? {},
    findings: [
      lead?.finding ?? notFound('endpoints.lead', 'no answer with that record below the list'),
      stats?.finding ?? notFound('endpoints.stats', unread?.problem ?? 'no statistics at the usual paths'),
      agents?.finding ?? notFound('endpoints.agents', 'no list of agents at the usual paths'),
    ],
    gaps: unread === null ? [] : [unread],
  }
}

/** Fetches two leads by their ids. The second answer proves that the answer depends on the id. */
export async function findLead(asker: Asker, base: URL, found: List, [id, other]: readonly string[]) {
  if (id === undefined) return null
  const list = found.body === undefined ? found : besideSearch(found)
  // The upstream may refuse the list's query parameters for a single lead, so the path is also tried without
  // them.
  for (const query of new Set([list.url.search, ''])) {
    const url = leadUrl(list, id, query)
    const reply = await asker.get(url)
    const envelope = isFine(reply) ? envelopeOf(reply.body, list.id, id) : null
    if (envelope === null) continue
    const second = other === undefined ? null : await asker.get(leadUrl(list, other, query))
    const isOwn = second === null || toText(readPath(readPath(second.body, envelope), list.id)) === other
    if (!isOwn) return null
    const path = leadPath(base, list, query)
    const evidence = evidenceOf(reply, 'the record itself')
    return { path, envelope, finding: finding('endpoints.lead', path, 'proved', evidence) }
  }
  return null
}

/** A single lead is below the address of a list, but beside that of a search: `/leads/7` and `/leads/search`. */
function besideSearch(list: List): List {
  const url = new URL(list.url)
  url.pathname = url.pathname.replace(/\/[^/]+\/*$/, '')
  return { ...list, url }
}

function leadUrl({ url }: List, id: string, query: string): URL {
  const lead = new URL(url)
  const slash = url.pathname.endsWith('/') ? '/' : ''
  lead.pathname = `${withoutEndSlash(url.pathname)}/${encodeURIComponent(id)}${slash}`
  lead.search = query
  return lead
}

/** A whole URL if the query of `api.url` must not be sent, because that query is added to every path. */
function leadPath(base: URL, { url }: List, query: string): string {
  const slash = url.pathname.endsWith('/') ? '/' : ''
  const bareUrl = url.origin + withoutEndSlash(url.pathname)
  if (query !== url.search && base.search !== '') return `${bareUrl}/{id}${slash}`
  const listPath = endpointPath(base, url)
  const [bare = '', own] = (listPath === '.' ? '' : listPath).split('?')
  const rest = own === undefined || query !== url.search ? '' : `?${own}`
  return `${withoutEndSlash(bare)}/{id}${slash}${rest}`
}

/** Returns whether an answer contains a lead with one of these ids. */
function holdsAny(body: unknown, id: FieldPath, ids: ReadonlySet<string>): boolean {
  const found = findRecords(body)
  return found?.records.some((record) => ids.has(toText(readPath(record, id)) ?? '')) ?? false
}

/** Returns the path of the record with this id in the answer for a single lead; null if there is none. */
function envelopeOf(body: unknown, idPath: FieldPath, id: string): FieldPath | null {
  const places: FieldPath[] = [[]]
  if (typeof body === 'object' && body !== null) places.push(...Object.keys(body).map((name) => [name]))
  return places.find((place) => toText(readPath(readPath(body, place), idPath)) === id) ?? null
}

async function findStats(
  asker: Asker,
  base: URL,
  pipelineId: string | null,
  isList: (reply: Reply) => boolean,
) {
  let unread: Gap | null = null
  for (const path of STATS_PATHS) {
    if (path.includes('{id}') && pipelineId === null) continue
    const reply = await asker.get(
      endpointUrl(base.href, withEndpoint('stats', path), 'stats', pipelineId ?? ''),
    )
    if (!isFine(reply) || isList(reply)) continue
    unread ??= gap(
      'endpoints.stats',
      `${evidenceOf(reply)}, but its numbers were not recognised, so that they are not read`,
    )
    if (Array.isArray(reply.body)) continue
    const fields = [...fieldsOf(reply.body)]
    const mapping = mappingOf(
      fields.map((field) => field.path),
      STAT_NAMES,
      (name, at) => name === 'name' || toNumber(readPath(reply.body, at)) !== null,
    )
    if (Object.keys(mapping).filter((name) => name !== 'name').length < 2) continue
    const evidence = evidenceOf(reply, `numbers for ${Object.keys(mapping).join(', ')}`)
    return { path, mapping, finding: finding('endpoints.stats', path, 'likely', evidence) }
  }
  return unread
}

async function findAgents(asker: Asker, base: URL, isList: (reply: Reply) => boolean) {
  for (const path of AGENT_PATHS) {
    const reply = await asker.get(endpointUrl(base.href, withEndpoint('agents', path), 'agents'))
    const found = isFine(reply) && !isList(reply) ? findRecords(reply.body) : null
    const id = found === null ? null : pickId(found.records)
    if (found === null || id === null) continue
    const columns = columnsOf(found.records).map((column) => column.path)
    const mapping = { id: pathText(id), ...mappingOf(columns, AGENT_NAMES, () => true) }
    const evidence = evidenceOf(reply, `${found.records.length} records`)
    return {
      path,
      mapping,
      envelope: found.path,
      finding: finding('endpoints.agents', path, 'likely', evidence),
    }
  }
  return null
}

function mappingOf(
  paths: readonly FieldPath[],
  names: Readonly<Record<string, readonly string[]>>,
  fits: (name: string, path: FieldPath) => boolean,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([field, known]) => {
      const path = paths.find((each) => {
        const plain = each.map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, ''))
        return (
          (known.includes(plain.at(-1) ?? '') && each.length <= 2) ||
          known.includes(plain.slice(-2).join('.'))
        )
      })
      return path !== undefined && fits(field, path) ? [[field, pathText(path)]] : []
    }),
  )
}

function withEndpoint(name: EndpointName, path: string): Pick<Profile, 'endpoints'> {
  return { endpoints: { leads: 'none', ...NO_OTHER_ENDPOINTS.endpoints, [name]: path } }
}

function isFine({ status, body }: Reply): boolean {
  return status >= 200 && status < 300 && typeof body === 'object' && body !== null
}

function notFound(place: string, evidence: string): Finding {
  return finding(place, 'none', 'likely', evidence)
}
