/**
 * Directus, from the pages "Items" and "Query parameters" of its API reference: `limit`, `offset`, `meta=filter_count`
 * and a filter in JSON. `date_updated` is null until the first change.
 */
import { byCreation, type Dialect, KEY, type Kept, refused } from './vendor.ts'

const isChanged = (kept: Kept): boolean => kept.updated !== kept.created

const itemOf = (kept: Kept) => ({
  id: kept.number,
  status: kept.status,
  company: kept.company,
  name: kept.contact,
  email: 'ada@example.com',
  value: kept.value,
  currency: 'EUR',
  owner: kept.owner,
  score: null,
  date_created: kept.created,
  date_updated: isChanged(kept) ? kept.updated : null,
})

export const DIRECTUS: Dialect = {
  profile: 'directus-items',
  headers: { Authorization: `Bearer ${KEY}` },
  statuses: ['draft', 'published', 'archived'],
  copied: ({ number }) => ({ id: String(number), pipeline_id: 'default' }),
  answer: ({ path, query }, kept) => {
    const one = kept.find(({ number }) => path === `/items/leads/${number}`)
    if (one !== undefined) return { body: { data: itemOf(one) } }
    if (path !== '/items/leads') return null
    const [limit, offset] = [Number(query.get('limit') ?? 100), Number(query.get('offset') ?? 0)]
    const filter = JSON.parse(query.get('filter') ?? '{"_or":[]}')
    const sinceOf = (name: string): string =>
      filter._or.map((part: Record<string, { _gte: string }>) => part[name]?._gte).find(Boolean) ?? ''
    const [updated, created] = [sinceOf('date_updated'), sinceOf('date_created')]
    if (query.get('sort') !== 'date_created,id') return refused('INVALID_QUERY')
    const found = kept
      .filter((item) => item.created >= created || (isChanged(item) && item.updated >= updated))
      .sort(byCreation)
    const meta = query.get('meta') === 'filter_count' ? { meta: { filter_count: found.length } } : {}
    return { body: { data: found.slice(offset, offset + limit).map(itemOf), ...meta } }
  },
}
