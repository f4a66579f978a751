/** Checks the key, scope and rate limit of a request. The database has only a digest of a key. */

import { createHash, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyScope, ServiceDatabase } from '../store/database.ts'
import { ProblemError } from './endpoint.ts'

/**
 * Checks the API key of a request, and counts the request for the rate limit of the key.
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

/**
 * The text is the same for each reason.
 * @param shown the key; undefined if the header does not have the form `Bearer <key>`
 */
function unauthorized(header: string | undefined, shown: string | undefined): ProblemError {
  const [detail, challenge] =
    header === undefined
      ? ['The request has no Authorization header; send "Authorization: Bearer <key>".', '']
      : shown === undefined
        ? ['The Authorization header is not of the form "Bearer <key>".', ', error="invalid_request"']
        : ['The API key is unknown.', ', error="invalid_token"']
  return new ProblemError('unauthorized', detail, {
    headers: { 'www-authenticate': `Bearer realm="lead pipeline service"${challenge}` },
  })
}

export type RateLimiter = ReturnType<typeof createRateLimiter>

const WINDOW_MS = 60_000

/** Limits how many requests a key may send per minute. The counts are only in memory. */
export function createRateLimiter(perMinute: number, now: () => number) {
  const counts = new Map<string, number>()
  let window = Number.NaN
  return {
    /** Counts one request of a key, and returns whether it is allowed. */
    count: (keyId: string) => {
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
        /** The seconds until the next minute begins, at least 1. */
        resetSeconds: Math.ceil(((current + 1) * WINDOW_MS - at) / 1000),
      }
    },
  }
}

/** Only its digest is stored; the returned key cannot be read again. */
export async function createApiKey(
  db: ServiceDatabase,
  given: { readonly name: string; readonly scope: KeyScope },
  now: number,
): Promise<string> {
  const key = `lsk_${randomBytes(24).toString('base64url')}`
  await db
    .insertInto('api_key')
    .values({
      id: `key_${randomBytes(6).toString('hex')}`,
      name: given.name,
      scope: given.scope,
      sha256: digest(key),
      created_at: now,
    })
    .execute()
  return key
}

/** Finds the stored API key that matches a sent key; undefined if that key is unknown. */
async function findApiKey(
  db: ServiceDatabase,
  key: string,
): Promise<{ readonly id: string; readonly scope: KeyScope } | undefined> {
  return db.selectFrom('api_key').select(['id', 'scope']).where('sha256', '=', digest(key)).executeTakeFirst()
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
