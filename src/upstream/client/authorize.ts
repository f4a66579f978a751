/**
 * Adds the API key to a request, refuses to send it without TLS to a public host, and removes it from quotes.
 */
import { BlockList, isIP } from 'node:net'
import { LeadsheetError } from '../../errors.ts'
import { REDACTED } from '../../redaction.ts'
import type { Profile } from '../profile/profile.ts'
import { setParameter } from './request.ts'

/** Changes `url` and `headers`. `secret` is what `{secret}` stands for, beside the key. */
export function authorize(
  profile: Pick<Profile, 'auth'>,
  key: string,
  url: URL,
  headers: Record<string, string>,
  secret = '',
): void {
  const { auth } = profile
  if (auth === 'none') return
  const fill = (template: string): string =>
    template.replace(/\{(key|basic|secret)\}/g, (_, name: string) =>
      name === 'key' ? key : name === 'basic' ? basicOf(key) : secret,
    )
  for (const [name, value] of Object.entries(auth.headers)) headers[name.toLowerCase()] = fill(value)
  if (auth.query !== undefined) setParameter(url, auth.query, key)
  else if (auth.value !== '') headers[auth.header.toLowerCase()] = fill(auth.value)
}

/** RFC 7617: a key without a colon is the user name, with an empty password. */
export function basicOf(key: string): string {
  return Buffer.from(key.includes(':') ? key : `${key}:`).toString('base64')
}

/** RFC 9110, 5.5, and Latin-1 as in Node. Throws LeadsheetError config_invalid. */
export function refuseUnsendable(profile: Pick<Profile, 'auth'>, key: string, secret = ''): void {
  const headers: Record<string, string> = {}
  authorize(profile, key, new URL('http://localhost'), headers, secret)
  for (const [name, value] of Object.entries(headers)) {
    const sign = UNSENDABLE.exec(value)?.[0]
    if (sign === undefined) continue
    const setting = secret.includes(sign)
      ? 'api.secret (LEADSHEET_API_SECRET)'
      : 'api.key (LEADSHEET_API_KEY)'
    const code = sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    throw new LeadsheetError(
      'config_invalid',
      `${setting} has the character U+${code}, which the header ${name} cannot carry`,
      { hint: 'Copy the key again, without what a web page or a mail has put into it.' },
    )
  }
}

/** Matches a character that the value of a header cannot carry. */
export const UNSENDABLE = /[^\t -~\u{80}-\u{ff}]/u

/** Returns the texts of a key that must not be shown: the key, and the password of `user:password`. */
export function secretsOfKey(key: string): string[] {
  return [key, key.slice(key.indexOf(':') + 1)]
}

/** Takes the key out of its parameter in a link, because the key may be too short to be found by its value. */
export function withoutKey({ auth }: Pick<Profile, 'auth'>, link: string): string {
  if (auth === 'none' || auth.query === undefined) return link
  return link.replace(new RegExp(`([?&]${RegExp.escape(auth.query)}=)[^&#]*`), `$1${REDACTED}`)
}

/** {@link dataRedactor} has taken the key out of the link before it was stored. */
export function withKey(url: URL, key: string): URL {
  return new URL(url.href.replace(/\[redacted\]|%5Bredacted%5D/gi, () => encodeURIComponent(key)))
}

/** RFC 1122, 1918, 3927, 4193, 4291: an API key may be sent there without TLS. */
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

/** RFC 6761, 6762, 8375: names such as `x.local`, or `x` in a container network. */
const OWN_NAMES = /^([^.]+|.*\.(localhost|local|internal|home\.arpa|test))$/

const own = new BlockList()
for (const [network, prefix, family] of OWN_NETWORKS) own.addSubnet(network, prefix, family)

export function isOpenHttp(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  const isOwn = family === 0 ? OWN_NAMES.test(host) : own.check(host, family === 6 ? 'ipv6' : 'ipv4')
  return url.protocol === 'http:' && !isOwn
}

/** @throws LeadsheetError config_invalid for http:// to a host that is not on a private network */
export function refuseOpenHttp(url: URL): void {
  if (!isOpenHttp(url)) return
  throw new LeadsheetError(
    'config_invalid',
    `api.url (LEADSHEET_API_URL) is ${url.protocol}//${url.host}, which would send the API key unencrypted over the internet; https:// was expected`,
    { hint: 'http:// is for this machine and for private networks.' },
  )
}
