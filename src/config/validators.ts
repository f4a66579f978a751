/**
 * Rules for values beyond their type. Each `…Fault` returns null for a valid value, else the reason, worded
 * to follow "expected …;" in an error.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { ATTACHED_FORMATS } from '../domain/choices.ts'
import { ATTACHED_LISTS } from '../report/blocks/registry.ts'
import { hasWordsIn, LANGUAGES } from '../report/words/catalogue.ts'
import { parseExpression } from '../schedule/timing.ts'
import { WORDS } from '../schedule/words.ts'
import { isDecodable } from '../store/db/place.ts'
import { nearest } from './nearest.ts'

/** An address `name@host`. The pattern takes any real address, but no second header or recipient. */
export const ADDRESS = /^[^\s@<>(),;:"\\[\]]+@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u

/** Whether a text is an address, or `Display Name <address>`. */
export function isMailbox(value: string): boolean {
  const named = /^[^<>\r\n"]+ <([^<>]+)>$/.exec(value)
  return ADDRESS.test(named?.[1] ?? value)
}

/** Checks a cron expression of five fields, or words such as `every weekday at 07:00`. */
export function scheduleFault(text: string): string | null {
  const parsed = parseExpression(text, [])
  if (!('fault' in parsed)) return null
  const meant = parsed.unknown === undefined ? null : nearest(parsed.unknown, WORDS)
  return meant === null ? parsed.fault : `${parsed.fault}; did you mean ${meant}?`
}

/** Accepts only names of the IANA database, because offsets such as `+01:00` have no daylight saving. */
export function timeZoneFault(name: string): string | null {
  try {
    if (/^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name })) return null
  } catch {
    // Intl throws a RangeError for an unknown zone.
  }
  const meant = nearest(name, Intl.supportedValuesOf('timeZone'))
  return meant === null ? 'there is no zone of that name' : `did you mean ${meant}?`
}

/** Checks for a BCP 47 tag with a language that reports are written in. */
export function localeFault(tag: string): string | null {
  try {
    return hasWordsIn(tag) ? null : `reports are written in ${new Intl.ListFormat('en').format(LANGUAGES)}`
  } catch {
    // Intl throws a RangeError for a text that is no tag at all.
    return 'it is no such tag'
  }
}

export function dateFault(text: string): string | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return 'it is written otherwise'
  const at = Date.parse(text)
  const isReal = Number.isFinite(at) && new Date(at).toISOString().startsWith(text)
  return isReal ? null : 'there is no such day'
}

export function leadUrlFault(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'it must begin with http:// or https://'
  const placeholders = text.match(/{[^{}]*}/g) ?? []
  if (placeholders.length === 0) return '{id} is missing'
  const unknown = placeholders.find((placeholder) => placeholder !== '{id}')
  return unknown === undefined ? null : `${unknown} is no placeholder`
}

export function apiUrlFault(text: string): string | null {
  const url = URL.parse(text)
  if (url === null) return 'it is no URL'
  if (!/^https?:$/.test(url.protocol)) return `the protocol is ${url.protocol}`
  return url.username || url.password ? 'it must not hold a user or password' : null
}

/** The names of this machine. */
export const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Refuses unencrypted addresses of alerts, because anyone who knows such an address can write there. */
export function alertUrlFault(text: string): string | null {
  const url = URL.parse(text)
  if (url === null) return 'it is no URL'
  if (!/^https?:$/.test(url.protocol)) return `the protocol is ${url.protocol}`
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    return 'http:// shows it to everyone on the way'
  if (url.username || url.password) return 'it must not hold a user or password'
  return url.hash === '' ? null : 'what stands behind # is never sent'
}

export function mailUrlFault(text: string): string | null {
  const url = URL.parse(text)
  if (url === null) return 'it is no URL'
  if (!isDecodable(url.username + url.password + url.pathname)) return 'a % of its own is written %25'
  if (url.protocol === 'file:') return url.host === '' ? null : 'a file: URL must not name a host'
  if (!/^smtps?:$/.test(url.protocol)) return 'the protocol is another'
  return url.hostname === '' ? 'the host is missing' : null
}

/** RFC 8301, 3.2: signatures of shorter keys do not count. */
const DKIM_BITS_MIN = 1024

export function dkimKeyFault(pem: string): string | null {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    return /ENCRYPTED/.test(pem) ? 'it is locked by a passphrase' : 'it is none'
  }
  if (key.asymmetricKeyType !== 'rsa') return `it is of the type ${key.asymmetricKeyType}`
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  return bits < DKIM_BITS_MIN ? `it has ${bits} bits` : null
}

/** Accepts the charts, or a list of the report or a query of its folder in a known format. */
export function attachmentFault(name: string): string | null {
  if (name === 'charts') return null
  const [, list, format] = /^([\w-]+)\.(\w+)$/.exec(name) ?? []
  if (list === undefined) return 'it is neither'
  if (!ATTACHED_FORMATS.some((known) => known === format)) return `.${format} is no format of it`
  const meant = nearest(list, ATTACHED_LISTS)
  // Only the report's folder knows the names of its queries.
  return meant === null || meant === list || list.includes('-') ? null : `did you mean ${meant}.${format}?`
}
