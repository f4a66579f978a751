/**
 * Who may see the window: whoever can use this machine, or whoever knows the token. Where it could be reached from
 * outside and there is no token, nobody may.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface Doors {
  /** Where it listens. */
  readonly host: string
  /** Under which it is reached from outside; null where it is not. */
  readonly publicUrl: string | null
  readonly token: string | null
}

/** `look`: nothing can be done. `token`: who signs in may do all. `closed`: a token is needed, and there is none. */
export type Access = 'look' | 'token' | 'closed'

export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/

export function accessOf({ host, publicUrl, token }: Doors): Access {
  if (token !== null) return 'token'
  const isReached =
    !LOOPBACK.test(host) || (publicUrl !== null && !LOOPBACK.test(new URL(publicUrl).hostname))
  return isReached ? 'closed' : 'look'
}

export function createGuard(doors: Doors): Guard {
  const access = accessOf(doors)
  return async (request, reply) => {
    if (access === 'look' && /^(GET|HEAD)$/.test(request.method)) return
    const [, given = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? []
    if (doors.token !== null && isSame(given, doors.token)) return
    return reply.code(access === 'token' ? 401 : 403).send()
  }
}

/** In a time that tells nothing, whatever their lengths. */
function isSame(given: string, expected: string): boolean {
  const [left, right] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return left !== undefined && right !== undefined && timingSafeEqual(left, right)
}
