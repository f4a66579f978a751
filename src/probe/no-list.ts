/** Why an answer is no list that could be read, where it tells: by its status, what it allows, its type. Pure. */
import { problemText, quote } from '../upstream/client/body.ts'
import type { Reply } from './ask.ts'
import { wantsKey } from './auth-probe.ts'
import { evidenceOf } from './evidence.ts'

/** Null where it says no more than that nothing is there, or that a key is wanted. */
export function whyNoList(reply: Reply): string | null {
  const { status, headers, body, url } = reply
  const isFine = status >= 200 && status <= 299
  if (status === 404 || status === 410 || (status >= 300 && status < 400) || wantsKey(reply)) return null
  if (isFine && typeof body !== 'string') return null
  const whole = typeof body === 'string' ? body : JSON.stringify(body)
  const said = isFine ? quote(whole) : problemText(whole)
  const text = said === '' ? '' : `: ${said}`
  if (!isFine && (/graphql/i.test(url.pathname) || /graphql|must provide (a )?query/i.test(said)))
    return `${evidenceOf(reply)}${text}: this is GraphQL; only a list that a GET gives as JSON is read`
  const allow = headers.allow === undefined ? '' : `Allow: ${headers.allow}`
  if (status === 405 || (allow !== '' && !/\bGET\b/i.test(allow)))
    return `${evidenceOf(reply, allow)}: it takes no GET; only a list that a GET gives as JSON is read`
  if (!isFine) return `${evidenceOf(reply)}${text}`
  const type = headers['content-type']?.split(';')[0]?.trim() ?? 'no content type'
  return `${evidenceOf(reply, type)}, and no JSON, which alone is read${text}`
}
