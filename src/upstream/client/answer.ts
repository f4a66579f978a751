/** What an HTTP answer is: the JSON that was asked for, or a failure with all that decides what comes next. */
import type { IncomingHttpHeaders } from 'node:http'
import type { LeadsheetError } from '../../errors.ts'
import { parseJson } from '../values/json.ts'
import { skipSpace } from '../values/json-bytes.ts'
import { decode, isJson, problemText, quote, readBody, readErrorBody, UnreadableBody } from './body.ts'
import { isThrottled, wantedWaitMs } from './rate-limit-headers.ts'
import { isPassingStatus, redirected, refusal, unexpected, unreachable } from './upstream-failure.ts'

/** In bytes or characters: far more than is quoted, far less than a body may have. */
const BEGINNING = 10_000

export interface Answer<T = unknown> {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: T
}

export interface Failed {
  readonly error: LeadsheetError
  /** Whether asking again may cure it. */
  readonly isPassing: boolean
  /** Whether the upstream said "too fast". */
  readonly isThrottled: boolean
  /** The wait that the upstream asks for. */
  readonly waitMs: number | null
  /** Whether the upstream may have done what was asked. */
  readonly isUndecided: boolean
}

/** What was asked, and by whom, as far as an answer's meaning hangs on it. */
export interface Asked {
  readonly call: {
    readonly method?: string
    readonly url: URL
    readonly headers?: Readonly<Record<string, string>>
    /** Whether refusals and what is not JSON are answers too, as text. */
    readonly takesAny?: boolean
    /** Statuses of refusals that are answers too, as text. */
    readonly takes?: readonly number[]
    /** In place of JSON's own; throws SyntaxError for what is not JSON. */
    readonly parse?: (body: Buffer) => unknown
  }
  /** From 1. */
  readonly attempt: number
  readonly now: Date
  /** Takes secrets out of what the upstream quotes. */
  readonly redact: (text: string) => string
}

/** As undici gives it. */
export interface Response {
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
  readonly body: AsyncIterable<Buffer>
}

/** Reads the answer to its end, or closes it. Throws what the connection throws while the body comes in. */
export async function readAnswer(response: Response, asked: Asked): Promise<Answer | Failed> {
  const { statusCode } = response
  return statusCode >= 200 && statusCode <= 299 ? readSuccess(response, asked) : readRefusal(response, asked)
}

async function readSuccess(response: Response, { call, attempt, redact }: Asked): Promise<Answer | Failed> {
  const { statusCode: status, headers } = response
  let bytes: Buffer
  try {
    bytes = await readBody(response.body, headers)
  } catch (thrown) {
    if (!(thrown instanceof UnreadableBody)) throw thrown
    return failed(unexpected(call.url, thrown.message))
  }
  if (call.method === 'DELETE') return { status, headers, body: null }
  const start = skipSpace(bytes, 0)
  const beginning = decode(bytes.subarray(start, start + BEGINNING))
  if (beginning.trim() === '' || !isJson(headers, beginning)) {
    if (call.takesAny) return { status, headers, body: redact(decode(bytes)) }
    const found = quoteOf(beginning, redact) || 'an empty body'
    return failed(unexpected(call.url, `answered ${status} but not with JSON: ${found}`))
  }
  try {
    return { status, headers, body: call.parse ? call.parse(bytes) : parseJson(decode(bytes)) }
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    if (call.takesAny) return { status, headers, body: redact(decode(bytes)) }
    // The parser's own words quote the text, and may quote half a key.
    const place = / at position \d+/.exec(thrown.message)?.[0] ?? ''
    // What is no JSON from the start on is not one that was cut.
    if (!/^[[{]/.test(beginning))
      return failed(
        unexpected(call.url, `answered ${status} but not with JSON: ${quoteOf(beginning, redact)}`),
      )
    const broken = new SyntaxError(`its JSON is cut or broken${place}`)
    return { ...failed(unreachable(call.url, attempt, broken)), isPassing: true }
  }
}

async function readRefusal(
  response: Response,
  { call, attempt, now, redact }: Asked,
): Promise<Answer | Failed> {
  const { statusCode: status, headers } = response
  const text = await readErrorBody(response.body, headers)
  const isTooFast = isThrottled(status, headers, now)
  const isPassing = isTooFast || isPassingStatus(status)
  const isTaken = call.takesAny || call.takes?.includes(status)
  if (isTaken && !isPassing) return { status, headers, body: redact(text) }
  if (status >= 300 && status < 400) {
    const location = headers.location === undefined ? null : redact(headers.location)
    return failed(redirected(status, call.url, location))
  }
  const detail = isJson(headers, text) ? problemText(redact(text)) : quoteOf(text, redact)
  const names = Object.keys(call.headers ?? {})
  return {
    error: refusal({ status, url: call.url, detail, headers: names, attempts: attempt, isPassing }),
    isPassing,
    isThrottled: isTooFast,
    waitMs: isPassing ? wantedWaitMs(status, headers, now) : null,
    isUndecided: status >= 500 || status === 408,
  }
}

/** Redacted before it is cut, lest a key that stands at the cut be known by its half. */
function quoteOf(text: string, redact: Asked['redact']): string {
  return quote(redact(text.slice(0, BEGINNING)))
}

function failed(error: LeadsheetError): Failed {
  return { error, isPassing: false, isThrottled: false, waitMs: null, isUndecided: true }
}
