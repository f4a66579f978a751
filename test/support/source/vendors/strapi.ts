/**
 * Strapi 5, from the pages "REST API", "Pagination" and "Filters" of its documentation: entries are flat, `documentId`
 * names one, `pagination[pageSize]` is at most 100, and `id` changes at each publication.
 */
import { byCreation, type Dialect, KEY, type Kept, refused } from './vendor.ts'

const entryOf = (kept: Kept) => ({
  id: Date.parse(kept.updated) % 100_000,
  documentId: kept.id,
  company: kept.company,
  name: kept.contact,
  email: 'ada@example.com',
  stage: kept.status,
  value: kept.value,
  currency: 'EUR',
  owner: kept.owner,
  createdAt: kept.created,
  updatedAt: kept.updated,
  publishedAt: kept.updated,
})

export const STRAPI: Dialect = {
  profile: 'strapi-entries',
  base: '/api',
  headers: { Authorization: `Bearer ${KEY}` },
  statuses: ['new', 'contacted', 'won'],
  copied: () => ({ pipeline_id: 'default' }),
  answer: ({ path, query }, kept) => {
    const one = kept.find(({ id }) => path === `/leads/${id}`)
    if (one !== undefined) return { body: { data: entryOf(one), meta: {} } }
    if (path !== '/leads') return null
    const page = Number(query.get('pagination[page]') ?? 1)
    const pageSize = Math.min(100, Number(query.get('pagination[pageSize]') ?? 25))
    if (query.get('sort') !== 'createdAt:asc') return refused('Invalid key')
    const since = query.get('filters[updatedAt][$gte]') ?? ''
    const found = kept.filter(({ updated }) => updated >= since).sort(byCreation)
    const pagination = { page, pageSize, pageCount: Math.ceil(found.length / pageSize), total: found.length }
    return {
      body: { data: found.slice((page - 1) * pageSize, page * pageSize).map(entryOf), meta: { pagination } },
    }
  },
}
