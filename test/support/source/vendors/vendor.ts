/**
 * A server that answers as a vendor's public reference says. Each file of this folder has the dialects of one
 * vendor: what a request of its list must look like, what a page is, and of a record the fields that the copy is
 * compared in, with those that could be taken for them. Nothing here was seen on a vendor.
 */
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parse } from 'yaml'
import type { Store } from '../../../../src/store/db/store.ts'
import { type Profile, type ProfileInput, parseProfile } from '../../../../src/upstream/profile/profile.ts'
import { openHttpServer } from '../../network/http-server.ts'
import { KEY, type Shape } from '../foreign.ts'

/** A record as the vendor keeps it. Its times are instants. */
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
export type Copied = Awaited<ReturnType<typeof copiedTo>>[number]

/** The query of a GET, or the body of a POST. */
export type Params = Asked['body']

/** One page of the list. */
interface Part {
  readonly items: readonly object[]
  readonly size: number
  readonly from: number
  /** The place of the next page; null on the last one. */
  readonly next: number | null
  readonly total: number
  /** Tells whether the search has more records than it shows. */
  readonly isCut: boolean
  readonly params: Params
}

export interface Dialect {
  /** The file of the profile that ships, without its ending, or a profile where none ships. */
  readonly profile: string | ProfileInput
  /** The path of `api.url`. */
  readonly base?: string
  /** The headers that each request must have. */
  readonly headers: Readonly<Record<string, string>>
  /** Tells whether the key is looked at before the method, so that a GET without it is refused with 401. */
  readonly asksForKeyFirst?: boolean
  /** The statuses of the records. */
  readonly statuses: readonly string[]
  /** The columns of the copy that differ from those of all vendors: null where the vendor's list lacks one. */
  readonly copied: (kept: Kept) => Partial<Copied>
  readonly method?: 'POST'
  /** The path of the list. */
  readonly path: string
  /** Returns the parameters of a request for the list, if it is one. */
  readonly reads?: (asked: Asked) => Params | null
  /** The parameters that the list has, if it refuses others. */
  readonly knows?: string
  /** The parameter of the size of a page, the usual size and the greatest one. By default, a page has `PAGE`. */
  readonly size?: readonly [name: string, usual: number, max: number]
  /** The parameter of the place, or the place of the first record of the page, -1 if there is none. */
  readonly offset?: string | ((params: Params, found: readonly Kept[]) => number)
  /** The parameter of the number of the page, from 1. */
  readonly pages?: string
  readonly isWrong?: (params: Params, asked: Asked) => boolean
  /** Tells whether a record is asked for. By default, all are. */
  readonly has?: (kept: Kept, params: Params, asked: Asked) => boolean
  readonly order?: (params: Params) => (one: Kept, other: Kept) => number
  /** Tells whether more records than a search has are refused. By default, it ends there without a word. */
  readonly refusesBeyond?: boolean
  readonly showsDeleted?: boolean
  readonly record: (kept: Kept, params: Params) => object
  readonly page: (part: Part, asked: Asked) => Answer
  /** The path of a single record, which is below the list by default. */
  readonly single?: (kept: Kept) => string
  /** Puts a single record into the envelope that the vendor sends it in. */
  readonly wrap?: (record: object) => unknown
}

export const SECRET = 'ada@example.com'
export const BEARER = { Authorization: `Bearer ${KEY}` }
/** The number of records after which the servers that choose the size of a page themselves end it. */
export const PAGE = 20

/** The endpoints that a list alone leaves out, in a profile. */
export const NO_ENDPOINTS = {
  lead: 'none',
  pipelines: 'none',
  stats: 'none',
  webhooks: 'none',
  agents: 'none',
} as const

const START = Date.parse('2026-10-01T00:00:00Z')

/** Returns a record whose values follow from its number. The order of changes is not that of creation. */
export function keptOf(number: number, { statuses }: Pick<Dialect, 'statuses'>): Kept {
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

export const nameOf = ({ profile }: Dialect): string => (typeof profile === 'string' ? profile : profile.name)

/** The text of a profile that ships. */
export const shippedText = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../../../../profiles/${name}.yaml`), 'utf8')

/** Parses the profile of a dialect, with other parts. The servers take as many requests a second as there are. */
export function profileOf(dialect: Dialect, parts: Partial<ProfileInput> = {}): Profile {
  const { profile } = dialect
  const all = { ...(typeof profile === 'string' ? parse(shippedText(profile)) : profile), ...parts }
  return parseProfile({ ...all, limits: { ...all.limits, requests_per_second: undefined } }, nameOf(dialect))
}

export const refused = (message: string, status = 400): Answer => ({ status, body: { message } })

export const byCreation = (one: Kept, other: Kept): number => one.number - other.number
export const byUpdate = (one: Kept, other: Kept): number =>
  one.updated === other.updated ? one.number - other.number : one.updated < other.updated ? -1 : 1

/** The instant without its zone and the letter in it, as databases write it. */
export const spaced = (instant: string): string => instant.slice(0, 19).replace('T', ' ')
export const inSeconds = (instant: string): string => `${instant.slice(0, 19)}Z`
export const epochSeconds = (instant: string): number => Math.floor(Date.parse(instant) / 1000)

/** The id of the owner, where the vendor has ids in the place of names. */
export const ownerNo = ({ owner }: Kept): number => (owner === 'Mary Lee' ? 8 : 7)

/** The address of the list with another value of a parameter. */
export function linkTo({ origin, path, query }: Asked, name: string, value: number): string {
  const next = new URLSearchParams(query)
  next.set(name, String(value))
  return `${origin}${path}?${next}`
}

/** Answers with null where the vendor has nothing. */
function answerOf(dialect: Dialect, asked: Asked, all: readonly Kept[], cap: number): Answer | null {
  const {
    path,
    method = 'GET',
    size: [sizeName, usual, max] = ['', PAGE, PAGE],
    knows,
    offset = '',
  } = dialect
  const kept = all.filter(({ isDeleted }) => dialect.showsDeleted || !isDeleted)
  const query = Object.fromEntries(asked.query)
  const readsOf = dialect.reads ?? (() => (asked.path === path ? (asked.body ?? query) : null))
  const params = readsOf(asked)
  if (params === null) {
    const singleOf = dialect.single ?? (({ id }: Kept) => `${path}/${id}`)
    const one = kept.find((each) => asked.method === 'GET' && asked.path === singleOf(each))
    return one === undefined ? null : { body: (dialect.wrap ?? Object)(dialect.record(one, query)) }
  }
  if (asked.method !== method) return { status: 405, headers: { allow: method } }
  const unknown = Object.keys(params).find((name) => knows && !knows.split(' ').includes(name))
  const size = Number(params[sizeName] ?? usual)
  const isText = method === 'POST' && typeof (params[sizeName] ?? 0) !== 'number'
  if (unknown !== undefined || isText || size > max || dialect.isWrong?.(params, asked))
    return refused(`a parameter is missing, wrong or not known: ${unknown ?? size}`)
  const matching = kept.filter((each) => dialect.has?.(each, params, asked) ?? true)
  matching.sort(dialect.order?.(params) ?? byCreation)
  const found = matching.slice(0, cap)
  const place = typeof offset === 'string' ? Number(`${params[offset] ?? 0}`.replace(/^\D+/, '')) : null
  const byPage = dialect.pages && (Number(params[dialect.pages] ?? 1) - 1) * size
  const from = byPage ?? place ?? Object(offset)(params, found)
  const end = from + size
  if (from < 0 || (dialect.refusesBeyond && end > cap)) return refused('paging is out of range')
  const items = found.slice(from, end).map((each) => dialect.record(each, params))
  const total = dialect.refusesBeyond ? matching.length : found.length
  const next = end < total ? end : null
  return dialect.page({ items, size, from, next, total, isCut: matching.length > cap, params }, asked)
}

/** The list of a dialect in the place of another shape that a probe explores. */
export function shapeOf(dialect: Dialect): Shape {
  const { path } = dialect
  return {
    path: `${dialect.base ?? ''}${path}`,
    lets: ({ headers }) => hasKey(dialect, headers),
    record: (number) => ({ ...dialect.record(keptOf(number, dialect), {}) }),
    list: (all, { searchParams: query, origin }, { method = '', headers }) => {
      const asked = { method, path, query, headers, body: null, origin }
      const kept = all.map((_, number) => keptOf(number, dialect))
      return { body: '', ...answerOf(dialect, asked, kept, Number.POSITIVE_INFINITY) }
    },
  }
}

function hasKey(dialect: Dialect, headers: IncomingHttpHeaders): boolean {
  return Object.entries(dialect.headers).every(([name, value]) => headers[name.toLowerCase()] === value)
}

export type Vendor = Awaited<ReturnType<typeof startVendor>>

/** @param cap the number of records after which the vendor ends a search */
export async function startVendor(dialect: Dialect, count: number, cap = 10_000) {
  const { base = '' } = dialect
  const records = new Map(Array.from({ length: count }, (_, number) => [number, keptOf(number, dialect)]))
  const vendor = {
    records,
    /** The requests so far, in order. */
    asked: [] as Asked[],
    /** Is called before each answer with the number of the request, from 1, and may answer in the vendor's place. */
    before: (_request: number, _asked: Asked): Answer | null => null,
  }
  const http = await openHttpServer(async (request, response) => {
    const { method = '', headers } = request
    const { pathname, searchParams: query } = new URL(request.url ?? '', http.url)
    const isBelow = pathname.startsWith(base)
    const path = pathname.slice(base.length)
    const sent = await text(request)
    const body = sent === '' ? null : JSON.parse(sent)
    const asked = { method, path, query, headers, body, origin: http.url + base }
    vendor.asked.push(asked)
    const before = vendor.before(vendor.asked.length, asked)
    const answered = isBelow ? answerOf(dialect, asked, [...records.values()], cap) : null
    const isKnown = hasKey(dialect, headers)
    const isLetIn = isKnown || (answered?.status === 405 && !dialect.asksForKeyFirst)
    const own = isLetIn ? (answered ?? refused('not found', 404)) : refused('authentication required', 401)
    const answer = isKnown ? (before ?? own) : own
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
    response.end(answer.body === undefined ? '' : JSON.stringify(answer.body))
  })
  return Object.assign(vendor, http, { url: http.url + base })
}

/** The leads of the vendor as the copy must have them. */
export function offered({ records }: Vendor, { copied }: Dialect): Copied[] {
  const all = [...records.values()].filter(({ isDeleted }) => !isDeleted).sort(byCreation)
  return all.map((kept) => ({
    id: kept.id,
    status: kept.status,
    company_name: kept.company,
    contact_name: kept.contact,
    value_amount: kept.value,
    owner: kept.owner,
    pipeline_id: kept.pipeline,
    created_at: kept.created,
    updated_at: kept.updated,
    ...copied(kept),
  }))
}

/** The leads of the copy that are not deleted. */
export async function copiedTo({ db }: Pick<Store, 'db'>, profile: Profile) {
  const rows = await db
    .selectFrom('lead')
    .where('deleted_at', 'is', null)
    .select(['id', 'status', 'company_name', 'contact_name', 'value_amount', 'owner', 'pipeline_id'])
    .select(['created_at', 'updated_at'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  // Where the vendor tells no time of change, it is the time at which the copy saw it.
  if (profile.mapping.lead.updated_at !== undefined) return rows
  return rows.map((row) => ({ ...row, updated_at: null }))
}
