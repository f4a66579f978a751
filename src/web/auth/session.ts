/** Whether somebody knows a secret text. */
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Session } from '../server/signed-in-user.ts'

/** In a time that tells nothing of the one that is expected, not even its length. */
export function isSameText(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected))
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/*
 * Sessions of operators, kept by their browsers alone: what a cookie says is ours is told by a key that is drawn from
 * the token, so that another token ends them all.
 */

/** What of requests and answers is needed for their cookies. */
interface Asked {
  readonly headers: { readonly cookie?: string | undefined }
}
interface Answered {
  header(name: string, value: string): unknown
}

export interface Sessions {
  /** Gives the browser a session of its own. */
  begin(reply: Answered, isSecure: boolean): Session
  /** Null where the browser has none, or one that is over or not ours. */
  find(request: Asked, isSecure: boolean): Session | null
  /** Has the browser forget it. */
  end(reply: Answered, isSecure: boolean): void
}

/** A working day; then one signs in again. */
const SESSION_SECONDS = 12 * 60 * 60
const ID_BYTES = 16
const VALUE = /^(\d{1,12})\.([\w-]{22})\.([\w-]{43})$/

export function createSessions(token: string, now: () => Date): Sessions {
  const key = new Uint8Array(hkdfSync('sha256', token, '', 'leadsheet dashboard', 32))
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url')
  const sessionOf = (id: string): Session => ({ id, formToken: sign(`form ${id}`) })
  const seconds = () => Math.floor(now().getTime() / 1000)
  return {
    begin: (reply, isSecure) => {
      const ends = seconds() + SESSION_SECONDS
      const id = randomBytes(ID_BYTES).toString('base64url')
      const value = `${ends}.${id}.${sign(`session ${ends} ${id}`)}`
      reply.header('Set-Cookie', cookie(value, SESSION_SECONDS, isSecure))
      return sessionOf(id)
    },
    find: (request, isSecure) => {
      const value = cookieIn(request.headers.cookie, nameOf(isSecure))
      const [, ends, id, signature] = VALUE.exec(value ?? '') ?? []
      if (ends === undefined || id === undefined || signature === undefined) return null
      const isOurs = isSameText(signature, sign(`session ${ends} ${id}`))
      return isOurs && Number(ends) > seconds() ? sessionOf(id) : null
    },
    end: (reply, isSecure) => void reply.header('Set-Cookie', cookie('', 0, isSecure)),
  }
}

/** By which the log tells one session from another, and nobody can take it over. */
export function shortOf({ id }: Session): string {
  return id.slice(0, 8)
}

/** Browsers take a cookie of the first name only from the host itself, and only through TLS (RFC 6265bis, 4.1.3.2). */
function nameOf(isSecure: boolean): string {
  return isSecure ? '__Host-leadsheet' : 'leadsheet'
}

function cookie(value: string, maxAge: number, isSecure: boolean): string {
  const rules = [
    'Path=/',
    `Max-Age=${maxAge}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ]
  return [`${nameOf(isSecure)}=${value}`, ...rules].join('; ')
}

function cookieIn(header: string | undefined, name: string): string | undefined {
  const found = header?.split(';').find((pair) => pair.trim().startsWith(`${name}=`))
  return found?.trim().slice(name.length + 1)
}
