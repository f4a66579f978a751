/**
 * Freshsales, from the part "Deals" of its API reference ("List all deals"): the deals of a view by page, amounts as
 * texts, and ids of the stage, the owner and the account.
 */
import { KEY } from '../foreign.ts'
import { type Dialect, ownerNo } from './vendor.ts'

export const FRESHSALES: Dialect = {
  profile: 'freshsales-deals',
  base: '/crm/sales/api',
  headers: { Authorization: `Token token=${KEY}` },
  statuses: ['301', '302', '303'],
  copied: (kept) => ({ id: String(kept.number), contact_name: null, owner: String(ownerNo(kept)) }),
  path: '/deals/view/1',
  size: ['per_page', 25, 100],
  pages: 'page',
  isWrong: ({ sort }) => sort !== 'created_at',
  record: (kept) => ({
    id: kept.number,
    name: kept.company,
    amount: kept.value.toFixed(2),
    deal_stage_id: Number(kept.status),
    deal_pipeline_id: Number(kept.pipeline),
    owner_id: ownerNo(kept),
    created_at: kept.created.replace('.000Z', '+00:00'),
    updated_at: kept.updated.replace('.000Z', '+00:00'),
  }),
  page: ({ items: deals, size, total }) => ({
    body: { deals, meta: { total_pages: Math.ceil(total / size), total } },
  }),
  single: ({ number }) => `/deals/${number}`,
  wrap: (deal) => ({ deal }),
}
