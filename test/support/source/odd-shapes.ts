/** Unusual shapes of list APIs. Each of them exists somewhere. */
import {
  type ForeignAnswer,
  factsOf,
  idOf,
  inHeader,
  inQuery,
  KEY,
  numberIn,
  plainRecord,
  type Shape,
} from './foreign.ts'

export const ODD_SHAPES: Readonly<Record<string, Shape>> = {
  'pages from 0, with a 401 of HTML': {
    path: '/crm/leads',
    lets: inHeader('x-auth-token'),
    refusal: { status: 401, body: '<html><body><h1>Unauthorized</h1></body></html>' },
    record: plainRecord,
    idOf,
    list: (all, url) => {
      const size = numberIn(url, 'size', 20, 200)
      const page = numberIn(url, 'page', 0)
      const content = all.slice(page * size, (page + 1) * size)
      const last = (page + 1) * size >= all.length
      return {
        body: {
          content,
          totalElements: all.length,
          totalPages: Math.ceil(all.length / size),
          number: page,
          size,
          first: page === 0,
          last,
          numberOfElements: content.length,
        },
      }
    },
  },
  'a cursor in a header of the answer': {
    path: '/crm/v2/deals',
    lets: inHeader('x-api-key'),
    record: plainRecord,
    idOf,
    list: (all, url) => {
      const from = numberIn(url, 'after', 0)
      const to = from + numberIn(url, 'count', 20, 50)
      return {
        body: { items: all.slice(from, to) },
        headers: to < all.length ? { 'x-next-cursor': String(to) } : {},
      }
    },
  },
  'an envelope two levels deep and relative next links': {
    path: '/svc/people',
    lets: inHeader('authorization', 'ApiKey {key}'),
    record: plainRecord,
    idOf,
    list: (all, url) => {
      const start = numberIn(url, 'cursor', 0)
      const count = numberIn(url, 'count', 15, 60)
      const end = start + count
      const next = end < all.length ? { next: { href: `people?cursor=${end}&count=${count}` } } : {}
      return {
        body: {
          response: { payload: { people: all.slice(start, end) } },
          _links: { self: { href: 'people' }, ...next },
        },
      }
    },
  },
  'times in epoch milliseconds and a filter in seconds': {
    path: '/v3/deals',
    lets: inQuery('apikey'),
    refusal: { status: 200, body: { ok: false, error: 'missing api key' } },
    record: (number) => {
      const { company, amount, updated, created, status } = factsOf(number)
      return {
        deal_id: number + 1,
        title: company,
        value: { amount: String(amount), currency: 'USD' },
        stage: { id: 1, name: status },
        created: created.getTime(),
        modified: updated.getTime(),
      }
    },
    idOf: (record) => String(record.deal_id),
    list: (all, url) => {
      const start = numberIn(url, 'start', 0)
      const limit = numberIn(url, 'limit', 50, 100)
      const since = numberIn(url, 'modified_since', 0)
      const matching = all.filter((record) => Number(record.modified) / 1000 >= since)
      const more = start + limit < matching.length
      const pagination = {
        start,
        limit,
        more_items_in_collection: more,
        ...(more ? { next_start: start + limit } : {}),
      }
      return {
        body: { success: true, data: matching.slice(start, start + limit), additional_data: { pagination } },
      }
    },
  },
  'ids beyond 2^53 as numbers, and since_id': {
    path: '/leads',
    lets: inHeader('authorization', 'Token token={key}'),
    record: (number) => ({ ...plainRecord(number), id: 9_007_199_254_740_993n + BigInt(number) * 2n }),
    idOf,
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
    record: plainRecord,
    idOf,
    list: (all, url) => {
      const page = numberIn(url, 'p', 1)
      return { body: all.slice((page - 1) * 40, page * 40) }
    },
  },
  'a header of its own that the refusal names, and page counts in headers': {
    path: '/api/v4/leads',
    lets: inHeader('private-token'),
    refusal: { status: 401, body: { message: '401 Unauthorized: send your key as Private-Token' } },
    record: plainRecord,
    idOf,
    list: (all, url) => {
      const size = numberIn(url, 'per_page', 20, 100)
      const page = numberIn(url, 'page', 1)
      const pages = Math.ceil(all.length / size)
      const headers = {
        'x-total': String(all.length),
        'x-total-pages': String(pages),
        'x-page': String(page),
        'x-per-page': String(size),
        'x-next-page': page < pages ? String(page + 1) : '',
      }
      return { headers, body: all.slice((page - 1) * size, page * size) }
    },
  },
  'unknown parameters are refused columns, values carry the operator': {
    path: '/leads',
    lets: inHeader('apikey'),
    refusal: {
      status: 401,
      body: {
        message: 'No API key found in request',
        hint: 'No `apikey` request header or url param was found.',
      },
    },
    record: plainRecord,
    idOf,
    list: (all, url, request): ForeignAnswer => {
      const since = /^gte\.(.+)$/.exec(url.searchParams.get('updated_at') ?? 'gte.0')?.[1]
      const known = ['limit', 'offset', 'order', 'updated_at', 'select']
      const strange = [...url.searchParams.keys()].find((name) => !known.includes(name))
      if (strange !== undefined || since === undefined)
        return { status: 400, body: { code: 'PGRST100', message: '"failed to parse filter"' } }
      const [, from, to] = /^(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const start = from === undefined ? numberIn(url, 'offset', 0) : Number(from)
      const limit = to === undefined ? numberIn(url, 'limit', 1000, 1000) : Number(to) - start + 1
      const [field, direction] = (url.searchParams.get('order') ?? '').split('.')
      const matching = all.filter((record) => String(record.updated_at) >= since)
      const ordered =
        field === 'updated_at'
          ? matching.toSorted((a, b) => (String(a.updated_at) < String(b.updated_at) ? -1 : 1))
          : matching
      if (field === 'updated_at' && direction === 'desc') ordered.reverse()
      const page = ordered.slice(start, start + limit)
      return {
        headers: { 'content-range': page.length === 0 ? '*/*' : `${start}-${start + page.length - 1}/*` },
        body: page,
      }
    },
  },
  'two tokens for one list, in an answer that quotes the key': {
    path: '/contacts',
    lets: inQuery('key'),
    record: plainRecord,
    idOf,
    list: (all, url, request) => {
      const token = url.searchParams.get('pageToken')
      const start = token === null ? 0 : Number(Buffer.from(token, 'base64url').toString())
      const size = numberIn(url, 'maxResults', 20, 50)
      const nextPageToken =
        start + size < all.length ? Buffer.from(String(start + size)).toString('base64url') : undefined
      return {
        body: {
          kind: 'contacts#list',
          etag: `"${start}"`,
          self: `http://${request.headers.host}/contacts?key=${KEY}`,
          nextSyncToken: 'c3luYw==',
          ...(nextPageToken && { nextPageToken }),
          items: all.slice(start, start + size),
        },
      }
    },
  },
}
