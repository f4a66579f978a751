/**
 * Copper, from the pages "List Leads (Search)" and "Leads" of its developer API: three headers, a POST whose answer is
 * the list itself, times in epoch seconds, and no records past the first 100,000.
 */
import { KEY } from '../foreign.ts'
import { byCreation, byUpdate, type Dialect, epochSeconds, ownerNo, SECRET } from './vendor.ts'

export const COPPER: Dialect = {
  profile: 'copper-leads',
  base: '/developer_api/v1',
  headers: { 'X-PW-AccessToken': KEY, 'X-PW-Application': 'developer_api', 'X-PW-UserEmail': SECRET },
  statuses: ['New', 'Contacted', 'Qualified', 'Unqualified'],
  copied: (kept) => ({ id: String(kept.number), owner: String(ownerNo(kept)), pipeline_id: 'default' }),
  method: 'POST',
  path: '/leads/search',
  knows: 'page_number page_size sort_by sort_direction minimum_modified_date',
  size: ['page_size', 20, 200],
  pages: 'page_number',
  isWrong: ({ page_number = 1, minimum_modified_date = 0, sort_direction = 'asc' }) =>
    [page_number, minimum_modified_date].some((value) => typeof value !== 'number') ||
    sort_direction !== 'asc',
  has: ({ updated }, { minimum_modified_date = 0 }) => epochSeconds(updated) >= minimum_modified_date,
  order: ({ sort_by }) => (sort_by === 'date_modified' ? byUpdate : byCreation),
  record: (kept) => ({
    id: kept.number,
    name: kept.contact,
    company_name: kept.company,
    assignee_id: ownerNo(kept),
    monetary_value: kept.value,
    status: kept.status,
    status_id: 208231,
    date_created: epochSeconds(kept.created),
    date_modified: epochSeconds(kept.updated),
  }),
  page: ({ items: body }) => ({ body }),
  single: ({ number }) => `/leads/${number}`,
}
