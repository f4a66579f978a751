/** The common shapes of list APIs beside those of vendors, with which every client must cope. */
import {
  changedIn,
  type ForeignAnswer,
  factsOf,
  inHeader,
  inQuery,
  iso,
  KEY,
  numberIn,
  pageIn,
  partIn,
  plainRecord,
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

  // Unusual ones. Each of them exists somewhere.
  'pages from 0, with a 401 of HTML': {
    path: '/crm/leads',
    lets: inHeader('x-auth-token'),
    refusal: unauthorized('<html><body><h1>Unauthorized</h1></body></html>'),
    list: (all, url) => {
      const { page, pages, size, items, isLast } = pageIn(all, url, 'page', ['size', 20, 200], 0)
      const place = { number: page, size, first: page === 0, last: isLast, numberOfElements: items.length }
      return { body: { content: items, totalElements: all.length, totalPages: pages, ...place } }
    },
  },
  'a cursor in a header of the answer': {
    path: '/crm/v2/deals',
    lets: inHeader('x-api-key'),
    list: (all, url) => {
      const { end, items, isLast } = partIn(all, url, 'after', ['count', 20, 50])
      return { body: { items }, headers: isLast ? {} : { 'x-next-cursor': String(end) } }
    },
  },
  'an envelope two levels deep and relative next links': {
    path: '/svc/people',
    lets: inHeader('authorization', 'ApiKey {key}'),
    list: (all, url) => {
      const { size, end, items, isLast } = partIn(all, url, 'cursor', ['count', 15, 60])
      const next = isLast ? {} : { next: { href: `people?cursor=${end}&count=${size}` } }
      const _links = { self: { href: 'people' }, ...next }
      return { body: { response: { payload: { people: items } }, _links } }
    },
  },
  'times in epoch milliseconds and a filter in seconds': {
    path: '/v3/deals',
    lets: inQuery('apikey'),
    refusal: { status: 200, body: { ok: false, error: 'missing api key' } },
    record: (number) => {
      const { company, amount, updated, created, status } = factsOf(number)
      const times = { created: created.getTime(), modified: updated.getTime() }
      const [value, stage] = [
        { amount: String(amount), currency: 'USD' },
        { id: 1, name: status },
      ]
      return { deal_id: number + 1, title: company, value, stage, ...times }
    },
    idOf: (record) => String(record.deal_id),
    list: (all, url) => {
      const since = numberIn(url, 'modified_since', 0)
      const matching = all.filter((record) => Number(record.modified) / 1000 >= since)
      const { start, size: limit, end, items, isLast } = partIn(matching, url, 'start', ['limit', 50, 100])
      const next = isLast ? {} : { next_start: end }
      const pagination = { start, limit, more_items_in_collection: !isLast, ...next }
      return { body: { success: true, data: items, additional_data: { pagination } } }
    },
  },
  'ids beyond 2^53 as numbers, and since_id': {
    path: '/leads',
    lets: inHeader('authorization', 'Token token={key}'),
    record: (number) => ({ ...plainRecord(number), id: 9_007_199_254_740_993n + BigInt(number) * 2n }),
    list: (all, url) => {
      const since = BigInt(url.searchParams.get('since_id') ?? 0)
      const limit = numberIn(url, 'limit', 50, 250)
      const after = all.filter(({ id }) => (id as bigint) > since)
      return { body: { leads: after.slice(0, limit) } }
    },
  },
  'no hint at all: a bare array in pages of 40': {
    path: '/export',
    lets: inHeader('api-key'),
    // No parameter sets the size of a page.
    list: (all, url) => ({ body: pageIn(all, url, 'p', ['', 40]).items }),
  },
  'a header of its own that the refusal names, and page counts in headers': {
    path: '/api/v4/leads',
    lets: inHeader('private-token'),
    refusal: unauthorized({ message: '401 Unauthorized: send your key as Private-Token' }),
    list: (all, url) => {
      const { page, pages, size, items } = pageIn(all, url, 'page', ['per_page', 20, 100])
      const headers = {
        'x-total': String(all.length),
        'x-total-pages': String(pages),
        'x-page': String(page),
        'x-per-page': String(size),
        'x-next-page': page < pages ? String(page + 1) : '',
      }
      return { headers, body: items }
    },
  },
  'unknown parameters are refused columns, values carry the operator': {
    path: '/leads',
    lets: inHeader('apikey'),
    refusal: unauthorized({ hint: 'No `apikey` request header or url param was found.' }),
    knows: ['limit', 'offset', 'order', 'updated_at', 'select'],
    list: (all, url, request): ForeignAnswer => {
      const since = /^gte\.(.+)$/.exec(url.searchParams.get('updated_at') ?? 'gte.0')?.[1]
      if (since === undefined)
        return { status: 400, body: { code: 'PGRST100', message: '"failed to parse filter"' } }
      const [, from, to] = /^(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const start = from === undefined ? numberIn(url, 'offset', 0) : Number(from)
      const limit = to === undefined ? numberIn(url, 'limit', 1000, 1000) : Number(to) - start + 1
      const [field, direction] = (url.searchParams.get('order') ?? '').split('.')
      const ordered = all.filter((record) => String(record.updated_at) >= since)
      if (field === 'updated_at')
        ordered.sort((a, b) => (String(a.updated_at) < String(b.updated_at) ? -1 : 1))
      if (field === 'updated_at' && direction === 'desc') ordered.reverse()
      const page = ordered.slice(start, start + limit)
      const range = page.length === 0 ? '*/*' : `${start}-${start + page.length - 1}/*`
      return { headers: { 'content-range': range }, body: page }
    },
  },
  'two tokens for one list, in an answer that quotes the key': {
    path: '/contacts',
    lets: inQuery('key'),
    list: (all, url, request) => {
      const start = Number(Buffer.from(url.searchParams.get('pageToken') ?? '', 'base64url').toString())
      const end = start + numberIn(url, 'maxResults', 20, 50)
      const token = { nextPageToken: Buffer.from(String(end)).toString('base64url') }
      const self = `http://${request.headers.host}/contacts?key=${KEY}`
      const about = { kind: 'contacts#list', etag: `"${start}"`, self, nextSyncToken: 'c3luYw==' }
      return { body: { ...about, ...(end < all.length && token), items: all.slice(start, end) } }
    },
  },
}
