/** What a failed call means: ask again, come back later, or give up. Decided from facts, never from texts. */
import { type ErrorCode, errorText, LeadsheetError } from '../errors.ts'

/** Statuses that say "not now" rather than "no". */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504])

/** Codes of undici and of sockets that a second attempt may cure. */
const PASSING_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'Z_BUF_ERROR',
  'Z_DATA_ERROR',
])

export function isPassingStatus(status: number): boolean {
  return PASSING.has(status)
}

/** Whether a thrown network error, a deadline of one attempt, or a cut body may be cured by asking again. */
export function isPassingError(thrown: unknown): boolean {
  if (thrown instanceof SyntaxError) return true
  if (thrown instanceof AggregateError) return thrown.errors.some(isPassingError)
  if (!(thrown instanceof Error)) return false
  return thrown.name === 'TimeoutError' || PASSING_CODES.has(codeOf(thrown))
}

/** The error for an answer that no retry will change. `detail` is what the upstream says about it. */
export function refusal(status: number, url: URL, detail: string): LeadsheetError {
  const said = detail === '' ? '' : `: ${detail}`
  const at = `${url.origin}${url.pathname}`
  if (status === 401) {
    return new LeadsheetError('api_unauthorized', `${at} does not accept the API key (401)${said}`, {
      hint: 'Check api.key (LEADSHEET_API_KEY or LEADSHEET_API_KEY_FILE).',
    })
  }
  if (status === 403) {
    return new LeadsheetError('api_forbidden', `The API key may not use ${at} (403)${said}`, {
      hint: 'Ask for a key with the needed scope.',
    })
  }
  if (status >= 300 && status < 400) {
    return unexpected(url, `redirects (${status}), which is not followed since the API key would go along`)
  }
  const code: ErrorCode = status === 404 ? 'api_not_found' : status < 500 ? 'api_rejected' : 'api_unreachable'
  const hint = status === 404 ? 'Check api.url (LEADSHEET_API_URL) and the id.' : undefined
  return new LeadsheetError(code, `${at}${url.search} answered ${status}${said}`, hint ? { hint } : {})
}

export function unreachable(url: URL, attempts: number, cause: unknown): LeadsheetError {
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return new LeadsheetError(
    'api_unreachable',
    `${url.origin}${url.pathname} failed after ${tries}: ${reasonOf(cause)}`,
    {
      hint: 'Check api.url (LEADSHEET_API_URL) and that the service is up.',
      cause,
    },
  )
}

export function unexpected(url: URL, what: string): LeadsheetError {
  return new LeadsheetError('api_unexpected', `${url.origin}${url.pathname} ${what}`, {
    hint: 'Check that api.url (LEADSHEET_API_URL) is the address of the API, not of a web page or a proxy.',
  })
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0])
  if (cause instanceof Error && cause.name === 'TimeoutError') return 'no whole answer in time'
  return errorText(cause)
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}
