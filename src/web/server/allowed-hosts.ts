/**
 * The host names that the pages answer to, and paths that stay on them: a page of another site could point a name of its
 * own to this machine, read what is shown here, or send its own forms to us.
 */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

export interface AllowedHosts {
  /** Whether the request is for an allowed host, also by what a trusted proxy says that it was for. */
  isAllowed(request: FastifyRequest): boolean
  /** Whether a page of ours sends the request, as browsers tell. */
  isFromOwnPage(request: FastifyRequest): boolean
  /** Whether the request came through TLS, which ends before us. */
  isSecure(request: FastifyRequest): boolean
}

/**
 * Addresses and `localhost` are always allowed.
 * @param publicUrl under which the pages are reached from outside; null where they are not
 * @param hosts further names, such as that of a container
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

/** The name without its port; an IPv6 address without its brackets. */
function hostName(host: string | undefined): string | undefined {
  return host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '')
}

const NOWHERE = 'http://leadsheet.invalid'

/** @returns path and query of the wanted page; `/` where the link leads to another host */
export function safeRedirect(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return '/'
  const url = URL.parse(wanted, NOWHERE)
  // `/.//elsewhere` is a path here, and the name of a host to a browser that is sent there.
  if (url === null || url.origin !== NOWHERE || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search
}
