/**
 * List APIs as other companies build them. Each shape has its own paging, authentication, envelope and names,
 * for the same invented records. Nothing here knows the client.
 */
import type { IncomingMessage } from 'node:http'
import { openHttpServer } from '../network/http-server.ts'

export type ForeignRecord = Readonly<Record<string, unknown>>

/** The answer of a shape to a request with valid credentials. */
export interface ForeignAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

type Lets = (request: IncomingMessage, url: URL) => boolean

export interface Shape {
  readonly path: string
  /** True if the request carries the key in the form that this upstream expects. By default, none is needed. */
  readonly lets?: Lets
  /** The answer to requests without a valid key; by default 401 without a body. */
  readonly refusal?: ForeignAnswer
  /** By default, `plainRecord`. */
  readonly record?: (number: number) => ForeignRecord
  /** By default, what is in the field `id`. */
  readonly idOf?: (record: ForeignRecord) => string
  readonly list: (all: readonly ForeignRecord[], url: URL, request: IncomingMessage) => ForeignAnswer
  /** The answers of other paths, which need no key. */
  readonly others?: Readonly<Record<string, ForeignAnswer>>
  /** Answers any request before all others. Null leaves the request to them. */
  readonly first?: (
    request: IncomingMessage,
    url: URL,
    all: readonly ForeignRecord[],
  ) => ForeignAnswer | 'crash' | null
  /** The known parameters. Others are refused. */
  readonly knows?: readonly string[]
}

export type Foreign = Awaited<ReturnType<typeof startForeign>>

export const KEY = 'k3y-for-tests'

const STATUSES = ['new', 'contacted', 'qualified', 'won', 'lost'] as const

/**
 * Returns the values of a record, which follow from its number. Records with higher numbers changed later.
 */
export function factsOf(number: number) {
  const created = new Date(Date.UTC(2026, 0, 1) + number * 3_600_000)
  // The times are scattered, so that the order of changes differs from the order of the list.
  const updated = new Date(Date.UTC(2026, 3, 1) + ((number * 7919) % 5000) * 3_600_000)
  return {
    number,
    status: STATUSES[number % STATUSES.length] ?? 'new',
    score: (number * 37) % 101,
    first: `Ada${number}`,
    last: 'Lovelace',
    company: `Company ${number}`,
    domain: `company${number}.example`,
    email: `ada${number}@company${number}.example`,
    amount: 1000 + number,
    created,
    updated,
  }
}

export const iso = (date: Date): string => date.toISOString()

export function plainRecord(number: number): ForeignRecord {
  const { company, email, score, updated, created, status } = factsOf(number)
  const times = { created_at: iso(created), updated_at: iso(updated) }
  return { id: `r${number}`, company, email, score, status, ...times }
}

/** Leads by limit and offset, with a total, for whoever asks. */
export const PLAIN: Shape = {
  path: '/leads',
  list: (all, url) => {
    const { items } = partIn(all, url, 'offset', ['limit', 20, 100])
    return { body: { data: items, total: all.length } }
  },
}

/** Returns the shape of a list of the records that a filter of the query lets through. */
export function filtered(filterOf: (query: URLSearchParams) => (record: ForeignRecord) => boolean): Shape {
  return {
    ...PLAIN,
    list: (all, url, request) => PLAIN.list(all.filter(filterOf(url.searchParams)), url, request),
  }
}

export async function startForeign(shape: Shape, count = 230) {
  const records = Array.from({ length: count }, (_, number) => (shape.record ?? plainRecord)(number))
  /** The requests so far, in order, such as `GET /leads?limit=3`. */
  const requests: string[] = []
  const http = await openHttpServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const before = shape.first?.(request, url, records) ?? null
    if (before === 'crash') return void http[Symbol.asyncDispose]()
    const { status = 200, headers = {}, body } = before ?? answer(shape, records, url, request)
    const isText = typeof body === 'string'
    response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
    response.end(isText ? body : toJson(body))
  })
  const ids = records.map(shape.idOf ?? (({ id }) => String(id)))
  return { ...http, records, ids, requests }
}

function answer(
  shape: Shape,
  records: readonly ForeignRecord[],
  url: URL,
  request: IncomingMessage,
): ForeignAnswer {
  if (request.method !== 'GET') return { status: 405, body: { error: 'GET only' } }
  const other = shape.others?.[url.pathname]
  if (other !== undefined) return other
  if (url.pathname !== shape.path) return { status: 404, body: { error: 'not found' } }
  if (shape.lets?.(request, url) === false)
    return shape.refusal ?? { status: 401, body: { error: 'unauthorized' } }
  const unknown = [...url.searchParams.keys()].find((name) => shape.knows && !shape.knows.includes(name))
  if (unknown !== undefined) return { status: 400, body: { error: 'unknown parameter' } }
  return shape.list(records, url, request)
}

/** Writes a bigint as a number with all its digits, because JSON allows numbers beyond 2^53. */
function toJson(value: unknown): string {
  const marked = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? `big:${each}` : each,
  )
  return marked.replace(/"big:(\d+)"/g, '$1')
}

/** Returns a check for the key in a header, in a form such as `Token {key}`. */
export function inHeader(name: string, form = '{key}'): Lets {
  const expected = form.replace('{key}', KEY).replace('{basic}', Buffer.from(`${KEY}:`).toString('base64'))
  return (request) => request.headers[name.toLowerCase()] === expected
}

export function inQuery(name: string): Lets {
  return (_, url) => url.searchParams.get(name) === KEY
}

/** Reads a whole number from the query, limited to `max`. */
export function numberIn(url: URL, name: string, fallback: number, max = Number.POSITIVE_INFINITY): number {
  const value = Number(url.searchParams.get(name) ?? fallback)
  return Number.isInteger(value) && value >= 0 ? Math.min(value, max) : fallback
}

/** The parameter for the size of a page, with the usual size and the greatest one. */
type Size = readonly [name: string, usual: number, max?: number]

/** Returns the records whose time of change is not before the one that a parameter names. */
export function changedIn(
  all: readonly ForeignRecord[],
  url: URL,
  name: string,
  at: string,
): ForeignRecord[] {
  const since = url.searchParams.get(name) ?? ''
  return all.filter((record) => String(record[at]) >= since)
}

export const unauthorized = (
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ForeignAnswer => ({
  status: 401,
  headers,
  body,
})

/** Returns the records that are asked for by how many come before them. */
export function partIn(all: readonly ForeignRecord[], url: URL, offset: string, size: Size) {
  return partOf(all, numberIn(url, offset, 0), numberIn(url, ...size))
}

/** Returns the page that is asked for by its number. */
export function pageIn(all: readonly ForeignRecord[], url: URL, number: string, size: Size, first = 1) {
  const page = numberIn(url, number, first)
  const count = numberIn(url, ...size)
  const pages = Math.ceil(all.length / count)
  return { page, pages, ...partOf(all, (page - first) * count, count) }
}

function partOf(all: readonly ForeignRecord[], start: number, size: number) {
  const end = start + size
  return { start, size, end, items: all.slice(start, end), isLast: end >= all.length }
}
