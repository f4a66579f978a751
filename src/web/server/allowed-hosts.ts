/**
 * Checks that a request names an allowed host, and that redirects stay on this site. Without these checks,
 * another site could point its own host name to this machine, read the pages, or send forms to it.
 */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

export interface AllowedHosts {
  /** Returns whether the host is allowed, including the host that a trusted proxy reports. */
  isAllowed(request: FastifyRequest): boolean
  /** Returns whether the browser says that a page of this site sent the request. */
  isFromOwnPage(request: FastifyRequest): boolean
  /** Returns whether the request came over TLS, which ends at a proxy. */
  isSecure(request: FastifyRequest): boolean
}

/**
 * Creates the check. IP addresses and `localhost` are always allowed.
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

/** Returns the host without its port. An IPv6 address is returned without its brackets. */
function hostName(host: string | undefined): string | undefined {
  return host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '')
}

const NOWHERE = 'http://leadsheet.invalid'

/** @returns the path and query of the wanted page, or `/` if the link leads to another host */
export function safeRedirect(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return '/'
  const url = URL.parse(wanted, NOWHERE)
  // `/.//elsewhere` is a path to this parser, but a browser would go to the host `elsewhere`.
  if (url === null || url.origin !== NOWHERE || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search
}
