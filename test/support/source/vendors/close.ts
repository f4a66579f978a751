/**
 * Close, from the pages "Leads" and "Pagination" of its API documentation: `_limit`, `_skip` and `_fields` are all that
 * the list takes. `query` is no longer in it.
 */
import { byCreation, type Dialect, KEY, type Kept, refused } from './vendor.ts'

const leadOf = (kept: Kept) => ({
  id: `lead_${kept.id}`,
  display_name: kept.company,
  name: kept.company,
  status_id: 'stat_1',
  status_label: kept.status,
  url: null,
  addresses: [],
  contacts: [
    { id: 'cont_1', name: kept.contact, title: null, emails: [{ type: 'office', email: 'ada@example.com' }] },
  ],
  opportunities: [{ id: 'oppo_1', value: kept.value, value_currency: 'USD', user_name: kept.owner }],
  date_created: kept.created.replace('.000Z', '.000000+00:00'),
  date_updated: kept.updated.replace('.000Z', '.000000+00:00'),
})

export const CLOSE: Dialect = {
  profile: 'close-leads',
  base: '/api/v1',
  headers: { Authorization: `Basic ${Buffer.from(`${KEY}:`).toString('base64')}` },
  statuses: ['Potential', 'Qualified', 'Customer', 'Not Interested'],
  copied: ({ id }) => ({ id: `lead_${id}`, pipeline_id: 'default' }),
  answer: ({ path, query }, kept) => {
    const found = kept.find(({ id }) => path === `/lead/lead_${id}/`)
    if (found !== undefined) return { body: leadOf(found) }
    if (path !== '/lead/') return null
    const unknown = [...query.keys()].find((name) => !/^_(limit|skip|fields)$/.test(name))
    const [limit, skip] = [Number(query.get('_limit') ?? 100), Number(query.get('_skip') ?? 0)]
    if (unknown !== undefined || limit > 200) return refused(`unknown parameter or size ${unknown}`)
    const data = [...kept]
      .sort(byCreation)
      .slice(skip, skip + limit)
      .map(leadOf)
    return { body: { data, has_more: skip + limit < kept.length, total_results: kept.length } }
  },
}
