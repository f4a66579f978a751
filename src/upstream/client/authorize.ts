/**
 * Sends the API key: adds the key to a request, refuses to send it without TLS to a public host, and removes
 * it from quoted answers. The profile says in which form the key is sent (`authSchema` in
 * `profile/profile.ts`).
 */
import { BlockList, isIP } from 'node:net'
import { LeadsheetError } from '../../errors.ts'
import { redactor } from '../../redaction.ts'
import type { Profile } from '../profile/profile.ts'
import { setParameter } from './request.ts'

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
  if (auth.query !== undefined) setParameter(url, auth.query, key)
  else if (auth.value !== '') headers[auth.header.toLowerCase()] = fill(auth.value)
}

/**
 * Encodes the key for HTTP Basic (RFC 7617). A key without a colon is the user name; the password is empty.
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
  /** Returns further secrets to remove. It is called for each text. */
  readonly otherSecrets?: () => readonly string[]
}): (text: string) => string {
  return (text) => redactor([apiKey, ...otherSecrets()])(text)
}

/**
 * The address ranges of this machine and of private networks (RFC 1122, 1918, 3927, 4193, 4291). An API key
 * may be sent there without TLS.
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
 * Matches host names that cannot be public (RFC 6761, 6762, 8375), such as `x.local`, or `x` in a container
 * network.
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
