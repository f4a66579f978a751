/** The common shapes of list APIs beside those of vendors, with which every client must cope. */
import {
  changedIn,
  factsOf,
  inHeader,
  inQuery,
  iso,
  pageIn,
  partIn,
  type Shape,
  unauthorized,
} from './foreign.ts'

const JSON_API = { 'content-type': 'application/vnd.api+json' }

export const SHAPES: Readonly<Record<string, Shape>> = {
  'page and per_page with Link, Token': {
    path: '/api/contacts',
    lets: inHeader('authorization', 'Token {key}'),
    refusal: unauthorized({ detail: 'Credentials were not provided.' }, { 'www-authenticate': 'Token' }),
    list: (all, url) => {
      const matching = changedIn(all, url, 'updated_since', 'updated_at')
      const { page, items, isLast } = pageIn(matching, url, 'page', ['per_page', 30, 100])
      const next = new URL(url)
      next.searchParams.set('page', String(page + 1))
      const link = `<${next.pathname}${next.search}>; rel="next"`
      return { body: items, headers: isLast ? {} : { link } }
    },
  },
  'limit and offset with meta.total, bare key': {
    path: '/v1/leads',
    lets: inHeader('authorization', '{key}'),
    record: (number) => {
      const { company, domain, score, updated, created, status } = factsOf(number)
      const times = { dateCreated: iso(created), dateModified: iso(updated) }
      const organization = { name: company, domain }
      return { uuid: `l-${number}`, organization, lead_score: score, status, ...times }
    },
    idOf: (record) => String(record.uuid),
    // This service returns at most 100 records and does not say so.
    list: (all, url) => {
      const { start: offset, size: limit, items: leads } = partIn(all, url, 'offset', ['limit', 25, 100])
      return { body: { result: { leads }, meta: { total: all.length, limit, offset } } }
    },
  },
  'Range and Content-Range, Bearer': {
    path: '/rest/prospects',
    lets: inHeader('authorization', 'Bearer {key}'),
    refusal: unauthorized('', { 'www-authenticate': 'Bearer' }),
    list: (all, _url, request) => {
      const [, from = '0', to = '24'] = /^items=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const last = Math.min(Number(to), Number(from) + 99, all.length - 1)
      const headers = { 'content-range': `items */${all.length}` }
      if (Number(from) >= all.length)
        return { status: 416, body: { error: 'range not satisfiable' }, headers }
      return {
        status: 206,
        headers: { 'content-range': `items ${from}-${last}/${all.length}`, 'accept-ranges': 'items' },
        body: all.slice(Number(from), last + 1),
      }
    },
  },
  'JSON:API with page[number] and page[size], query parameter': {
    path: '/api/v2/prospects',
    lets: inQuery('api_key'),
    refusal: unauthorized({ errors: [{ status: '401', title: 'Unauthorized' }] }, JSON_API),
    record: (number) => {
      const { first, company, updated, created, status } = factsOf(number)
      const times = { createdAt: iso(created), updatedAt: iso(updated) }
      const attributes = { firstName: first, companyName: company, stage: status, ...times }
      return { type: 'prospect', id: String(number + 1), attributes }
    },
    list: (all, url) => {
      const since = url.searchParams.get('filter[updatedAt][gte]') ?? ''
      const matching = all.filter(
        ({ attributes }) => String(Reflect.get(Object(attributes), 'updatedAt')) >= since,
      )
      const { page, size, items, isLast } = pageIn(matching, url, 'page[number]', ['page[size]', 50, 100])
      const next = `${url.pathname}?page[number]=${page + 1}&page[size]=${size}${since && `&filter[updatedAt][gte]=${since}`}`
      const links = isLast ? { self: url.pathname } : { self: url.pathname, next }
      return { headers: JSON_API, body: { data: items, links, meta: { count: matching.length } } }
    },
  },
}
