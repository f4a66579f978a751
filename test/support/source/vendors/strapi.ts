/**
 * Strapi 5, from the pages "REST API", "Pagination" and "Filters" of its documentation: entries are flat, `documentId`
 * names one, `pagination[pageSize]` is at most 100, and `id` changes at each publication.
 */
import { BEARER, type Dialect } from './vendor.ts'

export const STRAPI: Dialect = {
  profile: 'strapi-entries',
  base: '/api',
  headers: BEARER,
  statuses: ['new', 'contacted', 'won'],
  copied: () => ({ pipeline_id: 'default' }),
  path: '/leads',
  size: ['pagination[pageSize]', 25, 100],
  pages: 'pagination[page]',
  isWrong: ({ sort }) => sort !== 'createdAt:asc',
  has: ({ updated }, { 'filters[updatedAt][$gte]': since = '' }) => updated >= since,
  record: (kept) => ({
    id: Date.parse(kept.updated) + kept.number,
    documentId: kept.id,
    company: kept.company,
    name: kept.contact,
    stage: kept.status,
    value: kept.value,
    owner: kept.owner,
    createdAt: kept.created,
    updatedAt: kept.updated,
  }),
  page: ({ items: data, size: pageSize, from, total }) => {
    const pagination = { page: 1 + from / pageSize, pageSize, pageCount: Math.ceil(total / pageSize), total }
    return { body: { data, meta: { pagination } } }
  },
  wrap: (data) => ({ data, meta: {} }),
}
