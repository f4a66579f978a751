/**
 * Freshsales, from the part "Deals" of its API reference ("List all deals"): the deals of a view by page, amounts as
 * texts, and ids of the stage, the owner and the account.
 */
import { byCreation, type Dialect, KEY, type Kept, refused } from './vendor.ts'

const dealOf = (kept: Kept) => ({
  id: kept.number,
  name: kept.company,
  amount: kept.value.toFixed(2),
  base_currency_amount: kept.value.toFixed(2),
  expected_close: '2027-01-31',
  closed_date: null,
  stage_updated_time: kept.created,
  probability: 50,
  deal_stage_id: Number(kept.status),
  deal_pipeline_id: Number(kept.pipeline),
  owner_id: kept.owner === 'Mary Lee' ? 8 : 7,
  sales_account_id: 12,
  currency_id: 1,
  created_at: kept.created.replace('.000Z', '+00:00'),
  updated_at: kept.updated.replace('.000Z', '+00:00'),
  is_deleted: false,
})

export const FRESHSALES: Dialect = {
  profile: 'freshsales-deals',
  base: '/crm/sales/api',
  headers: { Authorization: `Token token=${KEY}` },
  statuses: ['301', '302', '303'],
  copied: ({ number, owner }) => ({
    id: String(number),
    contact_name: null,
    owner: owner === 'Mary Lee' ? '8' : '7',
  }),
  answer: ({ path, query }, kept) => {
    const one = kept.find(({ number }) => path === `/deals/${number}`)
    if (one !== undefined) return { body: { deal: dealOf(one) } }
    if (path !== '/deals/view/1') return null
    const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 25)]
    if (size > 100 || query.get('sort') !== 'created_at') return refused('invalid parameter')
    const deals = [...kept]
      .sort(byCreation)
      .slice((page - 1) * size, page * size)
      .map(dealOf)
    return { body: { deals, meta: { total_pages: Math.ceil(kept.length / size), total: kept.length } } }
  },
}
