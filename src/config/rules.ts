/**
 * What a value must be beyond its type. Each `…Fault` gives null when all is well, else why not, worded to
 * follow "expected …;" in an error.
 */
import { Cron, CronPattern } from 'croner'
import { nearest } from './nearest.ts'

/** `name@host`; wide enough for any real address, too narrow for a second header or recipient. */
export const ADDRESS = /^[^\s@<>(),;:"\\[\]]+@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u

/** An address, or `Display Name <address>`. */
export function isMailbox(value: string): boolean {
  const named = /^[^<>\r\n"]+ <([^<>]+)>$/.exec(value)
  return ADDRESS.test(named?.[1] ?? value)
}

/** Any moment does: it is where the search for a next run begins. */
const SOME_DAY = new Date('2026-01-01T00:00:00Z')

export function cronFault(expression: string): string | null {
  if (expression.trim().split(/\s+/).length !== 5) return 'it has not five fields'
  let pattern: CronPattern
  try {
    pattern = new CronPattern(expression, undefined, { mode: '5-part' })
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
  }
  if (!pattern.starDOM && !pattern.starDOW) {
    return 'it restricts both day of month and weekday, which some crons read as "and", others as "or"; restrict one'
  }
  return new Cron(expression, { paused: true }).nextRun(SOME_DAY) === null ? 'that day never comes' : null
}

/** Only names of the IANA database: offsets such as `+01:00` know no daylight saving. */
export function timeZoneFault(name: string): string | null {
  try {
    if (/^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name })) return null
  } catch {
    // Intl throws a RangeError for an unknown zone.
  }
  const meant = nearest(name, Intl.supportedValuesOf('timeZone'))
  return meant === null ? 'there is no zone of that name' : `did you mean ${meant}?`
}

export function apiUrlFault(text: string): string | null {
  const url = URL.parse(text)
  if (url === null) return 'it is no URL'
  if (!/^https?:$/.test(url.protocol)) return `the protocol is ${url.protocol}`
  return url.username || url.password ? 'it must not hold a user or password' : null
}

export function mailUrlFault(text: string): string | null {
  const url = URL.parse(text)
  if (url === null) return 'it is no URL'
  if (!isDecodable(url.username + url.password + url.pathname)) return 'a % of its own is written %25'
  if (url.protocol === 'file:') return url.host === '' ? null : 'a file: URL must not name a host'
  if (!/^smtps?:$/.test(url.protocol)) return 'the protocol is another'
  return url.hostname === '' ? 'the host is missing' : null
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
