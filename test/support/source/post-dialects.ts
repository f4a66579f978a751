/**
 * Searches by POST in the dialects of vendors, written from their public references: HubSpot (CRM search v3), Attio
 * (records/query), Apollo (contacts/search), Copper (leads/search), Notion (data_sources/query), and a connection of
 * GraphQL. Each refuses a body that its reference does not have.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ProfileInput } from '../../../src/upstream/profile/profile.ts'
import { readPath, splitPath } from '../../../src/upstream/values/json.ts'

/** A lead as the vendor keeps it. Its times are instants. */
export interface VendorLead {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly created: string
  readonly updated: string
}

type Json = Readonly<Record<string, unknown>>

interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface Dialect {
  readonly path: string
  readonly profile: ProfileInput
  /** @param cap the number of records after which the vendor ends a search */
  readonly search: (all: readonly VendorLead[], body: Json, cap: number) => Answer
  /** Tells whether the key is looked at before the method, so that a GET without it is refused with 401. */
  readonly asksForKeyFirst?: boolean
}

const NONE = { lead: 'none', pipelines: 'none', stats: 'none', webhooks: 'none', agents: 'none' } as const

const refused = (message: string): Answer => ({ status: 400, body: { status: 'error', message } })

/** Refuses a body with names that the reference does not have. */
function knowing(names: string, answer: Dialect['search']): Dialect['search'] {
  return (all, body, cap) => {
    const unknown = Object.keys(body).find((name) => !names.split(' ').includes(name))
    return unknown === undefined ? answer(all, body, cap) : refused(`unknown field ${unknown}`)
  }
}

const byUpdate = (one: VendorLead, other: VendorLead): number =>
  one.updated < other.updated || (one.updated === other.updated && one.id < other.id) ? -1 : 1
const byId = (one: VendorLead, other: VendorLead): number => (one.id < other.id ? -1 : 1)

const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), value)

export const HUBSPOT: Dialect = {
  path: '/crm/v3/objects/contacts/search',
  asksForKeyFirst: true,
  profile: {
    name: 'hubspot-search',
    endpoints: { ...NONE, leads: '/crm/v3/objects/contacts/search' },
    request: {
      method: 'POST',
      body: {
        properties: ['company', 'lifecyclestage'],
        sorts: [{ propertyName: 'lastmodifieddate', direction: 'ASCENDING' }],
      },
    },
    paging: {
      kind: 'cursor',
      param: 'after',
      next: 'paging.next.after',
      size_param: 'limit',
      size_max: 200,
      total: 'total',
    },
    envelope: { leads: 'results' },
    filters: {
      updated_since: {
        param: 'filterGroups',
        format: 'epoch_ms',
        value: [{ filters: [{ propertyName: 'lastmodifieddate', operator: 'GTE', value: '{value}' }] }],
      },
    },
    mapping: {
      lead: {
        id: 'id',
        company_name: 'properties.company',
        status: 'properties.lifecyclestage',
        created_at: 'createdAt',
        updated_at: 'updatedAt',
      },
    },
  },
  // The cursor is an offset, so that records move past it.
  search: knowing('filterGroups sorts query properties limit after', (all, body, cap) => {
    const limit = Number(body.limit ?? 10)
    const from = Number(body.after ?? 0)
    if (limit > 200) return refused('limit must be at most 200')
    if (from + limit > cap) return refused(`paging beyond ${cap} results`)
    const filter = at(body, 'filterGroups', 0, 'filters', 0)
    if (filter !== undefined && at(filter, 'propertyName') !== 'lastmodifieddate')
      return refused('no such property')
    const since = Number(at(filter, 'value') ?? 0)
    const isByUpdate = at(body, 'sorts', 0, 'propertyName') === 'lastmodifieddate'
    const found = all.filter(({ updated }) => Date.parse(updated) >= since).sort(isByUpdate ? byUpdate : byId)
    const results = found.slice(from, from + limit).map(({ id, name, status, created, updated }) => ({
      id,
      properties: { company: name, lifecyclestage: status, createdate: created, lastmodifieddate: updated },
      createdAt: created,
      updatedAt: updated,
      archived: false,
    }))
    const next = from + limit
    const paging = next < found.length ? { paging: { next: { after: String(next) } } } : {}
    return { body: { total: found.length, results, ...paging } }
  }),
}

export const ATTIO: Dialect = {
  path: '/v2/objects/deals/records/query',
  profile: {
    name: 'attio',
    endpoints: { ...NONE, leads: '/v2/objects/deals/records/query' },
    request: { method: 'POST', body: { sorts: [{ attribute: 'created_at', direction: 'asc' }] } },
    paging: { kind: 'offset', param: 'offset', size_param: 'limit', size_max: 500 },
    envelope: { leads: 'data' },
    filters: { created_since: { param: 'filter', value: { created_at: { $gte: '{value}' } } } },
    mapping: {
      lead: {
        id: 'id.record_id',
        company_name: 'values.name.0.value',
        status: 'values.stage.0.status.title',
        created_at: 'created_at',
      },
    },
  },
  search: knowing('filter sorts limit offset', (all, body) => {
    const [limit, offset] = [Number(body.limit ?? 500), Number(body.offset ?? 0)]
    if (typeof (body.limit ?? 0) !== 'number' || limit > 500)
      return refused('limit: expected a number up to 500')
    const since = String(at(body, 'filter', 'created_at', '$gte') ?? '')
    const found = all.filter(({ created }) => created >= since).sort(byId)
    const data = found.slice(offset, offset + limit).map(({ id, name, status, created }) => ({
      id: { workspace_id: 'w1', object_id: 'deals', record_id: id },
      created_at: created.replace('Z', '000000Z'),
      values: { name: [{ value: name }], stage: [{ status: { title: status } }] },
    }))
    return { body: { data } }
  }),
}

export const APOLLO: Dialect = {
  path: '/api/v1/contacts/search',
  profile: {
    name: 'apollo',
    endpoints: { ...NONE, leads: '/api/v1/contacts/search' },
    request: { method: 'POST', body: { sort_by_field: 'contact_created_at', sort_ascending: true } },
    paging: {
      kind: 'page',
      param: 'page',
      size_param: 'per_page',
      size_max: 100,
      pages: 'pagination.total_pages',
      total: 'pagination.total_entries',
    },
    envelope: { leads: 'contacts' },
    mapping: {
      lead: {
        id: 'id',
        company_name: 'organization_name',
        status: 'contact_stage_id',
        created_at: 'created_at',
        updated_at: 'updated_at',
      },
    },
  },
  search: (all, body, cap) => {
    const [page, size] = [Number(body.page ?? 1), Number(body.per_page ?? 25)]
    if (size > 100 || page * size > cap) return { status: 422, body: { error: 'page is out of range' } }
    const contacts = [...all]
      .sort(byId)
      .slice((page - 1) * size, page * size)
      .map(({ id, name, status, created, updated }) => ({
        id,
        organization_name: name,
        contact_stage_id: status,
        created_at: created,
        updated_at: updated,
      }))
    const total = { total_entries: all.length, total_pages: Math.ceil(all.length / size) }
    return { body: { contacts, pagination: { page, per_page: size, ...total } } }
  },
}

export const COPPER: Dialect = {
  path: '/developer_api/v1/leads/search',
  profile: {
    name: 'copper',
    endpoints: { ...NONE, leads: '/developer_api/v1/leads/search' },
    request: { method: 'POST', body: { sort_by: 'date_modified', sort_direction: 'asc' } },
    paging: { kind: 'page', param: 'page_number', size_param: 'page_size', size_max: 200 },
    filters: { updated_since: { param: 'minimum_modified_date', format: 'epoch_s' } },
    mapping: {
      lead: {
        id: 'id',
        company_name: 'company_name',
        status: 'status',
        created_at: 'date_created',
        updated_at: 'date_modified',
      },
    },
  },
  search: (all, body, cap) => {
    const [page, size] = [Number(body.page_number ?? 1), Number(body.page_size ?? 20)]
    const since = body.minimum_modified_date ?? 0
    if (typeof since !== 'number' || size > 200) return refused('Invalid input')
    const found = all
      .filter(({ updated }) => Math.floor(Date.parse(updated) / 1000) >= since)
      .sort(body.sort_by === 'date_modified' ? byUpdate : byId)
      .slice(0, cap)
    const rows = found.slice((page - 1) * size, page * size).map((lead) => ({
      id: Number(lead.id.slice(1)),
      company_name: lead.name,
      status: lead.status,
      date_created: Math.floor(Date.parse(lead.created) / 1000),
      date_modified: Math.floor(Date.parse(lead.updated) / 1000),
    }))
    return { body: rows }
  },
}

export const NOTION: Dialect = {
  path: '/v1/data_sources/d1/query',
  profile: {
    name: 'notion',
    endpoints: { ...NONE, leads: '/v1/data_sources/d1/query' },
    request: {
      method: 'POST',
      body: { sorts: [{ timestamp: 'last_edited_time', direction: 'ascending' }] },
    },
    paging: {
      kind: 'cursor',
      param: 'start_cursor',
      next: 'next_cursor',
      has_more: 'has_more',
      size_param: 'page_size',
      size_max: 100,
    },
    envelope: { leads: 'results' },
    filters: {
      updated_since: {
        param: 'filter',
        value: { timestamp: 'last_edited_time', last_edited_time: { on_or_after: '{value}' } },
      },
    },
    mapping: {
      lead: {
        id: 'id',
        company_name: 'properties.Name.title.0.plain_text',
        status: 'properties.Status.status.name',
        created_at: 'created_time',
        updated_at: 'last_edited_time',
      },
    },
  },
  // A search of more records than the cap ends there, and says so on each page.
  search: knowing('filter sorts start_cursor page_size', (all, body, cap) => {
    const minute = (instant: string): string => `${instant.slice(0, 16)}:00.000Z`
    const since = String(at(body, 'filter', 'last_edited_time', 'on_or_after') ?? '')
    const isByUpdate = at(body, 'sorts', 0, 'timestamp') === 'last_edited_time'
    const all_ = all.filter(({ updated }) => minute(updated) >= since).sort(isByUpdate ? byUpdate : byId)
    const found = all_.slice(0, cap)
    const from = Number(String(body.start_cursor ?? 'c0').slice(1))
    const size = Number(body.page_size ?? 100)
    if (size > 100) return refused('page_size must be at most 100')
    const results = found.slice(from, from + size).map(({ id, name, status, created, updated }) => ({
      object: 'page',
      id,
      created_time: minute(created),
      last_edited_time: minute(updated),
      properties: { Name: { title: [{ plain_text: name }] }, Status: { status: { name: status } } },
    }))
    const has_more = from + size < found.length
    const isCut = all_.length > cap
    const why = { type: 'incomplete', incomplete_reason: 'query_result_limit_reached' }
    return {
      body: {
        object: 'list',
        results,
        has_more,
        next_cursor: has_more ? `c${from + size}` : null,
        ...(isCut ? { request_status: why } : {}),
      },
    }
  }),
}

export const GRAPHQL: Dialect = {
  path: '/graphql',
  profile: {
    name: 'graphql',
    endpoints: { ...NONE, leads: '/graphql' },
    request: {
      method: 'POST',
      body: {
        query:
          'query($first: Int, $after: String, $since: String) { leads(first: $first, after: $after, since: $since) { nodes { id name status createdAt updatedAt } pageInfo { hasNextPage endCursor } totalCount } }',
        variables: {},
      },
    },
    paging: {
      kind: 'cursor',
      param: 'variables.after',
      next: 'data.leads.pageInfo.endCursor',
      has_more: 'data.leads.pageInfo.hasNextPage',
      size_param: 'variables.first',
      size_max: 50,
      total: 'data.leads.totalCount',
    },
    envelope: { leads: 'data.leads.nodes' },
    filters: { updated_since: { param: 'variables.since' } },
    mapping: {
      lead: {
        id: 'id',
        company_name: 'name',
        status: 'status',
        created_at: 'createdAt',
        updated_at: 'updatedAt',
      },
    },
  },
  search: (all, { query, variables }) => {
    if (typeof query !== 'string' || !query.includes('leads('))
      return { status: 400, body: { errors: [{ message: 'Must provide query string.' }] } }
    const first = at(variables, 'first')
    if (typeof first !== 'number' || first > 50)
      return { body: { errors: [{ message: 'first: expected Int up to 50' }] } }
    const [after, since] = [String(at(variables, 'after') ?? ''), String(at(variables, 'since') ?? '')]
    const found = all.filter(({ updated }) => updated >= since).sort(byId)
    const behind = found.filter(({ id }) => id > after)
    const nodes = behind.slice(0, first)
    const pageInfo = { hasNextPage: behind.length > first, endCursor: nodes.at(-1)?.id ?? null }
    return {
      body: {
        data: {
          leads: {
            nodes: nodes.map(({ created: createdAt, updated: updatedAt, ...lead }) => ({
              ...lead,
              createdAt,
              updatedAt,
            })),
            pageInfo,
            totalCount: found.length,
          },
        },
      },
    }
  },
}

export const DIALECTS = {
  HubSpot: HUBSPOT,
  Attio: ATTIO,
  Apollo: APOLLO,
  Copper: COPPER,
  Notion: NOTION,
  GraphQL: GRAPHQL,
}

export interface Vendor extends AsyncDisposable {
  readonly url: string
  readonly leads: Map<string, VendorLead>
  /** The bodies of the searches so far, in order. */
  readonly bodies: Json[]
  /** Answers in the place of the vendor, or changes leads before it answers. Null leaves the answer to the vendor. */
  before: (body: Json, request: number) => Answer | null
}

/** Starts a vendor whose list answers POST alone, with a key. A GET beside the list answers a single lead. */
export async function startVendor(dialect: Dialect, count: number, cap = 10_000): Promise<Vendor> {
  const { path, search, profile } = dialect
  const recordsAt = String(profile.envelope?.leads ?? '')
  const leads = new Map<string, VendorLead>()
  for (let number = 0; number < count; number++) {
    const lead = vendorLead(number)
    leads.set(lead.id, lead)
  }
  const vendor: Pick<Vendor, 'leads' | 'bodies' | 'before'> = { leads, bodies: [], before: () => null }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const reply = ({ status = 200, headers = {}, body }: Answer): void => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers })
        response.end(typeof body === 'string' ? body : JSON.stringify(body))
      }
      const lead = request.method === 'GET' ? leads.get(request.url?.split('/').at(-1) ?? '') : undefined
      if (lead !== undefined && request.url === path.replace(/[^/]+$/, lead.id)) {
        return reply({ body: readPath(search([lead], {}, cap).body, [...splitPath(recordsAt), '0']) })
      }
      if (request.url !== path) return reply({ status: 404, body: { message: 'not found' } })
      const isAllowed = request.headers.authorization === `Bearer ${VENDOR_KEY}`
      const isPost = request.method === 'POST'
      if (!isAllowed && (isPost || dialect.asksForKeyFirst))
        return reply({ status: 401, body: { message: 'Authentication required' } })
      if (!isPost) return reply({ status: 405, headers: { allow: 'POST' }, body: '' })
      const body: Json = JSON.parse(Buffer.concat(chunks).toString())
      vendor.bodies.push(body)
      return reply(vendor.before(body, vendor.bodies.length) ?? search([...leads.values()], body, cap))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(vendor, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

export const VENDOR_KEY = 'k3y-of-the-vendor'
const START = Date.parse('2026-10-01T00:00:00Z')
const STATUSES = ['new', 'contacted', 'qualified', 'won', 'lost']

/** Returns a lead whose values follow from its number. The order of changes differs from that of the ids. */
export function vendorLead(
  number: number,
  updatedMs = START + ((number * 7919) % 40_000) * 61_007,
): VendorLead {
  return {
    id: `l${String(100_000 + number)}`,
    name: `Company ${number}`,
    status: STATUSES[number % STATUSES.length] ?? 'new',
    created: new Date(START - 86_400_000 + number * 1000).toISOString(),
    updated: new Date(updatedMs).toISOString(),
  }
}
