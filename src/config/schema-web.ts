/**
 * The schema of the settings `web` (web pages for operators and recipients) and `events` (webhooks from the
 * upstream), and the rule that decides who may see the dashboard.
 */
import { isIP } from 'node:net'
import type { Secret } from './secrets.ts'
import { group, LOOPBACK, listOf, named, path, secret, section, setting, text } from './validators.ts'

/** The value of `web.listen` that turns all web pages off. */
const NONE = 'none'
const TOKEN_LENGTH = 16

const webGroup = group({
  listen: setting(
    'Address and port of the pages, or none for no pages. They are http: put a reverse proxy before them for TLS.',
    text('an address and a port, such as 127.0.0.1:8080, or none', listenFault)
      .default('127.0.0.1:8080')
      .transform(listenAddress),
    { env: 'LEADSHEET_WEB_LISTEN' },
  ),
  public_url: setting(
    'Public https address of the pages. Recipients pause or end their reports there, and the service sends its events there; if absent, recipients do so by mail.',
    text('an https:// address without a path', publicUrlFault)
      .transform((url) => new URL(url).origin)
      .optional(),
    { examples: ['https://reports.example.com'] },
  ),
  allowed_hosts: setting(
    'More host names that the pages answer to, such as that of a container. IP addresses, localhost and the host of public_url always work.',
    listOf(text('the name of a host, without a port', hostFault), 'a list of host names').default([]),
    { examples: [['leadsheet']] },
  ),
  trusted_proxies: setting(
    'Proxies whose headers X-Forwarded-For, -Host and -Proto are believed: addresses, networks, or the names loopback, linklocal and uniquelocal.',
    listOf(
      text('an address, a network such as 172.16.0.0/12, or loopback, linklocal or uniquelocal', proxyFault),
      'a list of addresses and networks',
    ).default([]),
    { examples: [['loopback', '172.16.0.0/12']] },
  ),
  token: setting(
    'Token with which operators sign in to the dashboard, of at least 16 characters. If absent, only this machine sees the dashboard, without actions and through no proxy, and nobody sees it if it can be reached from outside. Keep the token out of this file: see token_file.',
    secret(`a text of at least ${TOKEN_LENGTH} characters`, tokenFault).optional(),
    { env: 'LEADSHEET_WEB_TOKEN' },
  ),
  token_file: setting('File that holds the token, in place of token.', path.optional()),
}).superRefine(({ listen, public_url }, context) => {
  if (listen !== null || public_url === undefined) return
  const message = 'none where web.listen is none, since no pages are served then'
  context.addIssue({ code: 'custom', path: ['public_url'], message, input: public_url })
})
export const webSchema = named(webGroup)

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Parses a valid address such as `127.0.0.1:8080` or `[::]:8080`; null for `none`. */
function listenAddress(listen: string): ListenAddress | null {
  if (listen === NONE) return null
  const { hostname, port } = new URL(`tcp://${listen}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** Formats an address as the settings write it, such as `127.0.0.1:8080`; null becomes `none`. */
export function listenText(listen: ListenAddress | null): string {
  if (listen === null) return NONE
  const { host, port } = listen
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

function listenFault(value: string): string | null {
  if (value === NONE) return null
  if (!/^(\[[\da-f:.]+\]|[a-z\d.-]+):\d+$/i.test(value)) return 'it is written otherwise'
  return URL.canParse(`tcp://${value}`) ? null : 'there is no such address'
}

function publicUrlFault(value: string): string | null {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'it must begin with https://'
  if (url.username || url.password) return 'it must not hold a user or password'
  if (url.pathname !== '/' || url.search || url.hash) return 'nothing may come after the host'
  // Without TLS, an eavesdropper on the network could pause or change the reports of recipients.
  return url.protocol === 'https:' || LOOPBACK.test(url.hostname) ? null : 'http:// is only for this machine'
}

function tokenFault(value: string): string | null {
  if (/\s/.test(value)) return 'there must be no space in it'
  return value.length >= TOKEN_LENGTH ? null : 'it is shorter'
}

function hostFault(value: string): string | null {
  return /^[a-z\d_]([a-z\d._-]*[a-z\d_])?$/.test(value)
    ? null
    : 'it is lower-case letters, digits, dots and hyphens'
}

/** Names of address ranges that Fastify accepts in place of a network address. */
const PROXY_NAMES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal']

function proxyFault(value: string): string | null {
  const [address = '', bits, ...more] = value.split('/')
  if (PROXY_NAMES.includes(value)) return null
  const kind = isIP(address)
  if (kind === 0) return 'this is neither'
  if (bits === undefined) return null
  const isLength = more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (kind === 4 ? 32 : 128)
  return isLength ? null : `there is no network /${[bits, ...more].join('/')}`
}

interface Doors {
  readonly listen: ListenAddress
  /** The public URL of the pages; null if none is set. */
  readonly publicUrl: string | null
  /** Host names to which the dashboard answers, in addition to the names that are always allowed. */
  readonly allowedHosts: readonly string[]
  readonly hasToken: boolean
}

/**
 * The people who may see the dashboard. `look`: everybody on this machine, but without actions. `token`:
 * signed-in users, with actions. `closed`: nobody, because the dashboard can be reached from outside without
 * a token.
 */
type DashboardAccess = 'look' | 'token' | 'closed'

export const TOKEN_REMEDY =
  'Set web.token_file (LEADSHEET_WEB_TOKEN_FILE) to a file that holds a token, such as `openssl rand -hex 24` makes.'

export const PROXY_REMEDY = 'Name the proxy before the pages in web.trusted_proxies, such as [loopback].'

/**
 * Returns whether a warning is about the pages. Only commands that serve or check the dashboard
 * show such a warning.
 */
export function isAboutDashboard(warning: string): boolean {
  return warning.includes(TOKEN_REMEDY) || warning.includes(PROXY_REMEDY)
}

export function dashboardAccess({ listen, publicUrl, allowedHosts, hasToken }: Doors): DashboardAccess {
  if (hasToken) return 'token'
  const outside = publicUrl === null ? [] : [new URL(publicUrl).hostname]
  return [listen.host, ...allowedHosts, ...outside].every((host) => host === '::1' || LOOPBACK.test(host))
    ? 'look'
    : 'closed'
}

const SECRET_LENGTH = 8

export const eventsSchema = section({
  secret: setting(
    'The secret of a webhook that you registered at the service by hand. While you rotate secrets, give all, one a line. Keep it out of this file: see secret_file.',
    secret(`texts of at least ${SECRET_LENGTH} characters, one a line`, secretFault, 'lines').optional(),
    { env: 'LEADSHEET_EVENTS_SECRET' },
  ),
  secret_file: setting('File that holds the secret or secrets, in place of secret.', path.optional()),
})

/** Splits the setting `events.secret` into its secrets; each line is one secret. */
export function eventSecrets(secret: Secret | null): string[] {
  return secret === null ? [] : linesOf(secret.reveal())
}

function secretFault(value: string): string | null {
  const shortest = Math.min(...linesOf(value).map(({ length }) => length))
  return shortest < SECRET_LENGTH ? 'one is shorter' : null
}

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
