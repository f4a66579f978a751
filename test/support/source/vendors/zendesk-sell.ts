/**
 * Zendesk Sell, from the pages "Deals" and "Pagination" of its API reference (v2): each record is in `data`, the next
 * page is an address, and a value is a number, or a text if it has decimals.
 */
import { BEARER, type Dialect, inSeconds, linkTo, ownerNo } from './vendor.ts'

export const ZENDESK_SELL: Dialect = {
  profile: 'zendesk-sell-deals',
  headers: BEARER,
  statuses: ['1', '2', '3'],
  copied: (kept) => ({
    id: String(kept.number),
    contact_name: null,
    owner: String(ownerNo(kept)),
    pipeline_id: 'default',
  }),
  path: '/v2/deals',
  size: ['per_page', 25, 100],
  pages: 'page',
  isWrong: ({ sort_by }) => sort_by !== 'created_at',
  record: (kept) => ({
    data: {
      id: kept.number,
      owner_id: ownerNo(kept),
      name: kept.company,
      value: Number.isInteger(kept.value) ? kept.value : kept.value.toFixed(2),
      stage_id: Number(kept.status),
      created_at: inSeconds(kept.created),
      updated_at: inSeconds(kept.updated),
    },
    meta: { version: 1, type: 'deal' },
  }),
  page: ({ items, next, size, from }, asked) => {
    const self = linkTo(asked, 'page', 1 + from / size)
    const links = next === null ? { self } : { self, next_page: linkTo(asked, 'page', 1 + next / size) }
    return { body: { items, meta: { type: 'collection', count: items.length, links } } }
  },
  single: ({ number }) => `/v2/deals/${number}`,
}
