/**
 * Pipedrive, from the pages "Deals" (v1 and v2), "Leads" and "Pagination" of its API reference, and its changelog of
 * July 2025: archived records are not in these lists. Deleted ones are only there with `status=deleted`.
 */
import {
  type Answer,
  type Asked,
  byCreation,
  byUpdate,
  type Dialect,
  inSeconds,
  KEY,
  type Kept,
  refused,
  spaced,
} from './vendor.ts'

const COMMON = { headers: { 'x-api-token': KEY }, statuses: ['open', 'won', 'lost'] }
const success = (data: unknown, additional_data: unknown): Answer => ({
  body: { success: true, data, additional_data },
})

/** A list of version 1, which has `start` and `limit`. */
function listV1({ query }: Asked, kept: readonly Kept[], recordOf: (kept: Kept) => object): Answer {
  const [start, limit] = [Number(query.get('start') ?? 0), Number(query.get('limit') ?? 100)]
  if (limit > 500) return refused('limit must be at most 500')
  if (query.get('sort') !== 'add_time ASC') return refused('unknown sort')
  const found = [...kept].sort(byCreation)
  const more = start + limit < found.length
  // An empty list is null.
  const data = found.slice(start, start + limit).map(recordOf)
  const place = {
    start,
    limit,
    more_items_in_collection: more,
    ...(more ? { next_start: start + limit } : {}),
  }
  return success(data.length === 0 ? null : data, { pagination: place })
}

function single({ path }: Asked, below: string, kept: readonly Kept[], recordOf: (kept: Kept) => object) {
  const found = kept.find(({ id }) => path === `${below}/${id}`)
  return found === undefined ? null : { body: { success: true, data: recordOf(found) } }
}

const dealOfV1 = (kept: Kept) => ({
  id: kept.number,
  user_id: { id: 7, name: kept.owner, email: 'grace@example.com', value: 7 },
  person_id: { name: kept.contact, email: [{ value: 'ada@example.com', primary: true }], value: 11 },
  org_id: { name: kept.company, people_count: 1, value: 12 },
  stage_id: 3,
  title: `${kept.company} deal`,
  value: kept.value,
  currency: 'EUR',
  add_time: spaced(kept.created),
  update_time: spaced(kept.updated),
  status: kept.status,
  pipeline_id: Number(kept.pipeline),
  probability: null,
  close_time: kept.status === 'open' ? null : spaced(kept.updated),
  expected_close_date: '2027-01-31',
  person_name: kept.contact,
  org_name: kept.company,
  owner_name: kept.owner,
  active: kept.status === 'open',
  deleted: false,
})

export const PIPEDRIVE_DEALS_V1: Dialect = {
  ...COMMON,
  profile: 'pipedrive-deals-v1',
  copied: ({ number }) => ({ id: String(number) }),
  answer: (asked, kept) => {
    if (asked.path !== '/v1/deals') return single(asked, '/v1/deals', kept, dealOfV1)
    return asked.query.get('status') === 'all_not_deleted' ? listV1(asked, kept, dealOfV1) : refused('status')
  },
}

const dealOf = (kept: Kept) => ({
  id: kept.number,
  title: kept.company,
  owner_id: kept.owner === 'Mary Lee' ? 8 : 7,
  person_id: 11,
  org_id: 12,
  pipeline_id: Number(kept.pipeline),
  stage_id: 3,
  value: kept.value,
  currency: 'EUR',
  add_time: inSeconds(kept.created),
  update_time: inSeconds(kept.updated),
  status: kept.status,
  probability: null,
  lost_reason: null,
  is_deleted: false,
  is_archived: false,
  close_time: kept.status === 'open' ? null : inSeconds(kept.updated),
  expected_close_date: null,
  label_ids: [1, 2],
  custom_fields: {},
})

export const PIPEDRIVE_DEALS: Dialect = {
  ...COMMON,
  profile: 'pipedrive-deals',
  base: '/api/v2',
  copied: ({ number, owner }) => ({
    id: String(number),
    contact_name: null,
    owner: owner === 'Mary Lee' ? '8' : '7',
  }),
  answer: (asked, kept) => {
    if (asked.path !== '/deals') return single(asked, '/deals', kept, dealOf)
    const { query } = asked
    const known = ['limit', 'cursor', 'updated_since', 'sort_by', 'sort_direction']
    const unknown = [...query.keys()].find((name) => !known.includes(name))
    const since = query.get('updated_since') ?? '2000-01-01T00:00:00Z'
    if (unknown !== undefined || !/^[\d-]{10}T[\d:]{8}Z$/.test(since))
      return refused('parameter validation failed')
    const limit = Number(query.get('limit') ?? 100)
    if (limit > 500) return refused('limit must be at most 500')
    const order = query.get('sort_by') === 'update_time' ? byUpdate : byCreation
    const found = kept.filter(({ updated }) => inSeconds(updated) >= since).sort(order)
    const from = Number(Buffer.from(query.get('cursor') ?? '', 'base64').toString() || 0)
    const next = from + limit < found.length ? Buffer.from(String(from + limit)).toString('base64') : null
    return success(found.slice(from, from + limit).map(dealOf), { next_cursor: next })
  },
}

const leadOf = (kept: Kept) => ({
  id: kept.id,
  title: kept.company,
  owner_id: kept.owner === 'Mary Lee' ? 8 : 7,
  label_ids: ['f08b42a0'],
  value: { amount: kept.value, currency: 'EUR' },
  expected_close_date: null,
  person_id: 11,
  organization_id: 12,
  is_archived: false,
  source_name: 'API',
  add_time: kept.created,
  update_time: kept.updated,
})

export const PIPEDRIVE_LEADS: Dialect = {
  ...COMMON,
  profile: 'pipedrive-leads',
  statuses: ['open'],
  copied: ({ owner }) => ({
    contact_name: null,
    owner: owner === 'Mary Lee' ? '8' : '7',
    pipeline_id: 'default',
  }),
  answer: (asked, kept) =>
    asked.path === '/v1/leads' ? listV1(asked, kept, leadOf) : single(asked, '/v1/leads', kept, leadOf),
}
