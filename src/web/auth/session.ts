/**
 * Stores the sign-in session of a user in a signed cookie of the browser, so that sessions survive a restart.
 * The store knows only which sessions were ended. The signing key is derived from the sign-in token, so a new
 * token ends all sessions.
 */
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { Session } from '../server/frame.ts'

interface Answered {
  header(name: string, value: string): unknown
}

export type Sessions = ReturnType<typeof createSessions>

export interface EndedSessions {
  has(id: string): Promise<boolean>
  /** @param expiresAt when the session would have ended by itself; it may be forgotten then */
  add(id: string, expiresAt: Date, now: Date): Promise<void>
}

// A session lasts a working day.
const SESSION_SECONDS = 12 * 60 * 60
const ID_BYTES = 16
// Matches the value of the cookie: the end of the session in Unix seconds, the session's ID and the
// signature.
const VALUE = /^(\d{1,12})\.([\w-]{22})\.([\w-]{43})$/

export function createSessions(token: string, ended: EndedSessions, now: () => Date) {
  const key = new Uint8Array(hkdfSync('sha256', token, '', 'leadsheet dashboard', 32))
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url')
  const sessionOf = (id: string): Session => ({ id, csrfSecret: sign(`form ${id}`) })
  const seconds = () => Math.floor(now().getTime() / 1000)
  return {
    /** Starts a session and sends its cookie to the browser. */
    begin: (reply: Answered, isSecure: boolean): Session => {
      const ends = seconds() + SESSION_SECONDS
      const id = randomBytes(ID_BYTES).toString('base64url')
      const value = `${ends}.${id}.${sign(`session ${ends} ${id}`)}`
      reply.header('Set-Cookie', cookie(value, SESSION_SECONDS, isSecure))
      return sessionOf(id)
    },
    /** Returns the session of a request; null if the cookie is missing, expired, forged or of an ended session. */
    find: async (
      { headers }: Pick<FastifyRequest, 'headers'>,
      isSecure: boolean,
    ): Promise<Session | null> => {
      const value = cookieIn(headers.cookie, nameOf(isSecure))
      const [, ends, id, signature] = VALUE.exec(value ?? '') ?? []
      if (ends === undefined || id === undefined || signature === undefined) return null
      const expected = Buffer.from(sign(`session ${ends} ${id}`))
      const isOurs = timingSafeEqual(Buffer.from(signature), expected)
      return isOurs && Number(ends) > seconds() && !(await ended.has(id)) ? sessionOf(id) : null
    },
    /** Ends a session everywhere, and makes the browser delete the cookie. */
    end: async ({ id }: Session, reply: Answered, isSecure: boolean): Promise<void> => {
      await ended.add(id, new Date((seconds() + SESSION_SECONDS) * 1000), now())
      reply.header('Set-Cookie', cookie('', 0, isSecure))
    },
  }
}

/**
 * Returns the beginning of the session's ID, which identifies the session in the log. The whole ID is not
 * logged, because it is a part of the session's cookie.
 */
export function shortOf({ id }: Session): string {
  return id.slice(0, 8)
}

/**
 * Returns the cookie's name. Browsers accept a `__Host-` cookie only from the host itself and only over TLS
 * (RFC 6265bis, section 4.1.3.2).
 */
function nameOf(isSecure: boolean): string {
  return isSecure ? '__Host-leadsheet' : 'leadsheet'
}

function cookie(value: string, maxAge: number, isSecure: boolean): string {
  const rules = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  return `${nameOf(isSecure)}=${value}; ${rules}`
}

function cookieIn(header: string | undefined, name: string): string | undefined {
  const found = header?.split(';').find((pair) => pair.trim().startsWith(`${name}=`))
  return found?.trim().slice(name.length + 1)
}

/*
 * Checks a token in constant time. Each wrong token delays its answer, and a network with too many different
 * wrong tokens is locked for a while. The same wrong token counts once, so that a machine with an old token
 * locks nobody out.
 */

type Verdict = 'right' | 'wrong' | 'too_many'

export type TokenCheck = ReturnType<typeof createTokenCheck>

// The number of different wrong tokens after which a network is locked. Even the right token is then refused,
// so that the answer reveals nothing.
const WRONG_MAX = 10
export const LOCKED_SECONDS = 300
const WAIT_MS = 250
const WAIT_MS_MAX = 2_000

/** @param wait waits before a wrong token is answered; tests replace it */
export function createTokenCheck(
  token: string,
  now: () => Date,
  wait: (ms: number) => Promise<unknown> = sleep,
) {
  const expected = digestOf(token)
  const wrong = new Map<string, { readonly digests: Set<string>; readonly until: number }>()
  return {
    /** Checks a token that the IP address `address` sent. */
    judge: async (given: string, address: string): Promise<Verdict> => {
      const at = now().getTime()
      for (const [network, { until }] of wrong) if (until <= at) wrong.delete(network)
      // All addresses of a /64 network of IPv6 count as one, because one customer usually has them all.
      const { normalizeIP } = await import('@fastify/rate-limit')
      const network = normalizeIP(address)
      const tries = wrong.get(network) ?? { digests: new Set(), until: at + LOCKED_SECONDS * 1000 }
      if (tries.digests.size >= WRONG_MAX) return 'too_many'
      const digest = digestOf(given)
      if (timingSafeEqual(digest, expected)) {
        wrong.delete(network)
        return 'right'
      }
      tries.digests.add(digest.toString('base64'))
      wrong.set(network, tries)
      await wait(Math.min(tries.digests.size * WAIT_MS, WAIT_MS_MAX))
      return 'wrong'
    },
  }
}

/** Returns a digest of a token, because `timingSafeEqual` needs inputs of equal length. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
