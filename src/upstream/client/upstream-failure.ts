/** Makes the error for a failed request, and decides whether the request may be sent again. */
import { type ErrorCode, errorText, LeadsheetError } from '../../errors.ts'
import type { KeySource } from './key-source.ts'
import { requestTarget } from './request.ts'

/** The statuses of requests that come too fast: the usual one, and those of single services. */
const TOO_FAST = new Set([420, 429, 430, 509, 529])
/** The other statuses below 500 of errors that may pass, so that the same request may succeed later. */
const PASSING = new Set([408, 423, 425, 477])
/** All others from 500 may pass, because services use numbers that no standard has, such as 520 and 598. */
const LASTING = new Set([501, 505, 506, 507, 508, 510, 511])

/** Errors after which a retry may succeed, with an explanation if people may not understand the code. */
const PASSING_CODES: Readonly<Record<string, string | null>> = {
  EAI_AGAIN: 'its name cannot be looked up',
  ECONNREFUSED: null,
  ECONNRESET: null,
  EHOSTUNREACH: null,
  ENETUNREACH: null,
  ENOTFOUND: 'there is no host of that name',
  EPIPE: null,
  ETIMEDOUT: null,
  HPE_INVALID_EOF_STATE: 'the answer was cut',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped half-way',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer began in time',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut, or is longer than it said',
  UND_ERR_SOCKET: null,
  Z_BUF_ERROR: 'the packed answer was cut',
  Z_DATA_ERROR: 'the packed answer is broken',
}

/** The error codes which mean that no connection was made, so that the request was not sent. */
const UNSENT_CODES = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

export function isTooFast(status: number): boolean {
  return TOO_FAST.has(status)
}

export function isPassingStatus(status: number): boolean {
  const isFault = status >= 500 && status <= 599 && !LASTING.has(status)
  return isFault || TOO_FAST.has(status) || PASSING.has(status)
}

export function isAboutConcurrency(status: number, text: string): boolean {
  const isLimit = isTooFast(status) || [400, 409, 503].includes(status)
  return (
    isLimit &&
    /concurren(t|cy)|simultaneous|in parallel|at the same time|(one|single) request at a time/i.test(text)
  )
}

/** After a network error, the deadline of the attempt, and for a body that was cut off. */
export function isPassingError(thrown: unknown): boolean {
  if (thrown instanceof SyntaxError) return true
  if (thrown instanceof AggregateError) return thrown.errors.some(isPassingError)
  if (!(thrown instanceof Error)) return false
  return thrown.name === 'TimeoutError' || codeOf(thrown) in PASSING_CODES
}

/** Returns whether an error comes from the network or HTTP; otherwise it is a bug. */
export function isWireError(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.some(isWireError)
  return (
    isPassingError(thrown) ||
    (thrown instanceof Error &&
      // Some errors of the HTTP parser have no code, so they are found by their name.
      (thrown.name === 'HTTPParserError' ||
        /^(UND_ERR|HPE_|ERR_|E[A-Z]+$|CERT|DEPTH|SELF|UNABLE|Z_)/.test(codeOf(thrown))))
  )
}

export function mayHaveArrived(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.some(mayHaveArrived)
  return !(thrown instanceof Error && UNSENT_CODES.has(codeOf(thrown)))
}

interface Refusal {
  readonly status: number
  readonly url: URL
  readonly detail: string
  /** The names of the request's headers, for the hint: the upstream may have refused one of them. */
  readonly headers: readonly string[]
  /** The body of a request that reads, for the hint; empty if there is none. */
  readonly body: string
  readonly attempts: number
  readonly keys: Pick<KeySource, 'what' | 'hint'>
  readonly isPassing: boolean
  readonly isConcurrent: boolean
  /** The hint for an address where nothing is, if it is not about a profile. */
  readonly notFoundHint: string | undefined
  /** True if the answer is a web page, as those of firewalls, proxies and sign-in pages are. */
  readonly isPage: boolean
}

const CONCURRENCY_HINT =
  'It takes few requests at the same time: set limits.concurrency: 1 in the profile. What a sync has read is kept.'
const TOO_FAST_HINT =
  'It wants fewer requests: set limits.requests_per_second in the profile, or sync less often. What a sync has read is kept.'

export function refusal(refused: Refusal): LeadsheetError {
  const { status, url, detail, attempts, isPassing } = refused
  const said = detail === '' ? '' : `: ${detail}`
  const at = `${url.origin}${url.pathname}`
  if (isPassing) {
    const times = attempts === 1 ? '' : ` to ${attempts} attempts`
    return new LeadsheetError('api_unreachable', `${at} answered ${status}${times}${said}`, {
      hint: refused.isConcurrent
        ? CONCURRENCY_HINT
        : isTooFast(status) || status === 403
          ? TOO_FAST_HINT
          : 'The service has a problem of its own. What a sync has read is kept, and the next one goes on from there.',
    })
  }
  const isExpired = status === 403 && /\btoken\b/i.test(detail) && /\bexpired\b/i.test(detail)
  if (status === 401 || isExpired) {
    const { what, hint } = refused.keys
    return new LeadsheetError('api_unauthorized', `${at} does not accept ${what} (${status})${said}`, {
      hint,
    })
  }
  if (status === 403 && refused.isPage) {
    return unexpected(
      url,
      `answered 403 with a web page${said}`,
      'That is not the API: a firewall, a proxy or a sign-in page before it may have refused this machine. Ask its operator to let the machine through, and check api.url (LEADSHEET_API_URL).',
    )
  }
  if (status === 403) {
    return new LeadsheetError('api_forbidden', `${at} is forbidden to ${refused.keys.what} (403)${said}`, {
      hint: 'Ask for a key or a login with the needed scope.',
    })
  }
  const isDeleted = status === 404 || status === 410
  const code: ErrorCode = isDeleted ? 'api_not_found' : status < 500 ? 'api_rejected' : 'api_unreachable'
  const hint = isDeleted
    ? (refused.notFoundHint ?? 'Check api.url (LEADSHEET_API_URL), the endpoints of the profile, and the id.')
    : `Sent were ${parametersOf(refused)}. Correct in the settings or the profile what it does not take.`
  return new LeadsheetError(code, `${url.origin}${requestTarget(url)} answered ${status}${said}`, { hint })
}

/** For `catch`: null if the upstream does not know what was asked for, or does not offer it. */
export function nullIfNotFound(thrown: unknown): null {
  if (thrown instanceof LeadsheetError && thrown.code === 'api_not_found') return null
  throw thrown
}

export function redirected(status: number, url: URL, location: string | null): LeadsheetError {
  const target = location === null ? null : URL.parse(location, url.href)
  const to = target === null ? '' : ` to ${target.origin}${target.pathname}`
  return new LeadsheetError(
    'api_unexpected',
    `${url.origin}${url.pathname} redirects (${status})${to}, which is not followed since the API key would go along`,
    {
      hint:
        target?.origin === url.origin
          ? 'Put the path that it names into api.url or the endpoints of the profile.'
          : 'If that is the same service, set api.url (LEADSHEET_API_URL) to it.',
    },
  )
}

export function unreachable(url: URL, attempts: number, cause: unknown): LeadsheetError {
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return new LeadsheetError(
    'api_unreachable',
    `${url.origin}${url.pathname} failed after ${tries}: ${reasonOf(cause)}`,
    {
      hint: 'Check api.url (LEADSHEET_API_URL), that the service is up, and the proxy if HTTPS_PROXY or HTTP_PROXY names one.',
      cause,
    },
  )
}

const ADDRESS_HINT =
  'Check that api.url (LEADSHEET_API_URL) is the address of the API, not of a web page or a proxy.'

export function unexpected(url: URL, what: string, hint = ADDRESS_HINT, cause?: unknown): LeadsheetError {
  return new LeadsheetError('api_unexpected', `${url.origin}${url.pathname} ${what}`, { hint, cause })
}

export function undecided(cause: LeadsheetError, idempotencyKey: string | undefined): LeadsheetError {
  const again =
    idempotencyKey === undefined
      ? 'Look there whether it was done before sending it again.'
      : `Look there whether it was done; sent again with the idempotency key ${idempotencyKey} it is done once, where the service knows such keys.`
  return new LeadsheetError(cause.code, `${cause.message}; whether the service has done it is not known`, {
    hint: again,
    cause,
  })
}

function parametersOf({ url, headers, body }: Refusal): string {
  const parameters = [...url.searchParams].map(([name, value]) => `${name}=${value}`)
  const sent = [...parameters, ...headers.map((name) => `the header ${name}`), body].filter(
    (each) => each !== '',
  )
  return sent.join(', ') || 'no parameters'
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0])
  if (!(cause instanceof Error)) return errorText(cause)
  if (cause.name === 'TimeoutError') return 'no whole answer in time'
  const code = codeOf(cause)
  const words = PASSING_CODES[code] ?? errorText(cause)
  return words.includes(code) ? words : `${words} (${code})`
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}
