/**
 * Builds requests: the address of an endpoint, how the API key is sent, and to which hosts the key may be
 * sent without TLS.
 */

import { BlockList, isIP } from 'node:net'
import { API_PREFIX } from '../../contract/api.ts'
import { LeadsheetError } from '../../errors.ts'
import { redactor } from '../../redaction.ts'
import type { EndpointName, Profile } from '../profile/profile.ts'

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

/** Adds the API key and the profile's fixed headers to a request. Changes `url` and `headers`. */
export function authorize(
  profile: Pick<Profile, 'auth'>,
  key: string,
  url: URL,
  headers: Record<string, string>,
): void {
  const { auth } = profile
  if (auth === 'none') return
  const fill = (template: string): string =>
    template.replaceAll('{key}', () => key).replaceAll('{basic}', () => basicOf(key))
  for (const [name, value] of Object.entries(auth.headers)) headers[name.toLowerCase()] = fill(value)
  if (auth.query !== undefined) url.searchParams.set(auth.query, key)
  else if (auth.value !== '') headers[auth.header.toLowerCase()] = fill(auth.value)
}

/**
 * Encodes the key for HTTP Basic (RFC 7617). A key without a colon is the user name, with an empty password.
 */
export function basicOf(key: string): string {
  return Buffer.from(key.includes(':') ? key : `${key}:`).toString('base64')
}

/** Returns a function that removes the secrets from the text of an answer. */
export function redactorOf({
  apiKey,
  otherSecrets = () => [],
}: {
  readonly apiKey: string
  /** Further secrets, read anew for each text. */
  readonly otherSecrets?: () => readonly string[]
}): (text: string) => string {
  return (text) => redactor([apiKey, ...otherSecrets()])(text)
}

/**
 * The loopback, private and link-local ranges (RFC 1122, 1918, 3927, 4193, 4291), to which an API key may be
 * sent without TLS.
 */
const OWN_NETWORKS = [
  ['127.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['::1', 128, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
] as const

/**
 * Matches names that no public DNS server resolves (RFC 6761, 6762, 8375), and the names of container
 * networks.
 */
const OWN_NAMES = /^([^.]+|.*\.(localhost|local|internal|home\.arpa|test))$/

const own = new BlockList()
for (const [network, prefix, family] of OWN_NETWORKS) own.addSubnet(network, prefix, family)

/**
 * Refuses to send the API key unencrypted to a public host.
 * @throws LeadsheetError config_invalid for http:// to a host that is neither this machine nor on a private
 * network
 */
export function refuseOpenHttp(url: URL): void {
  if (url.protocol === 'https:') return
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  const isOwn = family === 0 ? OWN_NAMES.test(host) : own.check(host, family === 6 ? 'ipv6' : 'ipv4')
  if (isOwn) return
  throw new LeadsheetError(
    'config_invalid',
    `api.url (LEADSHEET_API_URL) is ${url.protocol}//${url.host}, which would send the API key unencrypted over the internet; https:// was expected`,
    { hint: 'http:// is for this machine and for private networks.' },
  )
}
