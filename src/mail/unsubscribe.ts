/**
 * The two ways to unsubscribe: a link for people, and header fields for mail programs. Both contain signed
 * tokens.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Unsubscribe } from '../domain/message.ts'
import { parseMailbox } from './address.ts'

/**
 * Returns the link for people: the URL of the preference page or, if no pages are served, a mail that names
 * the report.
 */
export function unsubscribeLink(unsubscribe: Unsubscribe, report: string): string {
  return unsubscribe.url === null ? mailLink(unsubscribe.mailto, report) : new URL(unsubscribe.url).href
}

/**
 * Returns the header fields of RFC 2369, 3.2. If there is an https address, the fields of RFC 8058 let a mail
 * program unsubscribe by itself.
 */
export function unsubscribeFields(unsubscribe: Unsubscribe, report: string): Record<string, string> {
  const byMail = `<${mailLink(unsubscribe.mailto, report)}>`
  if (unsubscribe.url === null) return { 'List-Unsubscribe': byMail }
  const link = unsubscribeLink(unsubscribe, report)
  return {
    'List-Unsubscribe': `<${link}>, ${byMail}`,
    ...(link.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
  }
}

/** Returns a mailto link (RFC 6068). */
function mailLink(mailto: string, report: string): string {
  const { address } = parseMailbox(mailto)
  const at = address.lastIndexOf('@')
  const to = `${encodeURIComponent(address.slice(0, at))}${address.slice(at)}`
  return `mailto:${to}?subject=${encodeURIComponent(`unsubscribe ${report}`)}`
}

/**
 * The content of a signed link. Without an account, the link proves that this installation wrote to this
 * address about this report. The link does not expire, because people open mails years later and RFC 8058
 * (3.1) wants the link to work then. It gives access only to the preference.
 */

export interface LinkSubject {
  readonly address: string
  /** The name of the report. */
  readonly report: string
}

/** The version of the format of the token. The version is a part of the text that is signed. */
const VERSION = 'preference-1'
const SHAPE = /^([\w-]{1,1024})\.[\w-]{43}$/

/** Makes the token `<payload>.<signature>`, both base64url (RFC 4648, 5), signed with HMAC-SHA256. */
export function signLink(key: Uint8Array, { address, report }: LinkSubject): string {
  const payload = Buffer.from(JSON.stringify([address, report])).toString('base64url')
  const signature = createHmac('sha256', key).update(`${VERSION}.${payload}`).digest('base64url')
  return `${payload}.${signature}`
}

/** Reads a token. Returns null unless this key signed the token, byte for byte. */
export function readLink(key: Uint8Array, token: string): LinkSubject | null {
  const payload = SHAPE.exec(token)?.[1]
  if (payload === undefined) return null
  const expected = createHmac('sha256', key).update(`${VERSION}.${payload}`).digest('base64url')
  // Compares the tokens as texts and not as decoded bytes, because several base64url texts may decode to the
  // same bytes.
  const isOurs = timingSafeEqual(Buffer.from(`${payload}.${expected}`), Buffer.from(token))
  if (!isOurs) return null
  const [address, report] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string]
  return { address, report }
}
