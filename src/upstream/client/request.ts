/**
 * A request as the client takes it, and its address: an endpoint's URL, an id as a step of a path, and the path
 * and query as sent.
 */

import { API_PREFIX } from '../../contract/api.ts'
import { LeadsheetError } from '../../errors.ts'
import type { EndpointName, Profile } from '../profile/profile.ts'

/** A request to the upstream. */
export interface Call<T = unknown> {
  /** A DELETE returns only its status; its body is dropped. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Makes it safe to retry a POST. A POST without a key is sent only once. */
  readonly idempotencyKey?: string | undefined
  /**
   * Tells whether refusals, and bodies that are not JSON, are returned as answers too. Their body is text.
   * The probe uses this.
   */
  readonly takesAny?: boolean
  /** The statuses of refusals that are also returned as answers, with their text as the body. */
  readonly takes?: readonly number[]
  /**
   * Parses the body of a successful answer in place of the JSON parser. Throws SyntaxError for a body that is
   * not JSON.
   */
  readonly parse?: (body: Buffer) => T
  readonly signal?: AbortSignal | undefined
}

const NONE = 'none'
const BASE = '.'

export function hasEndpoint(profile: Profile, name: EndpointName): boolean {
  return profile.endpoints[name] !== NONE
}

/**
 * Returns the full address of an endpoint. The bases `https://h`, `https://h/api`, `https://h/api/v1` and
 * `https://h/x/v1` are joined with paths that begin with `/api/v1` so that no part is repeated. Other paths
 * are appended to the base, `.` is the base itself, and a whole URL on the same origin replaces the base. A
 * query of the base is kept.
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
  const root = url.pathname.replace(/(?<!\/)\/+$/, '')
  const [bare = '', query] = path.replace('{id}', () => pathStep(id)).split('?')
  const tail = bare.startsWith(`${API_PREFIX}/`) ? bare.slice(sharedPrefix(root).length) : bare
  url.pathname = `${root}/${tail.replace(/^\/+/, '')}`
  for (const [key, value] of new URLSearchParams(query)) url.searchParams.set(key, value)
  return url
}

/** Ids that would change the path if they were a step of it, even when they are percent-encoded. */
const NO_STEPS: readonly string[] = ['', '.', '..']

/**
 * Percent-encodes an id as one step of a path.
 * @throws LeadsheetError api_not_found for an id that cannot be a step
 */
export function pathStep(id: string): string {
  if (!NO_STEPS.includes(id)) return encodeURIComponent(id)
  throw new LeadsheetError(
    'api_not_found',
    `Nothing with the id "${id}" can be asked for: it is no name in a path`,
  )
}

/**
 * Returns the path and query as they are sent. A space is written %20, because many servers read the + of
 * HTML forms as a plus sign.
 */
export function requestTarget({ pathname, search, searchParams }: URL): string {
  // A query that differs from `searchParams` comes from a link that the upstream wrote, so it stays
  // unchanged.
  return pathname + (search === `?${searchParams}` ? search.replaceAll('+', '%20') : search)
}

/** Refuses a URL of another origin than `api.url`, because the API key is sent to the URL. */
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
