/** The eight common shapes of list APIs, with which every client must cope. */
import { factsOf, idOf, inHeader, inQuery, iso, numberIn, plainRecord, type Shape } from './foreign.ts'

export const SHAPES: Readonly<Record<string, Shape>> = {
  'page and per_page with Link, Token': {
    path: '/api/contacts',
    lets: inHeader('authorization', 'Token {key}'),
    refusal: {
      status: 401,
      headers: { 'www-authenticate': 'Token' },
      body: { detail: 'Authentication credentials were not provided.' },
    },
    record: plainRecord,
    idOf,
    list: (all, url) => {
      const since = url.searchParams.get('updated_since') ?? ''
      const matching = all.filter((record) => String(record.updated_at) >= since)
      const size = numberIn(url, 'per_page', 30, 100)
      const page = numberIn(url, 'page', 1)
      const isLast = page * size >= matching.length
      const next = new URL(url)
      next.searchParams.set('page', String(page + 1))
      const link = `<${next.pathname}${next.search}>; rel="next"`
      return { body: matching.slice((page - 1) * size, page * size), headers: isLast ? {} : { link } }
    },
  },
  'limit and offset with meta.total, bare key': {
    path: '/v1/leads',
    lets: inHeader('authorization', '{key}'),
    record: (number) => {
      const { company, domain, score, updated, created, status } = factsOf(number)
      return {
        uuid: `l-${number}`,
        organization: { name: company, domain },
        lead_score: score,
        status,
        dateCreated: iso(created),
        dateModified: iso(updated),
      }
    },
    idOf: (record) => String(record.uuid),
    // This service returns at most 100 records and does not say so.
    list: (all, url) => {
      const limit = numberIn(url, 'limit', 25, 100)
      const offset = numberIn(url, 'offset', 0)
      return {
        body: {
          result: { leads: all.slice(offset, offset + limit) },
          meta: { total: all.length, limit, offset },
        },
      }
    },
  },
  'starting_after with has_more, Basic': {
    path: '/v1/customers',
    lets: inHeader('authorization', 'Basic {basic}'),
    refusal: {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="api"' },
      body: { error: { type: 'invalid_request_error', message: 'You did not provide an API key.' } },
    },
    record: plainRecord,
    idOf,
    knows: ['limit', 'starting_after', 'ending_before'],
    list: (all, url) => {
      const limit = numberIn(url, 'limit', 10)
      if (limit > 100)
        return { status: 400, body: { error: { message: 'limit must be 100 or less', param: 'limit' } } }
      const after = url.searchParams.get('starting_after')
      const start = after === null ? 0 : all.findIndex((record) => record.id === after) + 1
      return {
        body: {
          object: 'list',
          url: '/v1/customers',
          has_more: start + limit < all.length,
          data: all.slice(start, start + limit),
        },
      }
    },
  },
  'next as an absolute URL, X-Api-Key': {
    path: '/leads',
    lets: inHeader('x-api-key'),
    refusal: { status: 403, body: { message: 'Forbidden' } },
    record: plainRecord,
    idOf,
    list: (all, url, request) => {
      const size = numberIn(url, 'page_size', 20, 50)
      const page = numberIn(url, 'page', 1)
      const next = `http://${request.headers.host}${url.pathname}?page=${page + 1}&page_size=${size}`
      return {
        body: {
          count: all.length,
          next: page * size < all.length ? next : null,
          previous: null,
          results: all.slice((page - 1) * size, page * size),
        },
      }
    },
  },
  'cursor in paging.next.after, Bearer': {
    path: '/crm/v3/objects/contacts',
    lets: inHeader('authorization', 'Bearer {key}'),
    record: (number) => {
      const { first, email, company, updated, created, status } = factsOf(number)
      const properties = { firstname: first, email, company, lifecyclestage: status }
      return { id: String(5000 + number), properties, createdAt: iso(created), updatedAt: iso(updated) }
    },
    idOf: (record) => String(record.id),
    list: (all, url) => {
      const limit = numberIn(url, 'limit', 10)
      if (limit > 100)
        return {
          status: 400,
          body: { status: 'error', message: 'limit may not exceed 100', category: 'VALIDATION_ERROR' },
        }
      const start = Number(url.searchParams.get('after') ?? 0)
      const end = start + limit
      const paging =
        end < all.length ? { paging: { next: { after: String(end), link: `?after=${end}` } } } : {}
      return { body: { results: all.slice(start, end), ...paging } }
    },
  },
  'Range and Content-Range, Bearer': {
    path: '/rest/prospects',
    lets: inHeader('authorization', 'Bearer {key}'),
    refusal: { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: '' },
    record: plainRecord,
    idOf,
    list: (all, _url, request) => {
      const [, from = '0', to = '24'] = /^items=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const last = Math.min(Number(to), Number(from) + 99, all.length - 1)
      if (Number(from) >= all.length)
        return {
          status: 416,
          body: { error: 'range not satisfiable' },
          headers: { 'content-range': `items */${all.length}` },
        }
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
    refusal: {
      status: 401,
      headers: { 'content-type': 'application/vnd.api+json' },
      body: { errors: [{ status: '401', title: 'Unauthorized' }] },
    },
    record: (number) => {
      const { first, company, updated, created, status } = factsOf(number)
      const times = { createdAt: iso(created), updatedAt: iso(updated) }
      const attributes = { firstName: first, companyName: company, stage: status, ...times }
      return { type: 'prospect', id: String(number + 1), attributes }
    },
    idOf: (record) => String(record.id),
    list: (all, url) => {
      const since = url.searchParams.get('filter[updatedAt][gte]') ?? ''
      const matching = all.filter(
        ({ attributes }) => String(Reflect.get(Object(attributes), 'updatedAt')) >= since,
      )
      const size = numberIn(url, 'page[size]', 50, 100)
      const page = numberIn(url, 'page[number]', 1)
      const next = `${url.pathname}?page[number]=${page + 1}&page[size]=${size}${since && `&filter[updatedAt][gte]=${since}`}`
      const links = page * size < matching.length ? { self: url.pathname, next } : { self: url.pathname }
      return {
        headers: { 'content-type': 'application/vnd.api+json' },
        body: {
          data: matching.slice((page - 1) * size, page * size),
          links,
          meta: { count: matching.length },
        },
      }
    },
  },
  'a bare array with X-Total-Count, ?access_token=': {
    path: '/people',
    lets: inQuery('access_token'),
    record: (number) => {
      const { created, updated } = factsOf(number)
      return { _id: `p${number}`, createdAt: created.getTime(), updatedAt: updated.getTime() }
    },
    idOf: (record) => String(record._id),
    list: (all, url) => {
      const start = numberIn(url, '_start', 0)
      const limit = numberIn(url, '_limit', 10)
      const since = numberIn(url, 'updatedAt_gte', 0)
      const matching = all.filter((record) => Number(record.updatedAt) >= since)
      return {
        headers: { 'x-total-count': String(matching.length) },
        body: matching.slice(start, start + limit),
      }
    },
  },
}
