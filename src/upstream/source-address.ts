/** Writes which list of which account the leads are read from, so that two sources can be told apart. */
import { withoutNamedSecrets } from '../redaction.ts'
import type { Profile } from './profile/profile.ts'

/** The parameters that choose fields, page sizes or an order, and therefore no other leads. */
const SHAPING =
  /^[$_]?(fields?|select|expand|include|embed|populate|columns?|properties|format|per_?page|page_?size|limit|top|sort\w*|order(_?by)?)(\[|$)/i

/** The fixed headers by which one address serves several accounts, such as `X-Tenant-Id`. */
const OF_ACCOUNT = /account|tenant|org|workspace|company|project|portal|shop|environment/i

/**
 * Returns the address of the list, such as `crm.example.com/api/leads?account=7`. Two addresses of the same
 * list give the same text, whether written with http or https, with a slash at the end, or in upper case.
 * @param list the URL of the list, without filters and paging
 */
export function sourceAddress(
  list: URL,
  { auth, request }: Pick<Profile, 'auth' | 'request'>,
  redact: (text: string) => string,
): string {
  const host = list.host.replace(/\.(?=:|$)/, '')
  const path = list.pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '')
  const fixed = [...list.searchParams].filter(
    ([name]) => !SHAPING.test(name) && !(auth !== 'none' && name === auth.query),
  )
  const query = fixed.map(([name, value]) => `${name}=${value}`).sort()
  const headers = auth === 'none' ? [] : Object.entries(auth.headers)
  const account = headers
    .filter(([name, value]) => OF_ACCOUNT.test(name) && !/\{(key|basic)\}/.test(value))
    .map(([name, value]) => ` (${name.toLowerCase()}: ${value})`)
  const asked = query.length === 0 ? '' : `?${query.join('&')}`
  const text = `${host}${path}${asked}${bodyText(request?.body ?? {})}${account.sort().join('')}`
  return withoutNamedSecrets(redact(text))
}

/** Writes what the body of a POST asks for. Of a query in GraphQL, this is the name of the list. */
function bodyText(body: Readonly<Record<string, unknown>>): string {
  const { query, ...others } = body
  const list = typeof query === 'string' ? /\{\s*(?:\w+\s*:\s*)?(\w+)/.exec(query)?.[1] : undefined
  const parts = list === undefined ? body : { ...others, query: list }
  const fixed = Object.entries(parts).filter(([name]) => !SHAPING.test(name))
  return fixed.length === 0 ? '' : ` ${JSON.stringify(Object.fromEntries(fixed.sort()))}`
}
