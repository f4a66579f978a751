/** Defines the request that the client sends, and makes its URL. */

import type { IncomingHttpHeaders } from 'node:http'
import { API_PREFIX } from '../../contract/api.ts'
import { LeadsheetError } from '../../errors.ts'
import type { EndpointName, Profile } from '../profile/profile.ts'
import { unescapeId } from '../values/scalar.ts'

export interface Call<T = unknown> {
  /** The body of the answer to a DELETE is ignored. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
  readonly body?: unknown
  /** Sent as the body in place of `body`. */
  readonly form?: URLSearchParams
  /** True for a POST that only reads. It is sent again after a failure, as a GET is. */
  readonly isRead?: boolean
  /** True if the URL is a link of the upstream, whose query is sent as it stands. */
  readonly isLink?: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** The key by which the upstream recognises a repeated POST. A POST that writes and has no key is sent only once. */
  readonly idempotencyKey?: string | undefined
  /**
   * An answer with an error status, or without JSON, is returned as text unless a retry may help (for the
   * probe).
   */
  readonly takesAny?: boolean
  /** An answer with such a status is returned as text; with 204, a missing body as null. */
  readonly takes?: readonly number[]
  /** Throws SyntaxError for a body that is not JSON. */
  readonly parse?: (body: Buffer) => T
  /** Null if the answer is no error. */
  findFault?(status: number, headers: IncomingHttpHeaders, body: T): Fault | null
  /** The hint for a 404, if it is not about the profile. */
  readonly notFoundHint?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** An error in an answer with a good status. The request is sent again, as after a server error. */
export interface Fault {
  /** The words of the answer. */
  readonly said: string
  /** True if the request is wrong, so that it is not sent again. */
  readonly isLasting?: boolean
  /** True if requests come too fast. */
  readonly isThrottled?: boolean
  /** The wait that the error itself asks for, in milliseconds; null if it names none. */
  readonly waitMs?: number | null
}

const NONE = 'none'
const BASE = '.'

export function hasEndpoint(profile: Profile, name: EndpointName): boolean {
  return profile.endpoints[name] !== NONE
}

/**
 * Returns the full URL of an endpoint. If its path begins with `/api/v1`, the part that the base already has
 * (`https://h/api`, `https://h/x/v1`) is not repeated. Any other path is appended to the base. `.` is the
 * base itself. A whole URL replaces the base if its origin is the same. A query of the base is kept.
 * @param id the value of `{id}`, which this function percent-encodes
 * @throws LeadsheetError api_not_found if the profile has no such endpoint or {@link pathStep} refuses the
 * id, config_invalid for a URL of another origin
 */
export function endpointUrl(
  base: string,
  profile: Pick<Profile, 'endpoints'>,
  name: EndpointName,
  id = '',
): URL {
  const path = profile.endpoints[name]
  if (path === NONE) {
    throw new LeadsheetError(
      'api_not_found',
      `The upstream has no ${name} (endpoints.${name} is none in its profile)`,
    )
  }
  const url = new URL(base)
  if (path === BASE) return url
  if (/^https?:\/\//i.test(path)) return sameOrigin(url, new URL(path.replace('{id}', () => pathStep(id))))
  const root = withoutEndSlash(url.pathname)
  const [bare = '', query] = path.replace('{id}', () => pathStep(id)).split('?')
  const tail = bare.startsWith(`${API_PREFIX}/`) ? bare.slice(sharedPrefix(root).length) : bare
  url.pathname = `${root}/${tail.replace(/^\/+/, '')}`
  for (const [key, value] of new URLSearchParams(query)) url.searchParams.set(key, value)
  return url
}

export function withoutEndSlash(path: string): string {
  return path.replace(/(?<!\/)\/+$/, '')
}

/** Ids that cannot be a part of a path, because they would lead to another path even if percent-encoded. */
const NO_STEPS: readonly string[] = ['', '.', '..']

/** @throws LeadsheetError api_not_found for an id that cannot be a part of a path */
export function pathStep(id: string): string {
  if (!NO_STEPS.includes(id)) return encodeURIComponent(unescapeId(id).toWellFormed())
  throw new LeadsheetError(
    'api_not_found',
    `Nothing with the id "${id}" can be asked for: it is no name in a path`,
  )
}

/** A space is sent as %20, because many servers do not read + as a space. A link is sent unchanged. */
export function requestTarget({ pathname, search, searchParams }: URL, isLink = false): string {
  const isOurs = !isLink && search === `?${searchParams}`
  return pathname + (isOurs ? search.replaceAll('+', '%20') : search)
}

/** Sets a parameter and leaves the rest of the query as it stands, which `URLSearchParams` writes anew. */
export function setParameter(url: URL, name: string, value: string): void {
  const pairs = url.search.slice(1).split('&')
  const isNamed = (pair: string): boolean => new URLSearchParams(pair).has(name)
  const at = pairs.findIndex(isNamed)
  const set = new URLSearchParams([[name, value]]).toString()
  const others = pairs.map((pair, index) => (index === at ? set : isNamed(pair) ? '' : pair))
  url.search = [...others, at === -1 ? set : ''].filter((pair) => pair !== '').join('&')
}

/** Refuses a URL whose origin differs from `api.url`, because the request carries the API key. */
function sameOrigin(base: URL, url: URL): URL {
  if (base.origin === url.origin) return url
  throw new LeadsheetError(
    'config_invalid',
    `The profile names ${url.origin}, but api.url (LEADSHEET_API_URL) is on ${base.origin}`,
    { hint: 'Give the endpoint as a path, or set api.url to the origin that the profile was made for.' },
  )
}

function sharedPrefix(root: string): string {
  if (root.endsWith('/v1')) return API_PREFIX
  return root.endsWith('/api') ? '/api' : ''
}
