/**
 * Pipedrive, from the pages "Deals" (v1 and v2), "Leads" and "Pagination" of its API reference, and its changelog of
 * July 2025: archived records are not in these lists. Deleted ones are only there with `status=deleted`.
 */
import { KEY } from '../foreign.ts'
import { byCreation, byUpdate, type Dialect, inSeconds, ownerNo, spaced } from './vendor.ts'

const COMMON = {
  headers: { 'x-api-token': KEY },
  statuses: ['open', 'won', 'lost'],
  wrap: (data) => ({ success: true, data }),
} satisfies Partial<Dialect>

/** A list of version 1, where an empty list is null. */
const V1 = {
  ...COMMON,
  size: ['limit', 100, 500],
  offset: 'start',
  isWrong: ({ sort }) => sort !== 'add_time ASC',
  page: ({ items, from: start, size: limit, next }) => {
    const place = { start, limit, more_items_in_collection: next !== null }
    const pagination = next === null ? place : { ...place, next_start: next }
    return {
      body: { success: true, data: items.length === 0 ? null : items, additional_data: { pagination } },
    }
  },
} satisfies Partial<Dialect>

export const PIPEDRIVE_DEALS_V1: Dialect = {
  ...V1,
  profile: 'pipedrive-deals-v1',
  copied: ({ number }) => ({ id: String(number) }),
  path: '/v1/deals',
  isWrong: ({ sort, status }) => V1.isWrong({ sort }) || status !== 'all_not_deleted',
  record: (kept) => ({
    id: kept.number,
    title: `${kept.company} deal`,
    value: kept.value,
    add_time: spaced(kept.created),
    update_time: spaced(kept.updated),
    status: kept.status,
    pipeline_id: Number(kept.pipeline),
    person_name: kept.contact,
    org_name: kept.company,
    owner_name: kept.owner,
  }),
  single: ({ number }) => `/v1/deals/${number}`,
}

export const PIPEDRIVE_DEALS: Dialect = {
  ...COMMON,
  profile: 'pipedrive-deals',
  base: '/api/v2',
  copied: (kept) => ({ id: String(kept.number), contact_name: null, owner: String(ownerNo(kept)) }),
  path: '/deals',
  knows: 'limit cursor updated_since sort_by sort_direction',
  size: ['limit', 100, 500],
  offset: 'cursor',
  isWrong: ({ updated_since: since }) => since && !/^[\d-]{10}T[\d:]{8}Z$/.test(since),
  has: ({ updated }, { updated_since = '' }) => inSeconds(updated) >= updated_since,
  order: ({ sort_by }) => (sort_by === 'update_time' ? byUpdate : byCreation),
  record: (kept) => ({
    id: kept.number,
    title: kept.company,
    owner_id: ownerNo(kept),
    pipeline_id: Number(kept.pipeline),
    value: kept.value,
    add_time: inSeconds(kept.created),
    update_time: inSeconds(kept.updated),
    status: kept.status,
  }),
  page: ({ items: data, next }) => {
    const next_cursor = next === null ? null : `cursor-${next}`
    return { body: { success: true, data, additional_data: { next_cursor } } }
  },
  single: ({ number }) => `/deals/${number}`,
}

export const PIPEDRIVE_LEADS: Dialect = {
  ...V1,
  profile: 'pipedrive-leads',
  statuses: ['open'],
  copied: (kept) => ({ contact_name: null, owner: String(ownerNo(kept)), pipeline_id: 'default' }),
  path: '/v1/leads',
  record: (kept) => ({
    id: kept.id,
    title: kept.company,
    owner_id: ownerNo(kept),
    value: { amount: kept.value, currency: 'EUR' },
    is_archived: false,
    add_time: kept.created,
    update_time: kept.updated,
  }),
}
