/**
 * Checks that requests name an allowed host and that redirects stay on this site, and defines the response
 * headers that restrict what browsers may do with pages, mails and downloads.
 */

import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { MessageFile } from '../../domain/message.ts'

const ALWAYS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
}

/**
 * The headers of recipients' pages. The address of such a page must not be sent to other sites as the
 * referrer, because anyone who knows the address can open the page.
 */
export const PAGE_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'self'", "form-action 'self'"],
    ...["frame-ancestors 'none'", "base-uri 'none'"],
  ]),
  'Referrer-Policy': 'no-referrer',
}

/**
 * The headers of the dashboard. The policy `no-referrer` is not used, because browsers would then send forms
 * without the `Origin` header that the dashboard checks.
 */
export const DASHBOARD_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'self'"],
    ...["img-src 'self'", "frame-src 'self'", "form-action 'self'", "frame-ancestors 'none'"],
    "base-uri 'none'",
  ]),
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
}

/**
 * The headers of a mail that the dashboard shows. Only pages of this site may show the mail in a frame, no
 * script runs, and only the mail's own pictures load.
 */
export const MAIL_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'unsafe-inline'", "img-src 'self' data:", 'sandbox'],
    ...["form-action 'none'", "frame-ancestors 'self'", "base-uri 'none'"],
  ]),
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'SAMEORIGIN',
}

function policy(rules: readonly string[]): string {
  return rules.join('; ')
}

const NAME_LENGTH = 120

/** Sends a file that browsers save and do not show. */
export function sendDownload(
  reply: FastifyReply,
  { name, contentType, content }: Pick<MessageFile, 'name' | 'contentType' | 'content'>,
): FastifyReply {
  return reply
    .headers(MAIL_HEADERS)
    .header('Content-Disposition', dispositionOf(name))
    .type(contentType)
    .send(Buffer.from(content))
}

/**
 * Returns a `Content-Disposition` header (RFC 6266, section 4) with the name in ASCII and in UTF-8.
 * Characters that could end the header, leave the folder or hide the file type are removed or replaced.
 */
export function dispositionOf(name: string): string {
  const safe = name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[/\\:*?"<>|%;]/g, '-')
    .replace(/^[.\s]+/, '')
    .slice(-NAME_LENGTH)
    .toWellFormed()
  const file = safe === '' ? 'file' : safe
  const ascii = file.replace(/[^\x20-\x7e]/g, '_')
  const encoded = encodeURIComponent(file).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

export interface AllowedHosts {
  /**
   * Returns whether the requested host is allowed. If a trusted proxy reports another host, both must be
   * allowed.
   */
  isAllowed(request: FastifyRequest): boolean
  /** Returns whether the browser says that a page of this site sent the request. */
  isFromOwnPage(request: FastifyRequest): boolean
  /** Returns whether the browser used https. TLS ends at a proxy in front of this server. */
  isSecure(request: FastifyRequest): boolean
}

/**
 * Creates the check of the host that a request names. Without this check, another site could point its own
 * host name to this machine and then read pages or send forms. IP addresses and `localhost` are always
 * allowed.
 * @param publicUrl the public address of the pages; null if there is none
 * @param hosts further allowed host names, such as the name of a container
 */
export function createAllowedHosts(publicUrl: string | null, hosts: readonly string[] = []): AllowedHosts {
  const outside = publicUrl === null ? null : new URL(publicUrl)
  const known = ['localhost', ...hosts, ...(outside === null ? [] : [outside.hostname])]
  const isOurs = (host: string | undefined) => {
    const name = hostName(host)
    return name !== undefined && (known.includes(name) || isIP(name) !== 0)
  }
  return {
    isAllowed: (request) => isOurs(request.headers.host) && isOurs(request.host),
    isFromOwnPage: ({ headers, host }) => {
      const { origin, 'sec-fetch-site': site } = headers
      if (site !== undefined && site !== 'same-origin') return false
      if (origin === undefined || origin === 'null') return site !== undefined
      return origin === outside?.origin || URL.parse(origin)?.host === URL.parse(`http://${host}`)?.host
    },
    isSecure: ({ protocol, host }) =>
      protocol === 'https' || (outside?.protocol === 'https:' && hostName(host) === outside.hostname),
  }
}

/** Headers by which proxies say for whom they ask. Browsers send none that begins with `x-` for a page. */
const OF_PROXIES = /^(x-|cf-|cdn-|fastly-|proxy-|true-client-ip$|forwarded$|via$)/
const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/

/**
 * Returns by what a request that came from this machine shows a proxy, which passes on those of strangers; null if by
 * nothing.
 * nginx as it is installed asks by HTTP/1.0 or closes each connection. A proxy that keeps connections, adds no header
 * and asks for a loopback address cannot be told from a browser.
 */
export function signOfProxy({ headers, raw }: FastifyRequest): string | null {
  if (!LOOPBACK.test(hostName(headers.host) ?? '')) return 'asks for another host than a loopback address'
  if (raw.httpVersion === '1.0') return 'is of HTTP/1.0'
  if (headers.connection === 'close') return 'has the header `Connection: close`'
  const header = Object.keys(headers).find((name) => OF_PROXIES.test(name))
  return header === undefined ? null : `has the header \`${header}\``
}

function hostName(host: string | undefined): string | undefined {
  return host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '')
}

const NOWHERE = 'http://leadsheet.invalid'

/** Returns the wanted path and query; `/` if they would lead to another host. */
export function safeRedirect(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return '/'
  const url = URL.parse(wanted, NOWHERE)
  // `URL.parse` takes `/.//elsewhere` for a path, but a browser would go to the host `elsewhere`.
  if (url === null || url.origin !== NOWHERE || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search
}
