/**
 * Zendesk Sell, from the pages "Deals" and "Pagination" of its API reference (v2): each record is in `data`, the next
 * page is an address, and a value is a number, or a text if it has decimals.
 */
import { byCreation, type Dialect, inSeconds, KEY, type Kept, refused } from './vendor.ts'

const itemOf = (kept: Kept) => ({
  data: {
    id: kept.number,
    creator_id: 1,
    owner_id: kept.owner === 'Mary Lee' ? 8 : 7,
    name: kept.company,
    value: Number.isInteger(kept.value) ? kept.value : kept.value.toFixed(2),
    currency: 'USD',
    hot: false,
    stage_id: Number(kept.status),
    contact_id: 11,
    organization_id: 12,
    loss_reason_id: null,
    estimated_close_date: null,
    last_stage_change_at: inSeconds(kept.created),
    tags: ['a'],
    custom_fields: {},
    created_at: inSeconds(kept.created),
    updated_at: inSeconds(kept.updated),
  },
  meta: { version: 1, type: 'deal' },
})

export const ZENDESK_SELL: Dialect = {
  profile: 'zendesk-sell-deals',
  headers: { Authorization: `Bearer ${KEY}` },
  statuses: ['1', '2', '3'],
  copied: ({ number, owner }) => ({
    id: String(number),
    contact_name: null,
    owner: owner === 'Mary Lee' ? '8' : '7',
    pipeline_id: 'default',
  }),
  answer: ({ path, query, origin }, kept) => {
    const one = kept.find(({ number }) => path === `/v2/deals/${number}`)
    if (one !== undefined) return { body: itemOf(one) }
    if (path !== '/v2/deals') return null
    const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 25)]
    if (size > 100 || query.get('sort_by') !== 'created_at') return refused('invalid parameter')
    const items = [...kept]
      .sort(byCreation)
      .slice((page - 1) * size, page * size)
      .map(itemOf)
    const next = `${origin}/v2/deals?page=${page + 1}&per_page=${size}&sort_by=created_at`
    const links = {
      self: `${origin}/v2/deals?page=${page}`,
      ...(page * size < kept.length ? { next_page: next } : {}),
    }
    return { body: { items, meta: { type: 'collection', count: items.length, links } } }
  },
}
