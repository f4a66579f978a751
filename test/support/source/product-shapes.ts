/**
 * Upstreams that answer like existing products, according to their documentation. Two of them were compared
 * with the products.
 */
import {
  type ForeignAnswer,
  factsOf,
  inHeader,
  iso,
  numberIn,
  partIn,
  type Shape,
  unauthorized,
} from './foreign.ts'

const seconds = (date: Date): string => `${iso(date).slice(0, 19)}Z`

/** json-server 1: a bare list, or an envelope when paged. Unknown parameters filter by equality. */
const JSON_SERVER_1: Shape = {
  path: '/leads',
  first: (_, url, all) => {
    const record = all.find(({ id }) => url.pathname === `/leads/${id}`)
    return record === undefined ? null : { body: record }
  },
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

/** FHIR: a Bundle with a list of links. The link to the next page comes after another link. */
const FHIR: Shape = {
  path: '/fhir/Patient',
  // The standard leaves the form of the key to the server. This one is tried late.
  lets: inHeader('authorization', 'OAuth-Token {key}'),
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

/** The products, each with the filter that a probe has to find. */
export const PRODUCTS: readonly (readonly [name: string, shape: Shape, since: string])[] = [
  ['json-server 1', JSON_SERVER_1, 'updated_at_gte'],
  ['Redmine', REDMINE, 'updated_on'],
  ['FHIR', FHIR, '_lastUpdated'],
]
