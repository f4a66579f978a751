/**
 * Sessions in a signed cookie: no table holds them, no restart ends one. The key is derived from the token, so that
 * another token ends them all.
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Session } from '../server/signed-in-user.ts'

/** The parts of requests and answers that hold cookies. */
interface Asked {
  readonly headers: { readonly cookie?: string | undefined }
}
interface Answered {
  header(name: string, value: string): unknown
}

export interface Sessions {
  /** Starts a session and gives the browser its cookie. */
  begin(reply: Answered, isSecure: boolean): Session
  /** Null where the cookie is missing, expired or forged. */
  find(request: Asked, isSecure: boolean): Session | null
  /** Has the browser forget the cookie. */
  end(reply: Answered, isSecure: boolean): void
}

/** A working day. */
const SESSION_SECONDS = 12 * 60 * 60
const ID_BYTES = 16
/** The end in seconds, the ID and the signature. */
const VALUE = /^(\d{1,12})\.([\w-]{22})\.([\w-]{43})$/

export function createSessions(token: string, now: () => Date): Sessions {
  const key = new Uint8Array(hkdfSync('sha256', token, '', 'leadsheet dashboard', 32))
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url')
  const sessionOf = (id: string): Session => ({ id, csrfSecret: sign(`form ${id}`) })
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
      const expected = Buffer.from(sign(`session ${ends} ${id}`))
      const isOurs = timingSafeEqual(Buffer.from(signature), expected)
      return isOurs && Number(ends) > seconds() ? sessionOf(id) : null
    },
    end: (reply, isSecure) => void reply.header('Set-Cookie', cookie('', 0, isSecure)),
  }
}

/** Tells one session from another in the log, where the whole ID would let somebody take it over. */
export function shortOf({ id }: Session): string {
  return id.slice(0, 8)
}

/** Browsers accept a `__Host-` cookie only from the host itself and only through TLS (RFC 6265bis, section 4.1.3.2). */
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
