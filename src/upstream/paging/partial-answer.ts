/** Finds the signs by which an answer with a good status says that it is an error or only a part. */
import type { IncomingHttpHeaders } from 'node:http'
import { saidIn } from '../client/answer.ts'
import type { Profile } from '../profile/profile.ts'
import { type FieldPath, leavesAround, pathText, readPath } from '../values/json.ts'
import { linkNext, NO_NEXT } from './paging.ts'

/** The statuses of answers that are not whole: accepted for later, partial content, multi-status. */
const PARTIAL_STATUSES = new Set([202, 206, 207])

/** Names whose value is an error, unless the value says that there is none. */
const ERROR_NAMES =
  /^[_@]?(m:)?((partial|num|api|query|odata\.)?_?(errors?|err)|err(ors?)?_?(code|count|messages?|msgs?|desc(ription)?|details?|text)|faults?|exception(_?(message|type))?|failures)$/i
/** Names whose value is true if an answer is only a part. */
const PARTIAL_NAMES =
  /^((has|is)_?(errors?|partial|incomplete|degraded)|timed_?out|timeout|(partial|incomplete)(_?(results?|data|content|response))?(_?returned)?|degraded|terminated_?early)$/i
/** Names whose text says why an answer is only a part, as in the `request_status` of Notion. */
const REASON_NAMES = /^incomplete_?reason$/i
/** Names whose value is true, or false, if more records follow. On a page that names no next one, it is only a part. */
export const MORE_NAMES =
  /^_?((has|is)_?(more|next)\w*|more(_?(items|records|results|data|rows|pages?)(_?in_?collection)?)?|(is_?|results?_?)?truncated|exceeded_?transfer_?limit)$/i
/** Names whose value leads to the next page. */
const NEXT_NAMES =
  /next_?((page|url|uri|link|href|cursor|token|offset|start|key|marker|rows?|records?)\w*)?\]?$|^(forward|older)$|last_?evaluated_?key|continuation/i
const LAST_NAMES = /^(is_?)?(complete|done|finished|last(_?page)?)$/i
/** Names whose value is false if the request failed. */
const SUCCESS_NAMES = /^((is_?)?success(ful)?|succeeded|ok)$/i
const STATE_NAMES = /^(status|result|state|outcome)$/i
const BAD_STATES =
  /^(err(or)?s?|fail(ed|ure)?|exception|fault|partial(_?(success|content|results?|failure))?|timed?_?out|ko|not_?ok|rejected|denied|unavailable)$/i
/** Names whose value may be a status of HTTP; it is an error from 400 on. */
const STATUS_NAMES = /^(status|status_?code|code|http_?(status|code))$/i
/** Objects beside the list that may have these names too. */
const META_NAMES =
  /^_?(((response|request)_?)?(meta(data)?|header|status|info)|response|result|extensions|pagination|paging|page(_?info)?)$/i
/** Objects that count the parts of a search, such as the shards of Elasticsearch. */
const SEARCHED_PARTS = ['shards', 'clusters']

/** Texts that mean that there is no error, in a field that is always there. */
const NO_ERROR =
  /^([0-]+|200|false|no|none|null|nil|n\/a|ok(ay)?|success(ful(ly)?)?|no[ _]?errors?([ _]found)?)?\.?$/i

/** In many upstreams the field is always there, and is empty, 0 or "ok" if there is no error. */
export function isErrorValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isErrorValue)
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isErrorValue)
  if (typeof value === 'string') return !NO_ERROR.test(value.trim())
  return value !== null && value !== undefined && value !== false && value !== 0 && value !== 200
}

/**
 * Returns what an answer says by which it is an error or only a part, such as `status 207` or `errors: timed
 * out`; null if it says nothing of this kind. If the profile names the place of errors (`envelope.error`), no
 * other place in the body is looked at.
 * @param isLast whether the page names no next one, so that it must not say that more records follow
 */
export function findPartialSign(
  profile: Pick<Profile, 'envelope' | 'paging'>,
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
  isLast = false,
): string | null {
  // Lists that are asked for by ranges answer 206, and say which rows they have.
  if (PARTIAL_STATUSES.has(status) && !(status === 206 && isRange(headers, profile))) {
    const said = signIn(profile, body, isLast)
    return `status ${status}${said === null ? '' : `, ${said}`}`
  }
  const isWhole = profile.paging.kind === 'none' && profile.envelope.error === undefined
  const [next] = isWhole ? signsOfNext(headers, body, profile.envelope.leads) : []
  return signIn(profile, body, isLast) ?? (next === undefined ? null : `a next page at ${next}`)
}

/** Returns the places of an answer that lead to a next page or say that there is one. */
export function signsOfNext(headers: IncomingHttpHeaders, body: unknown, records: FieldPath): string[] {
  const signs = [...leavesAround(body, records)].filter(({ path, value }) => {
    const isNamed = path.some((step) => NEXT_NAMES.test(step)) && value !== null && value !== false
    return saysMoreFollow(path.at(-1) ?? '', value) ?? (isNamed && !NO_NEXT.test(String(value)))
  })
  const link = linkNext(headers.link) === null ? [] : ['the Link header']
  return [...link, ...signs.map(({ path }) => pathText(path))]
}

function isRange(headers: IncomingHttpHeaders, { paging }: Pick<Profile, 'paging'>): boolean {
  return paging.kind === 'range' || headers['content-range'] !== undefined
}

function signIn({ envelope }: Pick<Profile, 'envelope'>, body: unknown, isLast: boolean): string | null {
  if (envelope.error !== undefined) {
    const error = readPath(body, envelope.error)
    return isErrorValue(error) ? wordsOf(pathText(envelope.error), error) : null
  }
  for (const object of objectsAround(body, envelope.leads)) {
    for (const [name, value] of Object.entries(object)) {
      if (isSign(name, value) || (isLast && saysMoreFollow(name, value) === true)) return wordsOf(name, value)
    }
  }
  for (const parts of SEARCHED_PARTS) {
    const [failed, successful, total] = ['failed', 'successful', 'total'].map((name) =>
      readPath(body, [`_${parts}`, name]),
    )
    if (Number(failed) > 0) return wordsOf(`failed ${parts}`, failed)
    if (Number(successful) < Number(total)) return wordsOf(`successful ${parts}`, `${successful} of ${total}`)
  }
  return null
}

function objectsAround(body: unknown, path: readonly string[]): object[] {
  const containers = path.map((_, depth) => readPath(body, path.slice(0, depth))).filter(isPlainObject)
  const besides = containers.flatMap((object) =>
    Object.entries(object).flatMap(([name, value]) =>
      META_NAMES.test(name) && isPlainObject(value) && !containers.includes(value) ? [value] : [],
    ),
  )
  return [...containers, ...besides]
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSign(name: string, value: unknown): boolean {
  if (ERROR_NAMES.test(name)) return isErrorValue(value)
  if (PARTIAL_NAMES.test(name)) return isYes(value)
  if (SUCCESS_NAMES.test(name))
    return value === false || value === 0 || /^(false|no?|0)$/i.test(String(value))
  if (STATUS_NAMES.test(name) && /^\d+$/.test(String(value))) return Number(value) >= 400
  if (REASON_NAMES.test(name)) return typeof value === 'string' && value !== ''
  return STATE_NAMES.test(name) && typeof value === 'string' && BAD_STATES.test(value)
}

/** Returns whether a field says that more records follow; null if it says neither that nor that none do. */
export function saysMoreFollow(name: string, value: unknown): boolean | null {
  const said = isYes(value) || (/^(false|no)$/i.test(String(value)) ? false : null)
  if (MORE_NAMES.test(name)) return said
  return LAST_NAMES.test(name) && said !== null ? !said : null
}

function isYes(value: unknown): boolean {
  return /^(true|yes|1)$/i.test(String(value))
}

function wordsOf(name: string, value: unknown): string {
  return `${name}: ${typeof value === 'object' ? (saidIn(value) ?? JSON.stringify(value)) : String(value)}`
}
