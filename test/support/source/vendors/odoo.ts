/**
 * Odoo 19, from the pages "External JSON-2 API" and "Search domains" of its developer documentation: a method of a model
 * is a POST whose answer is what the method returns. An empty field is `false`, and a link is `[id, name]`.
 */
import { byCreation, type Dialect, KEY, type Kept, refused, spaced } from './vendor.ts'

const hasCompany = ({ number }: Kept): boolean => number % 2 === 1
const hasContact = ({ number }: Kept): boolean => number % 5 !== 0

function leadOf(kept: Kept, fields: readonly string[]) {
  const all: Readonly<Record<string, unknown>> = {
    name: kept.company,
    partner_name: hasCompany(kept) && kept.company,
    contact_name: hasContact(kept) && kept.contact,
    stage_id: [2, 'Qualified'],
    won_status: kept.status,
    active: kept.status !== 'lost',
    team_id: [Number(kept.pipeline), kept.pipeline],
    user_id: [7, kept.owner],
    expected_revenue: kept.value,
    company_currency: [1, 'EUR'],
    probability: 12.5,
    create_date: spaced(kept.created),
    write_date: spaced(kept.updated),
  }
  return { id: kept.number, ...Object.fromEntries(fields.map((name) => [name, all[name] ?? false])) }
}

export const ODOO: Dialect = {
  profile: 'odoo-leads',
  headers: { Authorization: `Bearer ${KEY}` },
  statuses: ['pending', 'won', 'lost'],
  copied: (kept) => ({
    id: String(kept.number),
    status: kept.status === 'pending' ? 'open' : kept.status,
    contact_name: hasContact(kept) ? kept.contact : null,
  }),
  answer: ({ method, path, body }, kept) => {
    if (method !== 'POST' || path !== '/json/2/crm.lead/search_read') return null
    const { domain = [], fields, offset = 0, limit, order, ...rest } = body
    if (Object.keys(rest).length > 0 || order !== 'id') return refused(`unexpected ${Object.keys(rest)}`, 422)
    // Without a word about `active`, Odoo leaves archived records out.
    const [[first, operator] = [], [changed, least, since = ''] = []] = domain
    const isWhole = first === 'active' && operator === 'in'
    if (changed !== undefined && (changed !== 'write_date' || least !== '>=' || since.length !== 19))
      return refused('domain', 422)
    const found = kept
      .filter(({ status, updated }) => (isWhole || status !== 'lost') && spaced(updated) >= since)
      .sort(byCreation)
    return { body: found.slice(offset, offset + limit).map((lead) => leadOf(lead, fields)) }
  },
}
