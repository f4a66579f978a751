/**
 * Zoho CRM, from the page "Get Records" of its API reference (v8): `fields` is needed, `per_page` is at most 200, page
 * numbers end at 2,000 records, and If-Modified-Since without a change answers 304. An empty list answers 204.
 */
import { byCreation, type Dialect, KEY, type Kept, refused } from './vendor.ts'

/** Zoho writes times in the zone of the account. */
function zoned(instant: string): string {
  const local = new Date(Date.parse(instant) + 2 * 3_600_000)
  return `${local.toISOString().slice(0, 19)}+02:00`
}

function leadOf(kept: Kept, fields: readonly string[]) {
  const all: Readonly<Record<string, unknown>> = {
    Company: kept.company,
    Full_Name: kept.contact,
    Lead_Status: kept.status,
    Owner: { name: kept.owner, id: '5843104000000424162', email: 'grace@example.com' },
    Tag: [],
    Created_Time: zoned(kept.created),
    Modified_Time: zoned(kept.updated),
  }
  return { ...Object.fromEntries(fields.map((name) => [name, all[name] ?? null])), id: kept.id }
}

export const ZOHO: Dialect = {
  profile: 'zoho-leads',
  base: '/crm/v8',
  headers: { Authorization: `Zoho-oauthtoken ${KEY}` },
  statuses: ['Not Contacted', 'Contacted', 'Lost Lead'],
  copied: () => ({ value_amount: null, pipeline_id: 'default' }),
  answer: ({ path, query, headers }, kept) => {
    const fields = (query.get('fields') ?? '').split(',')
    const [, one] = /^\/Leads\/(\d+)$/.exec(path) ?? []
    const names = ['Company', 'Full_Name', 'Lead_Status', 'Owner', 'Created_Time', 'Modified_Time']
    if (one !== undefined) {
      const found = kept.filter(({ id }) => id === one)
      return found.length === 0
        ? { status: 204 }
        : { body: { data: found.map((lead) => leadOf(lead, names)) } }
    }
    if (path !== '/Leads') return null
    if (fields[0] === '' || fields.length > 50) return refused('REQUIRED_PARAM_MISSING')
    const size = Number(query.get('per_page') ?? 200)
    if (size > 200 || !['id', 'Created_Time', 'Modified_Time'].includes(query.get('sort_by') ?? 'id'))
      return refused('INVALID_DATA')
    const since = headers['if-modified-since']
    if (since !== undefined && !/^[\d-]{10}T[\d:]{8}(Z|[+-]\d\d:\d\d)$/.test(since))
      return refused('INVALID_DATA')
    const from = Number((query.get('page_token') ?? 'token-0').slice(6))
    const found = kept
      .filter(({ updated }) => since === undefined || Date.parse(updated) >= Date.parse(since))
      .sort(byCreation)
    if (found.length === 0) return { status: since === undefined ? 204 : 304 }
    const more_records = from + size < found.length
    const info = {
      per_page: size,
      count: found.slice(from, from + size).length,
      more_records,
      next_page_token: more_records ? `token-${from + size}` : null,
      sort_by: query.get('sort_by'),
    }
    return { body: { data: found.slice(from, from + size).map((lead) => leadOf(lead, fields)), info } }
  },
}
