/**
 * The names under which the pages are asked for: a page of another site could point a name of its own to this machine,
 * and read what is shown here, or send forms of its own to us.
 */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

export interface OwnNames {
  /** Whether it asks for one of ours, also by what a trusted proxy says that it was asked for. */
  isKnown(request: FastifyRequest): boolean
  /** Whether a page of ours sends it, as browsers tell. */
  isFromOwnPage(request: FastifyRequest): boolean
  /** Whether it came through TLS, which ends before us. */
  isSecure(request: FastifyRequest): boolean
}

/**
 * @param publicUrl under which the pages are reached from outside; null where they are not
 * @param hosts further names, such as that of a container
 */
export function createOwnNames(publicUrl: string | null, hosts: readonly string[] = []): OwnNames {
  const outside = publicUrl === null ? null : new URL(publicUrl)
  const known = ['localhost', ...hosts, ...(outside === null ? [] : [outside.hostname])]
  const isOurs = (host: string | undefined) => {
    const name = nameIn(host)
    return name !== undefined && (known.includes(name) || isIP(name) !== 0)
  }
  return {
    isKnown: (request) => isOurs(request.headers.host) && isOurs(request.host),
    isFromOwnPage: ({ headers, host }) => {
      const { origin, 'sec-fetch-site': site } = headers
      const isNamed = origin !== undefined && origin !== 'null'
      if (site !== undefined && site !== 'same-origin') return false
      if (!isNamed) return site !== undefined
      return origin === outside?.origin || URL.parse(origin)?.host === URL.parse(`http://${host}`)?.host
    },
    isSecure: ({ protocol, host }) =>
      protocol === 'https' || (outside?.protocol === 'https:' && nameIn(host) === outside.hostname),
  }
}

/** Of `name:port`; of an IPv6 address without its brackets. */
function nameIn(host: string | undefined): string | undefined {
  return host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '')
}

/* Where one goes on to after a form: pages of ours alone, whatever a link made of the address. */

export const SIGN_IN = '/sign-in'
const NOWHERE = 'http://leadsheet.invalid'

/** @returns path and query as they are asked for; `/` for what leads anywhere else */
export function ownPath(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return '/'
  const url = URL.parse(wanted, NOWHERE)
  // `/.//elsewhere` is a path here, and the name of a host to a browser that is sent there.
  if (url === null || url.origin !== NOWHERE || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search
}

/** The page on which one signs in to see another. */
export function signInPath(wanted: string): string {
  const to = ownPath(wanted)
  return to === '/' ? SIGN_IN : `${SIGN_IN}?${new URLSearchParams({ to })}`
}
