/**
 * Zoho CRM, from the page "Get Records" of its API reference (v8): `fields` is needed, `per_page` is at most 200, page
 * numbers end at 2,000 records, and If-Modified-Since without a change answers 304. An empty list answers 204.
 */
import { KEY } from '../foreign.ts'
import type { Dialect } from './vendor.ts'

/** Zoho writes times in the zone of the account. */
function zoned(instant: string): string {
  const local = new Date(Date.parse(instant) + 2 * 3_600_000)
  return `${local.toISOString().slice(0, 19)}+02:00`
}

export const ZOHO: Dialect = {
  profile: 'zoho-leads',
  base: '/crm/v8',
  headers: { Authorization: `Zoho-oauthtoken ${KEY}` },
  statuses: ['Not Contacted', 'Contacted', 'Lost Lead'],
  copied: () => ({ value_amount: null, pipeline_id: 'default' }),
  path: '/Leads',
  size: ['per_page', 200, 200],
  offset: 'page_token',
  isWrong: ({ fields = '', sort_by = 'id' }, { headers: { 'if-modified-since': since } }) =>
    fields === '' ||
    fields.split(',').length > 50 ||
    !['id', 'Created_Time', 'Modified_Time'].includes(sort_by) ||
    (since !== undefined && !/^[\d-]{10}T[\d:]{8}(Z|[+-]\d\d:\d\d)$/.test(since)),
  has: ({ updated }, _, { headers }) =>
    Date.parse(updated) >= Date.parse(headers['if-modified-since'] ?? '2000-01-01'),
  record: (kept, { fields }) => {
    const all = {
      Company: kept.company,
      Full_Name: kept.contact,
      Lead_Status: kept.status,
      Owner: { name: kept.owner, id: '5843104000000424162', email: 'grace@example.com' },
      Tag: [],
      Created_Time: zoned(kept.created),
      Modified_Time: zoned(kept.updated),
    }
    if (fields === undefined) return { ...all, id: kept.id }
    const chosen = fields.split(',').map((name: string) => [name, Reflect.get(all, name) ?? null])
    return { ...Object.fromEntries(chosen), id: kept.id }
  },
  page: ({ items: data, size: per_page, next, total, params: { sort_by } }, { headers }) => {
    if (total === 0) return { status: headers['if-modified-since'] === undefined ? 204 : 304 }
    const next_page_token = next === null ? null : `token-${next}`
    const info = { per_page, count: data.length, more_records: next !== null, next_page_token, sort_by }
    return { body: { data, info } }
  },
  wrap: (record) => ({ data: [record] }),
}
