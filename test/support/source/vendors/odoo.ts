/**
 * Odoo 19, from the pages "External JSON-2 API" and "Search domains" of its developer documentation: a method of a model
 * is a POST whose answer is what the method returns. An empty field is `false`, and a link is `[id, name]`.
 */
import { BEARER, type Dialect, type Kept, spaced } from './vendor.ts'

const hasCompany = ({ number }: Kept): boolean => number % 2 === 1
const hasContact = ({ number }: Kept): boolean => number % 5 !== 0

export const ODOO: Dialect = {
  profile: 'odoo-leads',
  headers: BEARER,
  statuses: ['pending', 'won', 'lost'],
  copied: (kept) => ({
    id: String(kept.number),
    status: kept.status === 'pending' ? 'open' : kept.status,
    contact_name: hasContact(kept) ? kept.contact : null,
  }),
  method: 'POST',
  path: '/json/2/crm.lead/search_read',
  knows: 'domain fields offset limit order',
  size: ['limit', 0, Number.POSITIVE_INFINITY],
  offset: 'offset',
  isWrong: ({ domain: [, since], order }) =>
    order !== 'id' || (since && (`${since.slice(0, 2)}` !== 'write_date,>=' || since[2].length !== 19)),
  // Without a word about `active`, Odoo leaves archived records out.
  has: ({ status, updated }, { domain: [active, since] }) =>
    (`${active}`.startsWith('active,in,') || status !== 'lost') && spaced(updated) >= (since?.[2] ?? ''),
  record: (kept, { fields }) => {
    const all: Readonly<Record<string, unknown>> = {
      name: kept.company,
      partner_name: hasCompany(kept) && kept.company,
      contact_name: hasContact(kept) && kept.contact,
      won_status: kept.status,
      team_id: [Number(kept.pipeline), kept.pipeline],
      user_id: [7, kept.owner],
      expected_revenue: kept.value,
      create_date: spaced(kept.created),
      write_date: spaced(kept.updated),
    }
    const chosen = fields.map((name: string) => [name, all[name] ?? false])
    return { id: kept.number, ...Object.fromEntries(chosen) }
  },
  page: ({ items: body }) => ({ body }),
}
