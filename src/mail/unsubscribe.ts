/** The way out of a preference, for people (a link) and for mail programs (header fields). */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Unsubscribe } from '../model.ts'
import { parseMailbox } from './address.ts'

/** Where a click leads; a mail to write names the report. */
export function unsubscribeLink(unsubscribe: Unsubscribe, report: string): string {
  return unsubscribe.url === null ? mailLink(unsubscribe.mailto, report) : new URL(unsubscribe.url).href
}

/** RFC 2369, 3.2; by RFC 8058 a mail program may also do it by itself, where an https address takes it. */
export function unsubscribeFields(unsubscribe: Unsubscribe, report: string): Record<string, string> {
  const byMail = `<${mailLink(unsubscribe.mailto, report)}>`
  if (unsubscribe.url === null) return { 'List-Unsubscribe': byMail }
  const link = unsubscribeLink(unsubscribe, report)
  return {
    'List-Unsubscribe': `<${link}>, ${byMail}`,
    ...(link.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
  }
}

/** RFC 6068. */
function mailLink(mailto: string, report: string): string {
  const { address } = parseMailbox(mailto)
  const at = address.lastIndexOf('@')
  const to = `${encodeURIComponent(address.slice(0, at))}${address.slice(at)}`
  return `mailto:${to}?subject=${encodeURIComponent(`unsubscribe ${report}`)}`
}

/*
 * What a link in a message proves without any account: that this installation wrote to this address about this report.
 * It does not expire, since a mail is opened years later too, and RFC 8058 (3.1) has its link work whenever that is;
 * what it opens is only whether more such mails come.
 */

export interface LinkSubject {
  readonly address: string
  /** Name of the report. */
  readonly report: string
}

/** First part of a token: how the rest is to be read, and what the signature is for. */
const VERSION = 'preference-1'
const SHAPE = /^([\w-]{1,1024})\.[\w-]{43}$/

/** `<payload>.<signature>`, both base64url (RFC 4648, 5); HMAC-SHA256. */
export function signLink(key: Uint8Array, { address, report }: LinkSubject): string {
  const payload = Buffer.from(JSON.stringify([address, report])).toString('base64url')
  const signature = createHmac('sha256', key).update(`${VERSION}.${payload}`).digest('base64url')
  return `${payload}.${signature}`
}

/** Null for whatever this key has not signed, byte for byte. */
export function readLink(key: Uint8Array, token: string): LinkSubject | null {
  const payload = SHAPE.exec(token)?.[1]
  if (payload === undefined) return null
  const expected = createHmac('sha256', key).update(`${VERSION}.${payload}`).digest('base64url')
  // The texts, not what they decode to: of base64url several may mean the same bytes.
  const isOurs = timingSafeEqual(Buffer.from(`${payload}.${expected}`), Buffer.from(token))
  if (!isOurs) return null
  const [address, report] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string]
  return { address, report }
}
