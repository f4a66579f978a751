/**
 * Upstreams that answer like existing products, according to their documentation. Two of them were compared
 * with the products.
 */
import {
  changedIn,
  type ForeignAnswer,
  type ForeignRecord,
  factsOf,
  inHeader,
  iso,
  numberIn,
  pageIn,
  partIn,
  type Shape,
  unauthorized,
} from './foreign.ts'

const seconds = (date: Date): string => `${iso(date).slice(0, 19)}Z`

/** Returns the answer for a single record below the list. */
function single(
  path: string,
  record: (id: string, all: readonly ForeignRecord[]) => unknown,
): NonNullable<Shape['first']> {
  return (request, url, all) => {
    const id = url.pathname.startsWith(`${path}/`) ? url.pathname.slice(path.length + 1) : ''
    const body = id === '' || request.method !== 'GET' ? undefined : record(decodeURIComponent(id), all)
    return body === undefined ? null : { body }
  }
}

/** json-server 1: a bare list, or an envelope when paged. Unknown parameters filter by equality. */
const JSON_SERVER_1: Shape = {
  path: '/leads',
  first: single('/leads', (id, all) => all.find((each) => each.id === id)),
  list: (all, url) => {
    const reserved = ['_sort', '_page', '_per_page', '_embed', '_where']
    const wanted = [...url.searchParams].filter(([name]) => !reserved.includes(name))
    const found = all.filter((record) =>
      wanted.every(([name, value]) => {
        const [, field = name, operator = 'eq'] = /^(.*?)[:_](lte?|gte?|ne|eq)$/.exec(name) ?? []
        const own = String(record[field])
        if (!(field in record)) return false
        return operator === 'gte' ? own >= value : operator === 'gt' ? own > value : own === value
      }),
    )
    if (!url.searchParams.has('_page')) return { body: found }
    const size = numberIn(url, '_per_page', 10)
    const pages = Math.max(1, Math.ceil(found.length / size))
    const page = Math.min(Math.max(1, numberIn(url, '_page', 1)), pages)
    const data = found.slice((page - 1) * size, page * size)
    const next = page < pages ? page + 1 : null
    return { body: { first: 1, next, last: pages, pages, items: found.length, data } }
  },
}

/**
 * Strapi: all parameters stand in brackets. Filters with unknown fields or operators are errors, and so are `page` outside
 * of `pagination`, and a page beside an offset (5.54.0 does so).
 */
function strapi(wrap: (record: ForeignRecord) => ForeignRecord): Shape {
  return {
    path: '/api/leads',
    lets: inHeader('authorization', 'Bearer {key}'),
    refusal: unauthorized({ data: null, error: { status: 401, message: 'Missing or invalid credentials' } }),
    record: (number) => {
      const { company, status, created, updated } = factsOf(number)
      const fields = { company, stage: status, createdAt: iso(created), updatedAt: iso(updated) }
      return wrap({ id: number + 1, ...fields, publishedAt: iso(updated) })
    },
    list: (all, url) => {
      const filters = [...url.searchParams].filter(([name]) => name.startsWith('filters'))
      const names = [...url.searchParams.keys()]
      const isByPage = names.some((name) => /^pagination\[page(Size)?\]$/.test(name))
      const isByOffset = names.some((name) => /^pagination\[(start|limit)\]$/.test(name))
      const odd =
        [...url.searchParams].find(([name]) => /^page(Size)?(\[|$)/.test(name) || (isByPage && isByOffset)) ??
        filters.find(([name]) => !/^filters\[(updatedAt|createdAt)\]\[\$(gte|gt)\]$/.test(name))
      const message = `Invalid key ${odd?.[0]}`
      if (odd)
        return { status: 400, body: { data: null, error: { status: 400, name: 'ValidationError', message } } }
      const timeOf = (record: ForeignRecord, name: string): string =>
        String(Reflect.get(Object(record.attributes ?? record), name))
      const found = all.filter((record) =>
        filters.every(
          ([name, value]) => timeOf(record, name.includes('updatedAt') ? 'updatedAt' : 'createdAt') >= value,
        ),
      )
      const asked = pageIn(found, url, 'pagination[page]', ['pagination[pageSize]', 25, 100])
      const { page, pages: pageCount, size: pageSize, items: data } = asked
      return { body: { data, meta: { pagination: { page, pageSize, pageCount, total: found.length } } } }
    },
  }
}

/** Redmine: `updated_on=>=2026-01-05T10:00:00Z`. A time with fractions of a second is answered with 422. */
const REDMINE: Shape = {
  path: '/issues.json',
  lets: (...asked) =>
    inHeader('x-redmine-api-key')(...asked) || inHeader('authorization', 'Basic {basic}')(...asked),
  refusal: unauthorized('', { 'www-authenticate': 'Basic realm="Redmine API"' }),
  record: (number) => {
    const { company, status, created, updated } = factsOf(number)
    const named = { id: (number % 5) + 1, name: status }
    const times = { created_on: seconds(created), updated_on: seconds(updated) }
    return { id: number + 1, subject: company, status: named, ...times }
  },
  list: (all, url): ForeignAnswer => {
    if ([...url.searchParams.keys()].some((name) => name.startsWith('updated_on[')))
      return { status: 500, body: '' }
    const wanted = url.searchParams.get('updated_on')
    const [, operator = '=', value = ''] = /^(>=|<=|)(.*)$/.exec(wanted ?? '') ?? []
    if (wanted !== null && !/^\d{4}-\d\d-\d\d(T\d\d(:?\d\d){0,2}(Z|\d\d:?\d\d)?)?$/.test(value))
      return { status: 422, body: { errors: ['Updated is invalid'] } }
    const found = all.filter(({ updated_on: at }) => {
      if (wanted === null) return true
      return operator === '>=' ? String(at) >= value : String(at).startsWith(value)
    })
    const { start: offset, size: limit, items: issues } = partIn(found, url, 'offset', ['limit', 25, 100])
    return { body: { issues, total_count: found.length, offset, limit } }
  },
}

/** SAP CAP: `sort=a&sort[]=b` is an error, and a + in $filter means a plus. */
const SAP_CAP: Shape = {
  path: '/odata/v4/crm/Leads',
  lets: inHeader('authorization', 'Basic {basic}'),
  refusal: unauthorized('Unauthorized', { 'www-authenticate': 'Basic realm="Users"' }),
  record: (number) => {
    const { company, status, created, updated } = factsOf(number)
    const ID = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
    return { ID, company, status, createdAt: iso(created), modifiedAt: iso(updated) }
  },
  idOf: (record) => String(record.ID),
  first: (_, url) => {
    const names = [...url.searchParams.keys()]
    const isBroken = names.some((name) => names.some((other) => other.startsWith(`${name}[`)))
    return isBroken ? 'crash' : null
  },
  list: (all, url): ForeignAnswer => {
    const query = url.search.replaceAll('+', '%2B')
    const filter = new URLSearchParams(query).get('$filter')
    const [, since] = /^modifiedAt ge ([\d:.TZ-]+)$/.exec(filter ?? '') ?? []
    const unknown = [...url.searchParams.keys()].find((name) =>
      /^\$(?!(filter|top|skip(token)?|orderby|count)$)/.test(name),
    )
    if (unknown !== undefined || (filter !== null && since === undefined)) {
      const message = `Parsing URL failed at position 8: ${unknown ?? filter}`
      return { status: 400, body: { error: { message, code: '400' } } }
    }
    const found = all.filter(({ modifiedAt }) => String(modifiedAt) >= (since ?? ''))
    const start = numberIn(url, '$skip', 0) + numberIn(url, '$skiptoken', 0)
    const top = numberIn(url, '$top', 50, 100)
    const rest = new URL(url)
    rest.searchParams.set('$skiptoken', String(start + top))
    const isCut = !url.searchParams.has('$top') || numberIn(url, '$top', 0) > 100
    const next = isCut && start + top < found.length ? { '@odata.nextLink': `Leads${rest.search}` } : {}
    return { body: { '@odata.context': '$metadata#Leads', ...next, value: found.slice(start, start + top) } }
  },
}

/** FHIR: a Bundle with a list of links. The link to the next page comes after another link. */
const FHIR: Shape = {
  path: '/fhir/Patient',
  lets: inHeader('authorization', 'Bearer {key}'),
  record: (number) => {
    const { first, last, updated } = factsOf(number)
    const [id, name] = [`p${number}`, [{ family: last, given: [first] }]]
    const meta = { versionId: '1', lastUpdated: iso(updated) }
    const resource = { resourceType: 'Patient', id, meta, name }
    return { fullUrl: `http://fhir.example/Patient/${id}`, resource, search: { mode: 'match' } }
  },
  idOf: ({ resource }) => String(Reflect.get(Object(resource), 'id')),
  list: (all, url, request) => {
    const since = /^ge(.+)$/.exec(url.searchParams.get('_lastUpdated') ?? '')?.[1] ?? ''
    const found = all.filter(({ resource }) => Object(resource).meta.lastUpdated >= since)
    const part = partIn(found, url, '_getpagesoffset', ['_count', 20, 100])
    const { start: offset, size: count, items, isLast } = part
    const at = (place: number) => {
      const to = new URL(`http://${request.headers.host}${url.pathname}${url.search}`)
      to.searchParams.set('_count', String(count))
      to.searchParams.set('_getpagesoffset', String(Math.max(0, place)))
      return to.href
    }
    const link = [
      { relation: 'self', url: at(offset) },
      ...(offset > 0 ? [{ relation: 'previous', url: at(offset - count) }] : []),
      ...(isLast ? [] : [{ relation: 'next', url: at(offset + count) }]),
    ]
    return {
      headers: { 'content-type': 'application/fhir+json' },
      body: { resourceType: 'Bundle', type: 'searchset', total: found.length, link, entry: items },
    }
  },
}

/** LoopBack 4: all parameters stand in `filter[…]`. The list tells neither its total nor its end. */
const LOOPBACK: Shape = {
  path: '/contacts',
  lets: inHeader('authorization', 'OAuth-Token {key}'),
  record: (number) => {
    const { first, email, created, updated } = factsOf(number)
    const times = { cdate: iso(created), udate: iso(updated) }
    return { id: number + 1, first_name: first, last_name: 'L', email, ...times }
  },
  list: (all, url) => {
    const found = changedIn(all, url, 'filter[where][udate][gte]', 'udate')
    return { body: partIn(found, url, 'filter[skip]', ['filter[limit]', 100, 100]).items }
  },
}

const STRAPI_4 = strapi(({ id, ...attributes }) => ({ id, attributes }))
const STRAPI_5 = strapi((record) => ({ ...record, documentId: `d${record.id}` }))

/** The products, each with the filter that a probe has to find. */
export const PRODUCTS: readonly (readonly [name: string, shape: Shape, since: string])[] = [
  ['json-server 1', JSON_SERVER_1, 'updated_at_gte'],
  ['Strapi 4', STRAPI_4, 'filters[updatedAt][$gte]'],
  ['Strapi 5', STRAPI_5, 'filters[updatedAt][$gte]'],
  ['Redmine', REDMINE, 'updated_on'],
  ['SAP CAP', SAP_CAP, '$filter'],
  ['FHIR', FHIR, '_lastUpdated'],
  ['LoopBack 4', LOOPBACK, 'filter[where][udate][gte]'],
]
