/** Finds the list of leads: at the given address, at the usual paths, or at those of an index document. */

import { problemText, quote } from '../upstream/client/answer.ts'
import { withoutEndSlash } from '../upstream/client/request.ts'
import { findRecords, isEmptyList, readPath } from '../upstream/values/json.ts'
import type { Asker, Auth, Finding, Gap, List, Page, Reply } from './ask.ts'
import { evidenceOf, finding, gap, pageOf } from './ask.ts'
import { authText, findAuth, openFinding, wantsKey } from './auth-probe.ts'
import { INDEX_PATHS, LIST_BODIES, LIST_PATHS, LIST_WORDS, READ_WORDS } from './candidates.ts'
import { pickId } from './field-probe.ts'

const INDEX_CANDIDATES_MAX = 6
const BESIDE_THE_POINT =
  /health|log-?in|log-?out|auth|token|docs?|status|metrics|version|openapi|swagger|schema|ping|\.(html|js|css|png|ico)$/i
const BEARER: Auth = { header: 'Authorization', value: 'Bearer {key}', headers: {} }

export interface FoundList {
  readonly list: List
  readonly first: Page
  readonly findings: readonly Finding[]
}

interface Missed {
  /** The findings about the API key. */
  readonly findings: readonly Finding[]
  readonly gaps: readonly Gap[]
  /** One line for each request, with its answer. */
  readonly tried: readonly string[]
}

/**
 * @param path null if the user gave none
 * @param auth the form in which the user wants the key to be sent; null or absent if the user gave none
 */
export async function findList(
  asker: Asker,
  base: URL,
  { path, key, auth = null }: { path: string | null; key: string; auth?: Auth | null },
): Promise<FoundList | Missed> {
  const search = new Search(asker, key, auth)
  const queue =
    path === null ? [base, ...LIST_PATHS.slice(0, 4).map((each) => below(base, each))] : [below(base, path)]
  const later =
    path === null ? [...INDEX_PATHS.slice(0, 1), ...LIST_PATHS.slice(4), ...INDEX_PATHS.slice(1)] : []
  queue.push(...later.map((each) => below(base, each)))
  const found = await walk(search, queue, base)
  if (found !== null || search.isRefused || key === '') return found ?? search.missed()
  // Some upstreams answer a request without a key with 404 instead of 401, so the first paths are also tried
  // with the key.
  asker.auth = BEARER
  return (await walk(search, queue.slice(0, 5), base)) ?? search.missed()
}

async function walk(search: Search, candidates: readonly URL[], base: URL): Promise<FoundList | null> {
  const queue = [...candidates]
  const seen = new Set<string>()
  let index: FoundList | null = null
  for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
    if (seen.has(url.href)) continue
    seen.add(url.href)
    const reply = await search.ask(url)
    if (search.isShutOut) return null
    const found = search.listIn(reply) ?? (await search.listByPost(reply))
    if (found !== null && !isRoot(url, base)) return found
    index ??= found
    queue.unshift(...search.hintsIn(reply, base).slice(0, INDEX_CANDIDATES_MAX))
  }
  return index
}

/** The root's list of endpoints may look like a list of records, so it is used only if no other is found. */
function isRoot(url: URL, base: URL): boolean {
  return url.href === base.href && /^\/?((api|rest|v\d+(\.\d+)?)\/?)*$/i.test(url.pathname.slice(1))
}

/** A search for the list of leads. It remembers its requests and its findings about the API key. */
class Search {
  readonly #asker: Asker
  readonly #key: string
  readonly #given: Auth | null
  readonly #tried: string[] = []
  readonly #addresses = new Set<string>()
  #auth: Finding | null = null
  #refused: Reply | null = null
  /** A refusal without the key, if an answer with it was no success, so that a list shows more. */
  #challenge: Reply | null = null
  /** An answer that let the key in as the user wants it sent, or a refusal although the key is read. */
  #isTaken = false
  #empty: Reply | null = null
  #withoutId: Reply | null = null
  #why: string | null = null
  /** An address that takes POST, which was not sent because it may make a record. */
  #unsent: URL | null = null
  #isGraphql = false
  /** The answer to a POST that was taken at its address, but gave no list. */
  #posted: Reply | null = null
  #page: string | null = null

  get isRefused(): boolean {
    return this.#refused !== null
  }

  /** True if the first address asks for a key and accepts none. The search then ends. */
  get isShutOut(): boolean {
    return this.#refused !== null && this.#auth === null && this.#addresses.size === 1
  }

  constructor(asker: Asker, key: string, given: Auth | null) {
    this.#asker = asker
    this.#key = key
    this.#given = given
    if (given !== null) asker.auth = given
  }

  /** Finds out in which form a key must be sent, as soon as an answer asks for one. */
  async ask(url: URL): Promise<Reply> {
    return this.#answered(await this.#asker.get(url))
  }

  /** Looks for a list that is asked for by POST, at an address that only reads and gives no list to a GET. */
  async listByPost({ status, url, headers, body: answer }: Reply): Promise<FoundList | null> {
    if (!NO_GET.has(status)) return null
    if (isGraphql(url, answer)) {
      this.#isGraphql = true
      return null
    }
    if (!onlyReads(url)) {
      const takesPost = /\bPOST\b/i.test(headers.allow ?? '') || status === 405
      if (takesPost) this.#unsent ??= url
      return null
    }
    for (const body of LIST_BODIES) {
      const reply = await this.#answered(await this.#asker.ask({ method: 'POST', url, headers: {}, body }))
      const found = this.listIn(reply, body)
      if (found !== null) return found
      // Another body does not help where nothing is, or where the key is refused.
      if (reply.status === 404 || reply.status === 405 || wantsKey(reply)) return null
      this.#posted ??= reply
    }
    return null
  }

  /** Finds how the key is sent, if the reply wants one, and returns the reply to the same request with it. */
  async #answered(reply: Reply): Promise<Reply> {
    if (!wantsKey(reply)) {
      if (reply.status !== 404 && reply.status < 500) this.#isTaken = true
      return this.#noted(reply)
    }
    const isFirst = this.#refused === null
    this.#refused ??= reply
    if (this.#key === '' || this.#given !== null || this.#auth !== null || !isFirst) return this.#noted(reply)
    const found = await findAuth(this.#asker, reply, this.#key)
    if (found === null) return this.#noted(reply)
    this.#auth = found.finding
    if (found.finding.confidence === 'likely') this.#challenge = reply
    if (found.reply.status === 403) this.#refused = found.reply
    return this.#noted(found.reply)
  }

  /** @param body the body of a POST */
  listIn(reply: Reply, body?: List['body']): FoundList | null {
    if (reply.status < 200 || reply.status > 299) return null
    const found = findRecords(reply.body)
    if (found === null) {
      if (isEmptyList(reply.body)) this.#empty ??= reply
      return null
    }
    if (isDescription(reply.body)) return null
    const id = pickId(found.records)
    if (id === null) {
      this.#withoutId ??= reply
      return null
    }
    const list: List = { url: reply.url, envelope: found.path, id, isStrict: false, body }
    const first = pageOf(reply, list)
    return first && { list, first, findings: [this.#authFinding(reply)] }
  }

  /** Returns other addresses to try: the target of a redirect, or the paths that an index document lists. */
  hintsIn(reply: Reply, base: URL): URL[] {
    const { location } = reply.headers
    if (reply.status >= 300 && reply.status < 400 && location !== undefined) {
      const to = URL.parse(location, reply.url.href)
      return to !== null && to.origin === base.origin ? [to] : []
    }
    return reply.status < 300
      ? listPathsIn(reply.body, reply.url).filter((url) => url.origin === base.origin)
      : []
  }

  missed(): Missed {
    const findings = this.#auth === null ? [] : [this.#auth]
    const isForbidden = this.#refused?.status === 403 && this.#auth !== null
    const isWanted = isForbidden || (this.#auth === null && !(this.#isTaken && this.#given !== null))
    const gaps = this.#refused !== null && isWanted ? [this.#keyGap(this.#refused)] : []
    if (!this.isShutOut) gaps.push(this.#listGap())
    return { findings, gaps, tried: this.#tried }
  }

  #keyGap(refused: Reply): Gap {
    const why =
      this.#key === ''
        ? 'a key is wanted, and none was given (LEADSHEET_API_KEY or --key-file)'
        : refused.status === 403 && (this.#auth ?? this.#given) !== null
          ? 'the key goes along, but may not read this: it lacks the permission, or another header is wanted too'
          : this.#given === null
            ? 'the key was taken in none of the usual forms: it is wrong, or wanted in another form'
            : `the key was not taken as ${authText(this.#given)}`
    const remedy = `look whether the key is right; then name the header that the upstream wants: --auth 'Name: value {key}', and others by --header 'Name: value'`
    return gap('auth', `${evidenceOf(refused)}: ${why}`, remedy)
  }

  #listGap(): Gap {
    const why = (this.#posted && whyNoList(this.#posted)) ?? this.#why ?? this.#page
    const problem =
      this.#empty !== null
        ? `${evidenceOf(this.#empty)}: an empty list teaches nothing; put a few records there first`
        : this.#withoutId !== null
          ? `${evidenceOf(this.#withoutId)}: records without an id that is unique`
          : `no list of records was found${why === null ? '' : `; ${why}`}${this.#auth === null ? '' : '; the key is taken'}`
    const remedy =
      this.#unsent !== null
        ? `if ${this.#unsent.pathname} is a list and makes no records, write: request: { method: POST, body: {} }`
        : this.#posted !== null
          ? 'what the list wants: request: { method: POST, body: { … } }'
          : this.#isGraphql
            ? 'request: { method: POST, body: { query: … } }, with paging.param: variables.after and envelope.leads: data.…'
            : 'name the path of the list with --path, with the parameters that it wants: /leads?fields=name'
    return gap('endpoints.leads', problem, remedy)
  }

  #noted(reply: Reply): Reply {
    this.#tried.push(evidenceOf(reply))
    this.#addresses.add(reply.url.href)
    // An HTML page explains less than an API's answer, so its text is used only if no other answer explains
    // the failure.
    if (/html/i.test(reply.headers['content-type'] ?? '')) this.#page ??= whyNoList(reply)
    else this.#why ??= whyNoList(reply)
    return reply
  }

  #authFinding(reply: Reply): Finding {
    if (this.#challenge !== null) {
      const evidence = `${evidenceOf(this.#challenge)} without a key, ${evidenceOf(reply)} with it in this form`
      return finding('auth', authText(this.#asker.auth), 'proved', evidence)
    }
    if (this.#auth !== null) return this.#auth
    if (this.#asker.auth === 'none') return openFinding(reply)
    if (this.#given === null)
      return finding('auth', authText(BEARER), 'likely', `${evidenceOf(reply)} with the key, and 404 without`)
    return finding(
      'auth',
      authText(this.#given),
      'likely',
      `${evidenceOf(reply)} with the key as --auth says`,
    )
  }
}

/** Paths that sound like leads come first. */
function listPathsIn(body: unknown, from: URL): URL[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return []
  const documented = readPath(body, ['paths'])
  const paths =
    typeof documented === 'object' && documented !== null
      ? Object.entries(documented)
          .filter(([path, item]) => !path.includes('{') && readPath(item, ['get']) !== undefined)
          .map(([path]) => prefixOf(body) + path)
      : Object.entries(flat(body)).flatMap(([name, value]) => pathLike(value, name))
  const urls = paths.flatMap((path) => URL.parse(path, from.href) ?? [])
  return urls.filter((url) => !BESIDE_THE_POINT.test(url.pathname)).sort((a, b) => rank(a) - rank(b))
}

/** Returns the path of the API in a document of Swagger or OpenAPI. */
function prefixOf(document: object): string {
  const prefix = readPath(document, ['basePath']) ?? readPath(document, ['servers', '0', 'url'])
  return typeof prefix === 'string' ? prefix.replace(/\/$/, '') : ''
}

/** `{"_links": {"leads": {"href": "/leads"}}}` becomes `{"_links.leads.href": "/leads"}`. */
function flat(body: object, depth = 3, prefix = ''): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]: [string, unknown]): [string, unknown][] =>
      typeof value === 'object' && value !== null && depth > 0
        ? Object.entries(flat(value, depth - 1, `${prefix}${name}.`))
        : [[prefix + name, value]],
    ),
  )
}

/** The maximum length of a property name that may be taken for a path. */
const NAME_MAX = 500

function pathLike(value: unknown, name: string): string[] {
  if (name.length <= NAME_MAX && /(^|\.)(\/[\w./-]+)$/.test(name) && !name.includes('{'))
    return [name.replace(/^.*?(?=\/)/, '')]
  return typeof value === 'string' && /^(https?:\/\/\S+|\/[\w./-]+)$/.test(value) && !value.includes('{')
    ? [value]
    : []
}

/** Returns the rank of a URL by the last part of its path; 0 is the most promising. */
function rank(url: URL): number {
  const last = lastNameIn(url).toLowerCase()
  const index = LIST_WORDS.findIndex((word) => last.includes(word))
  return index < 0 ? LIST_WORDS.length : index
}

function lastNameIn({ pathname }: URL): string {
  return withoutEndSlash(pathname).split('/').at(-1) ?? ''
}

function isDescription(body: unknown): boolean {
  return typeof body === 'object' && body !== null && ('openapi' in body || 'swagger' in body)
}

function below(base: URL, path: string): URL {
  const url = new URL(base)
  const [bare = '', query] = path.split('?')
  url.pathname = `${withoutEndSlash(base.pathname)}/${bare.replace(/^\/+/, '')}`
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value)
  return url
}

/** Returns the path of an endpoint relative to `base`, as the profile writes it. */
export function endpointPath(base: URL, url: URL): string {
  const root = withoutEndSlash(base.pathname)
  if (withoutEndSlash(url.pathname) === root) return '.'
  const extra = [...url.searchParams].filter(([name]) => !base.searchParams.has(name))
  const query = extra.length === 0 ? '' : `?${new URLSearchParams(extra)}`
  return url.pathname.startsWith(`${root}/`)
    ? url.pathname.slice(root.length) + query
    : url.origin + url.pathname + query
}

/** The statuses by which an address says that it takes no GET, or no such GET. */
const NO_GET = new Set([400, 404, 405, 415, 501])

/** Returns whether the last name in a path has a word such as `search`, so that a POST to it makes no record. */
function onlyReads(url: URL): boolean {
  const words = lastNameIn(url)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
  return words.some((word) => READ_WORDS.includes(word))
}

function isGraphql({ pathname }: URL, body: unknown): boolean {
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  return /graphql/i.test(pathname) || /graphql|must provide (a )?query/i.test(text.slice(0, 2_000))
}

/** Null if the answer only says that nothing is there or that a key is required. */
function whyNoList(reply: Reply): string | null {
  const { status, headers, body, url } = reply
  const isFine = status >= 200 && status <= 299
  if (status === 404 || status === 410 || (status >= 300 && status < 400) || wantsKey(reply)) return null
  if (isFine && typeof body !== 'string') return null
  const whole = typeof body === 'string' ? body : JSON.stringify(body)
  const said = isFine ? quote(whole) : problemText(whole)
  const text = said === '' ? '' : `: ${said}`
  if (!isFine && isGraphql(url, body))
    return `${evidenceOf(reply)}${text}: this is GraphQL, whose query you must write`
  const allow = headers.allow === undefined ? '' : `Allow: ${headers.allow}`
  if (status === 405 || (allow !== '' && !/\bGET\b/i.test(allow)))
    return `${evidenceOf(reply, allow)}: it takes no GET${onlyReads(url) ? '' : ', and no POST was sent, which may make a record'}`
  if (!isFine) return `${evidenceOf(reply)}${text}`
  const type = headers['content-type']?.split(';')[0]?.trim() ?? 'no content type'
  return `${evidenceOf(reply, type)}, and no JSON, NDJSON or CSV, which alone are read${text}`
}
