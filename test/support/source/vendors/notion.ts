/**
 * Notion, from the page "Query a data source" of its API reference, for which no profile ships. Its times are of whole
 * minutes. A search of more records than it shows ends there, and says so on each page.
 */
import { BEARER, byCreation, byUpdate, type Dialect, NO_ENDPOINTS } from './vendor.ts'

const TIME = 'last_edited_time'
const toMinute = (instant: string): string => `${instant.slice(0, 16)}:00.000Z`

export const NOTION: Dialect = {
  profile: {
    name: 'notion',
    endpoints: { ...NO_ENDPOINTS, leads: '/v1/data_sources/d1/query' },
    request: { method: 'POST', body: { sorts: [{ timestamp: TIME, direction: 'ascending' }] } },
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
      updated_since: { param: 'filter', value: { timestamp: TIME, [TIME]: { on_or_after: '{value}' } } },
    },
    mapping: {
      lead: {
        id: 'id',
        company_name: 'properties.Name.title.0.plain_text',
        status: 'properties.Status.status.name',
        created_at: 'created_time',
        updated_at: TIME,
      },
    },
  },
  headers: BEARER,
  statuses: ['new', 'contacted', 'qualified', 'won', 'lost'],
  copied: ({ created, updated }) => ({
    contact_name: null,
    value_amount: null,
    owner: null,
    pipeline_id: 'default',
    created_at: toMinute(created),
    updated_at: toMinute(updated),
  }),
  method: 'POST',
  path: '/v1/data_sources/d1/query',
  knows: 'filter sorts start_cursor page_size',
  size: ['page_size', 100, 100],
  offset: 'start_cursor',
  has: ({ updated }, { filter }) => toMinute(updated) >= (filter?.[TIME].on_or_after ?? ''),
  order: ({ sorts }) => (sorts?.[0]?.timestamp === TIME ? byUpdate : byCreation),
  record: ({ id, company, status, created, updated }) => ({
    object: 'page',
    id,
    created_time: toMinute(created),
    last_edited_time: toMinute(updated),
    properties: { Name: { title: [{ plain_text: company }] }, Status: { status: { name: status } } },
  }),
  page: ({ items: results, next, isCut }) => {
    const place = { has_more: next !== null, next_cursor: next === null ? null : `c${next}` }
    const why = { type: 'incomplete', incomplete_reason: 'query_result_limit_reached' }
    return { body: { object: 'list', results, ...place, ...(isCut ? { request_status: why } : {}) } }
  },
}
