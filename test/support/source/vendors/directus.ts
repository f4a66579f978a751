/**
 * Directus, from the pages "Items" and "Query parameters" of its API reference: `limit`, `offset`, `meta=filter_count`
 * and a filter in JSON. `date_updated` is null until the first change.
 */
import { BEARER, type Dialect, type Kept } from './vendor.ts'

const updateOf = ({ created, updated }: Kept): string | null => (updated === created ? null : updated)

export const DIRECTUS: Dialect = {
  profile: 'directus-items',
  headers: BEARER,
  statuses: ['draft', 'published', 'archived'],
  copied: ({ number }) => ({ id: String(number), pipeline_id: 'default' }),
  path: '/items/leads',
  size: ['limit', 100, Number.POSITIVE_INFINITY],
  offset: 'offset',
  isWrong: ({ sort }) => sort !== 'date_created,id',
  has: (kept, { filter = '{"_or":[{}]}' }) => {
    const parts: { date_created?: { _gte: string }; date_updated?: { _gte: string } }[] =
      JSON.parse(filter)._or
    return parts.some(({ date_created: created, date_updated: updated }) =>
      updated ? (updateOf(kept) ?? '') >= updated._gte : kept.created >= (created?._gte ?? ''),
    )
  },
  record: (kept) => ({
    id: kept.number,
    status: kept.status,
    company: kept.company,
    name: kept.contact,
    value: kept.value,
    owner: kept.owner,
    date_created: kept.created,
    date_updated: updateOf(kept),
  }),
  page: ({ items: data, total, params }) => ({
    body: { data, ...(params.meta === 'filter_count' && { meta: { filter_count: total } }) },
  }),
  single: ({ number }) => `/items/leads/${number}`,
  wrap: (data) => ({ data }),
}
