/**
 * List APIs of other people's making: each shape pages, authenticates, wraps and names things in a way of its
 * own, over the same kind of made-up records. Nothing here knows of the client.
 */
import { createServer, type IncomingMessage } from 'node:http'

export type ForeignRecord = Readonly<Record<string, unknown>>

/** What a shape answers to a request that is let in. */
export interface ForeignAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface Shape {
  readonly path: string
  /** Whether the key came along as this upstream wants it. */
  readonly lets: (request: IncomingMessage, url: URL) => boolean
  /** The refusal; a bare 401 unless told otherwise. */
  readonly refusal?: ForeignAnswer
  readonly record: (number: number) => ForeignRecord
  readonly idOf: (record: ForeignRecord) => string
  readonly list: (all: readonly ForeignRecord[], url: URL, request: IncomingMessage) => ForeignAnswer
  /** Answers of other paths, without a key. */
  readonly others?: Readonly<Record<string, ForeignAnswer>>
  /** Answers whatever else is asked, by any method, before all others; null leaves it to them. */
  readonly first?: (
    request: IncomingMessage,
    url: URL,
    all: readonly ForeignRecord[],
  ) => ForeignAnswer | 'crash' | null
  /** Refuses parameters that it does not know. */
  readonly knows?: readonly string[]
}

export interface Foreign extends AsyncDisposable {
  readonly url: string
  readonly records: readonly ForeignRecord[]
  readonly ids: readonly string[]
  /** `GET /leads?limit=3`, in order. */
  readonly requests: readonly string[]
}

export const KEY = 'k3y-for-tests'

const STATUSES = ['new', 'contacted', 'qualified', 'won', 'lost'] as const

/** Values that every record has, from its number alone; those with a higher number changed later. */
export function factsOf(number: number) {
  const created = new Date(Date.UTC(2026, 0, 1) + number * 3_600_000)
  // Scattered, so that the order of changes is not that of the list.
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

export async function startForeign(shape: Shape, count = 230): Promise<Foreign> {
  const records = Array.from({ length: count }, (_, number) => shape.record(number))
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const before = shape.first?.(request, url, records) ?? null
    if (before === 'crash') {
      server.close()
      server.closeAllConnections()
      return
    }
    const { status = 200, headers = {}, body } = before ?? answer(shape, records, url, request)
    const isText = typeof body === 'string'
    response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
    response.end(isText ? body : toJson(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    records,
    ids: records.map(shape.idOf),
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
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
  if (!shape.lets(request, url)) return shape.refusal ?? { status: 401, body: { error: 'unauthorized' } }
  const unknown = [...url.searchParams.keys()].find((name) => shape.knows && !shape.knows.includes(name))
  if (unknown !== undefined) return { status: 400, body: { error: 'unknown parameter' } }
  return shape.list(records, url, request)
}

/** Digits beyond 2^53 stay digits: a bigint is written as the number that it is. */
function toJson(value: unknown): string {
  const marked = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? `big:${each}` : each,
  )
  return marked.replace(/"big:(\d+)"/g, '$1')
}

/** The key in a header, in a form such as `Token {key}`. */
export function inHeader(name: string, form = '{key}'): Shape['lets'] {
  const expected = form.replace('{key}', KEY).replace('{basic}', Buffer.from(`${KEY}:`).toString('base64'))
  return (request) => request.headers[name.toLowerCase()] === expected
}

export function inQuery(name: string): Shape['lets'] {
  return (_, url) => url.searchParams.get(name) === KEY
}

/** A whole number of the query within limits. */
export function numberIn(url: URL, name: string, fallback: number, max = Number.POSITIVE_INFINITY): number {
  const value = Number(url.searchParams.get(name) ?? fallback)
  return Number.isInteger(value) && value >= 0 ? Math.min(value, max) : fallback
}
