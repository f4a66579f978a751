/** Checks the API key, its scope and its rate limit before the body is read. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findApiKey } from '../store/api-key.ts'
import type { ServiceDatabase } from '../store/database.ts'
import type { KeyScope } from '../store/tables.ts'
import { ProblemError } from './problem.ts'

/**
 * Checks the API key of a request and counts the request.
 * @returns the id of the key
 * @throws ProblemError unauthorized, rate_limited, forbidden
 */
export async function authenticate(
  db: ServiceDatabase,
  limiter: RateLimiter,
  scope: KeyScope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const shown = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
  const key = shown === undefined ? undefined : await findApiKey(db, shown)
  if (key === undefined) throw unauthorized(request.headers.authorization, shown)
  const { isAllowed, limit, remaining, resetSeconds } = limiter.count(key.id)
  reply.headers({
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': resetSeconds,
  })
  if (!isAllowed) {
    throw new ProblemError(
      'rate_limited',
      `This key may make ${limit} requests a minute; the next minute begins in ${resetSeconds} s.`,
      { headers: { 'retry-after': String(resetSeconds) } },
    )
  }
  if (scope === 'write' && key.scope !== 'write') {
    throw new ProblemError('forbidden', 'This key may only read; the request needs a key of scope write.')
  }
  return key.id
}

/** Makes the refusal. Its text says only what is wrong with the header, never whether a key exists. */
function unauthorized(header: string | undefined, shown: string | undefined): ProblemError {
  const [detail, challenge] =
    header === undefined
      ? ['The request has no Authorization header; send "Authorization: Bearer <key>".', '']
      : shown === undefined
        ? ['The Authorization header is not of the form "Bearer <key>".', ', error="invalid_request"']
        : ['The API key is unknown or has been revoked.', ', error="invalid_token"']
  return new ProblemError('unauthorized', detail, {
    headers: { 'www-authenticate': `Bearer realm="lead pipeline service"${challenge}` },
  })
}

/** Limits the requests of a key per minute. Requests are counted in memory, in fixed windows of a minute. */

export interface RateLimiter {
  /** Counts one request of a key, and returns whether it is allowed. */
  count(keyId: string): RateVerdict
}

interface RateVerdict {
  readonly isAllowed: boolean
  readonly limit: number
  /** The requests left in this window. */
  readonly remaining: number
  /** The seconds until the next window, at least 1. */
  readonly resetSeconds: number
}

const WINDOW_MS = 60_000

export function createRateLimiter(perMinute: number, now: () => number): RateLimiter {
  const counts = new Map<string, number>()
  let window = Number.NaN
  return {
    count: (keyId) => {
      const at = now()
      const current = Math.floor(at / WINDOW_MS)
      if (current !== window) counts.clear()
      window = current
      const used = (counts.get(keyId) ?? 0) + 1
      counts.set(keyId, used)
      return {
        isAllowed: used <= perMinute,
        limit: perMinute,
        remaining: Math.max(0, perMinute - used),
        resetSeconds: Math.ceil(((current + 1) * WINDOW_MS - at) / 1000),
      }
    },
  }
}
