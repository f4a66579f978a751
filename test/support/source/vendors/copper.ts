/**
 * Copper, from the pages "List Leads (Search)" and "Leads" of its developer API: three headers, a POST whose answer is
 * the list itself, times in epoch seconds, and no records past the first 100,000.
 */
import {
  byCreation,
  byUpdate,
  type Dialect,
  epochSeconds,
  KEY,
  type Kept,
  refused,
  SECRET,
} from './vendor.ts'

const leadOf = (kept: Kept) => ({
  id: kept.number,
  name: kept.contact,
  company_name: kept.company,
  title: null,
  address: { street: null, city: null, country: 'DE' },
  assignee_id: kept.owner === 'Mary Lee' ? 8 : 7,
  customer_source_id: null,
  email: { email: 'ada@example.com', category: 'work' },
  monetary_unit: 'USD',
  monetary_value: kept.value,
  status: kept.status,
  status_id: 208231,
  tags: ['a', 'b'],
  websites: [],
  custom_fields: [{ custom_field_definition_id: 1, value: null }],
  date_created: epochSeconds(kept.created),
  date_modified: epochSeconds(kept.updated),
})

export const COPPER: Dialect = {
  profile: 'copper-leads',
  base: '/developer_api/v1',
  headers: { 'X-PW-AccessToken': KEY, 'X-PW-Application': 'developer_api', 'X-PW-UserEmail': SECRET },
  statuses: ['New', 'Contacted', 'Qualified', 'Unqualified'],
  copied: ({ number, owner }) => ({
    id: String(number),
    owner: owner === 'Mary Lee' ? '8' : '7',
    pipeline_id: 'default',
  }),
  answer: ({ method, path, body }, kept) => {
    const one = kept.find(({ number }) => path === `/leads/${number}`)
    if (method === 'GET') return one === undefined ? null : { body: leadOf(one) }
    if (path !== '/leads/search') return null
    const {
      page_number = 1,
      page_size = 20,
      sort_by,
      sort_direction,
      minimum_modified_date = 0,
      ...rest
    } = body
    const numbers = [page_number, page_size, minimum_modified_date]
    if (numbers.some((value) => typeof value !== 'number') || page_size > 200 || sort_direction !== 'asc')
      return refused('Invalid input')
    if (Object.keys(rest).length > 0) return refused(`Invalid input: ${Object.keys(rest)}`)
    const found = kept
      .filter(({ updated }) => epochSeconds(updated) >= minimum_modified_date)
      .sort(sort_by === 'date_modified' ? byUpdate : byCreation)
    return { body: found.slice((page_number - 1) * page_size, page_number * page_size).map(leadOf) }
  },
}
