/** Where the endpoints of an upstream are. */
import { API_PREFIX } from '../../contract/paths.ts'
import { LeadsheetError } from '../../errors.ts'
import type { EndpointName, Profile } from '../profile/profile.ts'

const NONE = 'none'
const BASE = '.'

export function hasEndpoint(profile: Profile, name: EndpointName): boolean {
  return profile.endpoints[name] !== NONE
}

/**
 * The full address of an endpoint. The service's document gives a base that ends in `v1` and paths that begin
 * with `/api/v1`; so a base of `https://h`, `https://h/api`, `https://h/api/v1` or `https://h/x/v1` all reach
 * the same place. Other paths are put behind the base as they are, `.` is the base itself, and a whole URL
 * stands for itself, on the same origin. A query of the base stays.
 * @param id for `{id}`, percent-encoded here
 * @throws LeadsheetError api_not_found where the profile says that there is no such endpoint and as
 * {@link pathStep}, config_invalid for a URL of another origin
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

/** As a step of a path they lead to another one, in whatever form they are written. */
const NO_STEPS: readonly string[] = ['', '.', '..']

/**
 * An id as one step of a path, percent-encoded.
 * @throws LeadsheetError api_not_found for one that is none
 */
export function pathStep(id: string): string {
  if (!NO_STEPS.includes(id)) return encodeURIComponent(id)
  throw new LeadsheetError(
    'api_not_found',
    `Nothing with the id "${id}" can be asked for: it is no name in a path`,
  )
}

/** Path and query as they are sent: a space of ours is %20, since many servers take the + of HTML forms for a plus. */
export function requestTarget({ pathname, search, searchParams }: URL): string {
  // What is not in the form of searchParams is a link as the upstream wrote it.
  return pathname + (search === `?${searchParams}` ? search.replaceAll('+', '%20') : search)
}

/** The key goes along, and belongs to the origin that api.url names. */
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
