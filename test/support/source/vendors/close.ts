/**
 * Close, from the pages "Leads" and "Pagination" of its API documentation: `_limit`, `_skip` and `_fields` are all that
 * the list takes. `query` is no longer in it.
 */
import { KEY } from '../foreign.ts'
import type { Dialect } from './vendor.ts'

export const CLOSE: Dialect = {
  profile: 'close-leads',
  base: '/api/v1',
  headers: { Authorization: `Basic ${Buffer.from(`${KEY}:`).toString('base64')}` },
  statuses: ['Potential', 'Qualified', 'Customer', 'Not Interested'],
  copied: ({ id }) => ({ id: `lead_${id}`, pipeline_id: 'default' }),
  path: '/lead/',
  knows: '_limit _skip _fields',
  size: ['_limit', 100, 200],
  offset: '_skip',
  record: (kept) => ({
    id: `lead_${kept.id}`,
    display_name: kept.company,
    name: kept.company,
    status_label: kept.status,
    contacts: [{ name: kept.contact }],
    opportunities: [{ value: kept.value, user_name: kept.owner }],
    date_created: kept.created.replace('.000Z', '.000000+00:00'),
    date_updated: kept.updated.replace('.000Z', '.000000+00:00'),
  }),
  page: ({ items: data, next, total }) => ({ body: { data, has_more: next !== null, total_results: total } }),
  single: ({ id }) => `/lead/lead_${id}/`,
}
