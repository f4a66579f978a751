/** The way out of a subscription, for people (a link) and for mail programs (header fields). */
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
