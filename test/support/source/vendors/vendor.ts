/**
 * A server that answers as a vendor's public reference says. Each file of this folder has the dialects of one
 * vendor, which say what a request must look like and what the answer is. Nothing here was seen on a vendor.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A record as the vendor keeps it. Its times are instants of whole seconds. */
export interface Kept {
  readonly number: number
  readonly id: string
  readonly status: string
  readonly company: string
  readonly contact: string
  readonly value: number
  readonly owner: string
  readonly pipeline: string
  readonly created: string
  readonly updated: string
  readonly isDeleted: boolean
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: the dialects read bodies of many shapes
  readonly body: any
  /** The address of the server, for links to the next page. */
  readonly origin: string
}

export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The columns of a lead in the copy. */
export interface Copied {
  readonly id: string
  readonly status: string
  readonly company_name: string | null
  readonly contact_name: string | null
  readonly value_amount: number | null
  readonly owner: string | null
  readonly pipeline_id: string
  readonly created_at: string | null
  readonly updated_at: string | null
}

export interface Dialect {
  /** The file of the profile, without its ending. */
  readonly profile: string
  /** The path of `api.url`. */
  readonly base?: string
  /** The headers that each request must have. */
  readonly headers: Readonly<Record<string, string>>
  /** The statuses of the records. */
  readonly statuses: readonly string[]
  /** Answers with null where the vendor has nothing. Where deleted records are shown, `all` has them too. */
  readonly answer: (asked: Asked, kept: readonly Kept[], all: readonly Kept[]) => Answer | null
  /** What the copy has beside what is said here: null for a column that the list of the vendor lacks. */
  readonly copied: (kept: Kept) => Partial<Copied>
}

export const KEY = 'k3y-of-the-vendor'
export const SECRET = 'ada@example.com'
/** The number of records after which the servers that choose the size of a page themselves end it. */
export const PAGE = 20

const START = Date.parse('2026-10-01T00:00:00Z')

/** Returns a record whose values follow from its number. The order of changes is not that of creation. */
export function keptOf(number: number, { statuses }: Dialect): Kept {
  return {
    number,
    id: String(100_000 + number),
    status: statuses[number % statuses.length] ?? '',
    company: `Company ${number}`,
    contact: `Ada Byron ${number}`,
    value: 1000 + number / 4,
    owner: number % 2 === 0 ? 'Grace Hopper' : 'Mary Lee',
    pipeline: String(1 + (number % 2)),
    created: new Date(START + number * 1000).toISOString(),
    updated: new Date(START + 86_400_000 + ((number * 7919) % 40_000) * 61_000).toISOString(),
    isDeleted: false,
  }
}

export const refused = (message: string, status = 400): Answer => ({ status, body: { message } })

export const byCreation = (one: Kept, other: Kept): number => one.number - other.number
export const byUpdate = (one: Kept, other: Kept): number =>
  one.updated === other.updated ? one.number - other.number : one.updated < other.updated ? -1 : 1

/** The instant without its zone and the letter in it, as databases write it. */
export const spaced = (instant: string): string => instant.slice(0, 19).replace('T', ' ')
export const inSeconds = (instant: string): string => `${instant.slice(0, 19)}Z`
export const epochSeconds = (instant: string): number => Date.parse(instant) / 1000

export interface Vendor extends AsyncDisposable {
  readonly url: string
  readonly records: Map<number, Kept>
  /** The requests so far, in order. */
  readonly asked: Asked[]
  /** Is called before each answer with the number of the request, from 1. */
  before: (request: number) => void
}

export async function startVendor(dialect: Dialect, count: number): Promise<Vendor> {
  const records = new Map(Array.from({ length: count }, (_, number) => [number, keptOf(number, dialect)]))
  const vendor: Pick<Vendor, 'records' | 'asked' | 'before'> = { records, asked: [], before: () => undefined }
  let origin = ''
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const { pathname, searchParams } = new URL(request.url ?? '', origin)
      const asked = {
        method: request.method ?? '',
        path: pathname.slice((dialect.base ?? '').length),
        query: searchParams,
        headers: request.headers,
        body: text === '' ? null : JSON.parse(text),
        origin: `${origin}${dialect.base ?? ''}`,
      }
      vendor.asked.push(asked)
      vendor.before(vendor.asked.length)
      const all = [...records.values()]
      const isAllowed = Object.entries(dialect.headers).every(
        ([name, value]) => request.headers[name.toLowerCase()] === value,
      )
      const isBelow = pathname.startsWith(dialect.base ?? '')
      const answered = isBelow
        ? dialect.answer(
            asked,
            all.filter(({ isDeleted }) => !isDeleted),
            all,
          )
        : null
      const {
        status = 200,
        headers = {},
        body,
      } = isAllowed ? (answered ?? refused('not found', 404)) : refused('authentication required', 401)
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(body === undefined ? '' : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(vendor, {
    url: `${origin}${dialect.base ?? ''}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}
