/**
 * Sends the probe's requests: GETs, and POSTs to a list that is asked for so. They go one at a time with a pause, no request twice, at most REQUESTS_MAX.
 * To find a parameter that has an effect, the probe tries many parameters in one request, and then each half
 * of them.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ProxySettings } from '../proxy.ts'
import type { Backoff } from '../retry.ts'
import { BACKOFF, wait } from '../retry.ts'
import { type Answer, quote } from '../upstream/client/answer.ts'
import { authorize } from '../upstream/client/authorize.ts'
import type { KeySource } from '../upstream/client/key-source.ts'
import type { Call } from '../upstream/client/request.ts'
import { createClient } from '../upstream/client/retrying-client.ts'
import { putAt } from '../upstream/paging/list-request.ts'
import { toText } from '../upstream/profile/field-rule.ts'
import type { Profile } from '../upstream/profile/profile.ts'
import type { FieldPath } from '../upstream/values/json.ts'
import { findRecords, readPath } from '../upstream/values/json.ts'

const REQUESTS_MAX = 150
const GAP_MS = 50

export type Auth = Profile['auth']

/** An authorization without the key. With it, a request carries only the headers that the user gave. */
const NO_KEY = { header: 'Authorization', value: '' } as const

export type Question = Pick<Call, 'method' | 'url' | 'body'> & { readonly headers: Headers }

export interface Reply {
  readonly url: URL
  /** The request itself, which can be sent again with another key. */
  readonly question: Question
  /** The request without the key, as the profile's comments quote it: `GET /leads?limit=3`. */
  readonly request: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The parsed JSON; or text, if the server refused the request or the body is not JSON. */
  readonly body: unknown
}

export type Headers = Readonly<Record<string, string>>

/** Sends the requests of one probe. The caller of `openAsker` must dispose of it to close its connections. */
export interface Asker extends AsyncDisposable {
  auth: Auth
  /** The headers that the user gave for every request. `{key}` stands for the API key. */
  readonly headers: Headers
  get(url: URL, headers?: Headers): Promise<Reply>
  /** Sends a request that changes nothing. */
  ask(question: Question): Promise<Reply>
  readonly requests: number
  /** Returns how many more requests may be sent before the total number of requests exceeds the limit. */
  left(limit: number): number
}

interface AskerOptions {
  /** The API key or where it comes from; empty if there is none. */
  readonly apiKey: string | KeySource
  /** The value of `{secret}` in the headers that the user gave. */
  readonly secret?: string | undefined
  /** The headers that the user gave for every request. `{key}` stands for the API key. */
  readonly headers?: Headers
  readonly maxWaitMs: number
  readonly proxy?: ProxySettings | undefined
  readonly log: Log
  readonly signal: AbortSignal
  /** Ends the probe with what it knows by then. */
  readonly deadline?: AbortSignal
  /** The pause between two requests in milliseconds; by default `GAP_MS`. */
  readonly gapMs?: number
  readonly backoff?: Backoff
}

/** @throws LeadsheetError api_unreachable, api_deferred; api_rejected after REQUESTS_MAX requests */
export function openAsker(options: AskerOptions): Asker {
  const { apiKey, secret, deadline = new AbortController().signal } = options
  const signal = AbortSignal.any([options.signal, deadline])
  const isLate = () => deadline.aborted && !options.signal.aborted
  // Warnings are not logged, because refused trials are normal in a probe.
  const log = options.log.child({}, { level: 'error' })
  const client = createClient({
    apiKey,
    secret,
    log,
    maxWaitMs: options.maxWaitMs,
    proxy: options.proxy,
    userAgent: 'leadsheet-probe',
    backoff: options.backoff ?? BACKOFF.probe,
    authorize: (url, headers, key) => {
      authorize({ auth: { ...NO_KEY, headers: asker.headers } }, key, url, headers, secret)
      authorize(asker, key, url, headers, secret)
    },
  })
  const known = new Map<string, Reply>()
  const asker: Asker = {
    auth: 'none',
    headers: options.headers ?? {},
    get requests() {
      return client.usage.requests
    },
    left: (limit) => Math.max(0, limit - known.size),
    [Symbol.asyncDispose]: () => client.close(),
    get: (url, headers = {}) => asker.ask({ method: 'GET', url, headers }),
    async ask(question) {
      const { method, url, headers, body } = question
      const asked = JSON.stringify([method, url.href, headers, body, asker.auth])
      const before = known.get(asked)
      if (before) return before
      if (known.size >= REQUESTS_MAX) throw tooMany()
      if (isLate()) throw tooLate(known.size)
      if (known.size > 0) await wait(options.gapMs ?? GAP_MS, options.signal)
      const answer = await client
        .call({ method, url, headers, body, isRead: true, takesAny: true, signal })
        .catch((thrown: unknown) => {
          if (isLate()) throw tooLate(known.size)
          return asRefusal(thrown)
        })
      // The key is taken out before the text is cut, because a part of it would not be recognised.
      const request = shortened(client.redact(requestText(question)), REQUEST_CHARS)
      const reply = { ...answer, url, question, request }
      known.set(asked, reply)
      return reply
    },
  }
  return asker
}

/** Some servers answer 5xx, even after all retries, to a parameter that they do not know. */
function asRefusal(thrown: unknown): Answer {
  const isAnswered =
    thrown instanceof LeadsheetError &&
    (thrown.code === 'api_unexpected' || (thrown.code === 'api_unreachable' && thrown.cause === undefined))
  if (!isAnswered) throw thrown
  return { status: 500, headers: {}, body: thrown.message }
}

function tooLate(answers: number): LeadsheetError {
  return new LeadsheetError(
    'api_unreachable',
    `the upstream is slow: it gave ${answers} answers in the time of a probe`,
    { hint: 'Name the path of the list with --path, and probe again.' },
  )
}

/** The longest request that is shown whole. */
const REQUEST_CHARS = 90

/** Writes a text in one line. What is cut out is in the middle, because the end of a request has what was tried. */
export function shortened(text: string, chars: number): string {
  const plain = text.replace(/\s+/g, ' ')
  const half = Math.floor(chars / 2)
  return plain.length <= chars ? plain : `${plain.slice(0, half)}…${plain.slice(-half)}`
}

function requestText({ method, url, headers, body }: Question): string {
  const extra = Object.entries(headers).map(([name, value]) => ` (${name}: ${value})`)
  const sent = body === undefined ? '' : ` ${quote(JSON.stringify(body))}`
  return `${method} ${decodeSoftly(url.pathname + url.search)}${sent}${extra.join('')}`
}

/** Decodes a path for people: `page%5Bsize%5D=3` becomes `page[size]=3`. */
function decodeSoftly(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function tooMany(): LeadsheetError {
  return new LeadsheetError('api_rejected', `the probe stops after ${REQUESTS_MAX} requests`, {
    hint: 'Name the path of the list with --path, or write the profile by hand.',
  })
}

const SINGLES_MAX = 8

/** Some servers crash if a request has both `sort` and `sort[]`. */
export function clashes(a: string, b: string): boolean {
  return (
    [`${a}[`, `${a}.`].some((inside) => b.startsWith(inside)) ||
    [`${b}[`, `${b}.`].some((inside) => a.startsWith(inside))
  )
}

/** Divides the candidates into few groups. No group has two candidates whose names are equal or clash. */
export function apart<T>(candidates: readonly T[], nameOf: (candidate: T) => string): T[][] {
  const groups: T[][] = []
  for (const each of candidates) {
    const name = nameOf(each)
    const group = groups.find((others) =>
      others.every((other) => nameOf(other) !== name && !clashes(nameOf(other), name)),
    )
    if (group) group.push(each)
    else groups.push([each])
  }
  return groups
}

export type Effect = 'effect' | 'none' | 'refused'

export interface Budget {
  left: number
  /** The number of refusals so far. After some, what else is refused is not told apart. */
  refusals?: number
}

const REFUSALS_MAX = 4

/**
 * Finds the parameter that has an effect, by trying many in one request. This works because most servers
 * ignore unknown parameters. If the request has no effect, no parameter in it has one. If the request has an
 * effect or is refused, each half of the parameters is tried.
 * @param isStrict true for a server that refuses unknown parameters: the most usual ones are tried one by one
 */
export async function findEffective<T>(
  candidates: readonly T[],
  test: (some: readonly T[]) => Promise<Effect>,
  budget: Budget,
  isStrict = false,
): Promise<T | null> {
  if (!isStrict) return findByHalves(candidates, test, budget)
  for (const candidate of candidates.slice(0, SINGLES_MAX)) {
    if (budget.left-- <= 0) return null
    if ((await test([candidate])) === 'effect') return candidate
  }
  return null
}

async function findByHalves<T>(
  candidates: readonly T[],
  test: (some: readonly T[]) => Promise<Effect>,
  budget: Budget,
  known: Effect | null = null,
): Promise<T | null> {
  const [only] = candidates
  if (only === undefined || budget.left <= 0) return null
  if (known === null) budget.left--
  const effect = known ?? (await test(candidates))
  if (effect === 'none') return null
  if (candidates.length === 1) return effect === 'effect' ? only : null
  if (effect === 'refused') budget.refusals = (budget.refusals ?? 0) + 1
  if ((budget.refusals ?? 0) > REFUSALS_MAX) return null
  const middle = Math.ceil(candidates.length / 2)
  const [one, other] = [candidates.slice(0, middle), candidates.slice(middle)]
  if (budget.left-- <= 0) return null
  const first = await test(one)
  const found = await findByHalves(one, test, budget, first)
  // If one half has no effect, the other has that of both.
  return found ?? findByHalves(other, test, budget, first === 'none' ? effect : null)
}

/** The value of a parameter is a text, or JSON for the body of a POST. */
export type Params = Readonly<Record<string, unknown>>

export interface Page {
  readonly reply: Reply
  /** Some servers nest the list only if a page is requested. */
  readonly envelope: FieldPath
  readonly records: readonly unknown[]
  readonly ids: readonly string[]
}

export interface List {
  readonly url: URL
  readonly envelope: FieldPath
  readonly id: FieldPath
  /** True if the server refuses unknown parameters, or filters by them. */
  readonly isStrict: boolean
  /** The body of a list that is asked for by POST. Its parameters are then places in the body. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
}

/** Writes the names of parameters as places in a body, if the list is asked for by POST: `page[size]` as `page.size`. */
export function namesFor({ body }: List, names: readonly string[]): readonly string[] {
  return body === undefined ? names : names.map((name) => name.replace(/\[(\w+)\]/g, '.$1'))
}

/** Null if the server refuses the request or does not answer with a list. */
export async function readPage(
  asker: Asker,
  list: List,
  params: Params = {},
  headers: Headers = {},
): Promise<Page | null> {
  return pageOf(await asker.ask(questionFor(list, params, headers)), list)
}

/** A number in the place of a parameter is written as one in a body. */
export function questionFor(list: List, params: Params, headers: Headers = {}): Question {
  const url = new URL(list.url)
  if (list.body === undefined) {
    for (const [name, value] of Object.entries(params)) {
      url.searchParams.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
    }
    return { method: 'GET', url, headers }
  }
  const body = structuredClone(list.body)
  for (const [name, value] of Object.entries(params)) {
    putAt(body, name, typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value)
  }
  return { method: 'POST', url, headers, body }
}

export function pageOf(reply: Reply, list: List): Page | null {
  // Some upstreams answer so instead of with an empty list.
  if (reply.status === 204 || reply.status === 304)
    return { reply, envelope: list.envelope, records: [], ids: [] }
  if (reply.status < 200 || reply.status > 299) return null
  const usual = readPath(reply.body, list.envelope)
  const found = Array.isArray(usual) ? { path: list.envelope, records: usual } : findRecords(reply.body)
  if (found === null) return null
  const records: readonly unknown[] = found.records
  return { reply, envelope: found.path, records, ids: records.map((record) => idOf(record, list.id)) }
}

export function isDisjoint(page: Page, ids: readonly string[]): boolean {
  const before = new Set(ids)
  return page.ids.length > 0 && page.ids.every((id) => !before.has(id))
}

function idOf(record: unknown, path: FieldPath): string {
  return toText(readPath(record, path)) ?? ''
}

/** `proved`: an answer that could have been different shows it. `guessed`: only a name suggests it. */
export type Confidence = 'proved' | 'likely' | 'guessed'

export interface Finding {
  /** The part of the profile that was found, such as `auth`, `paging.param` or `mapping.lead.score`. */
  readonly place: string
  readonly value: string
  readonly confidence: Confidence
  /** The request and a summary of its answer, in one line. */
  readonly evidence: string
}

export function finding(place: string, value: string, confidence: Confidence, evidence: string): Finding {
  return { place, value, confidence, evidence }
}

export interface Gap {
  readonly place: string
  readonly problem: string
  /** The lines of the profile that a person must write; null if nothing needs to be done. */
  readonly remedy: string | null
}

export function gap(place: string, problem: string, remedy: string | null = null): Gap {
  return { place, problem, remedy }
}

/** Writes evidence such as `GET /leads?limit=3 -> 200, 3 records`. */
export function evidenceOf(reply: Reply, what = ''): string {
  return `${reply.request} -> ${reply.status}${what === '' ? '' : `, ${what}`}`
}
