/** Reads an HTTP answer: the requested JSON, or a failure with all facts that decide about a retry. */
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify, TextDecoder } from 'node:util'
import { constants, gunzip } from 'node:zlib'
import type { LeadsheetError } from '../../errors.ts'
import { parseJson, skipSpace } from '../values/json.ts'
import type { KeySource } from './key-source.ts'
import { isThrottled, wantedWaitMs } from './rate-limit.ts'
import type { Call, Fault } from './request.ts'
import { BrokenRows, rowsAsJson } from './rows.ts'
import {
  isAboutConcurrency,
  isPassingStatus,
  redirected,
  refusal,
  unexpected,
  unreachable,
} from './upstream-failure.ts'

/** In bytes or characters: what is looked at to quote a body or to recognise JSON. */
const BEGINNING = 10_000

export interface Answer<T = unknown> {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: T
}

export interface Failed {
  readonly error: LeadsheetError
  readonly isPassing: boolean
  readonly isThrottled: boolean
  readonly waitMs: number | null
  /** True if the upstream may have carried out the request although it failed. */
  readonly isUndecided: boolean
}

interface Asked {
  readonly call: Call
  readonly attempt: number
  readonly now: Date
  readonly redact: (text: string) => string
  /** Removes the API key from a body, before anything of it is stored. */
  readonly hideKey: (body: Buffer) => Buffer
  /** The words for the key that an error needs. */
  readonly keys: Pick<KeySource, 'what' | 'hint'>
}

interface Response {
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
  readonly body: AsyncIterable<Buffer>
}

/**
 * If the body is too large, the connection is closed instead.
 * @throws any error of the connection while the body arrives
 */
export function readAnswer(response: Response, asked: Asked): Promise<Answer | Failed> {
  const { statusCode } = response
  return statusCode >= 200 && statusCode <= 299 ? readSuccess(response, asked) : readRefusal(response, asked)
}

async function readSuccess(response: Response, asked: Asked): Promise<Answer | Failed> {
  const { call, attempt, redact, hideKey } = asked
  const { statusCode: status, headers } = response
  let sent: Buffer
  try {
    sent = hideKey(await readBody(response.body, headers))
  } catch (thrown) {
    if (!(thrown instanceof UnreadableBody)) throw thrown
    return failed(unexpected(call.url, thrown.message, undefined, thrown))
  }
  if (call.method === 'DELETE' || (status === 204 && call.takes?.includes(status)))
    return { status, headers, body: null }
  const start = skipSpace(sent, 0)
  const beginning = decode(sent.subarray(start, start + BEGINNING))
  try {
    const rows = rowsAsJson(sent, headers)
    if (rows === null && (beginning.trim() === '' || !isJson(headers, beginning))) {
      if (call.takesAny) return { status, headers, body: redact(decode(sent)) }
      return failed(withoutJson(call.url, status, headers, quoteOf(beginning, redact)))
    }
    const bytes = rows ?? sent
    const body = call.parse ? call.parse(bytes) : parseJson(decode(bytes))
    const fault = call.findFault?.(status, headers, body) ?? null
    return fault === null ? { status, headers, body } : faulty(fault, status, headers, asked)
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    if (call.takesAny) return { status, headers, body: redact(decode(sent)) }
    if (thrown instanceof BrokenRows)
      return { ...failed(unreachable(call.url, attempt, thrown)), isPassing: true }
    // The parser's message quotes the body, which may contain a part of a key. So only the position is taken
    // from the message.
    const place = / at position \d+/.exec(thrown.message)?.[0] ?? ''
    // A body that begins with neither { nor [ is not JSON at all, so a retry would not help.
    if (!/^[[{]/.test(beginning))
      return failed(withoutJson(call.url, status, headers, quoteOf(beginning, redact)))
    const broken = new SyntaxError(`its JSON is cut or broken${place}`)
    return { ...failed(unreachable(call.url, attempt, broken)), isPassing: true }
  }
}

/** Makes the failure for an error with a good status. Unless the error is lasting, the request is sent again. */
function faulty(
  fault: Fault,
  status: number,
  headers: IncomingHttpHeaders,
  { call, attempt, now, redact }: Asked,
): Failed {
  const said = quote(redact(fault.said))
  if (fault.isLasting) {
    const hint =
      'Correct what the profile asks for (request.body), and how it sends the key (auth). What a sync has read is kept.'
    return failed(unexpected(call.url, `answered ${status} with an error: ${said}`, hint))
  }
  const cause = new Error(`it answered ${status} and no record, but an error: ${said}`)
  const error = unreachable(call.url, attempt, cause)
  if (!fault.isThrottled) return { ...failed(error), isPassing: true }
  const waitMs = fault.waitMs ?? wantedWaitMs(429, headers, now)
  return { ...failed(error), isPassing: true, isThrottled: true, waitMs }
}

/** Says what came in the place of JSON. The answer may be XML, and is then named so instead of being quoted. */
function withoutJson(
  url: URL,
  status: number,
  headers: IncomingHttpHeaders,
  beginning: string,
): LeadsheetError {
  const type = headers['content-type']?.split(';')[0]?.trim() ?? ''
  const isXml = /\b(xml|soap)\b/i.test(type) ? !/xhtml/i.test(type) : /^<\?xml/.test(beginning)
  if (!isXml || /<html/i.test(beginning))
    return unexpected(url, `answered ${status} but not with JSON: ${beginning || 'an empty body'}`)
  const isSoap = /soap/i.test(type) || /^(<\?xml[^>]*>\s*)?<([\w-]+:)?Envelope\b/.test(beginning)
  return unexpected(
    url,
    `answered ${status} with ${isSoap ? 'SOAP' : 'XML'}${type === '' ? '' : ` (${type})`}, which is not read; JSON, NDJSON and CSV are`,
    'Look in its documentation for a list in JSON: often it is another address, a parameter such as format=json, or a header (auth.headers of the profile: { Accept: application/json }).',
  )
}

async function readRefusal(
  response: Response,
  { call, attempt, now, redact, keys }: Asked,
): Promise<Answer | Failed> {
  const { statusCode: status, headers } = response
  const text = await readErrorBody(response.body, headers)
  const isPage = !isJson(headers, text) && /^\s*<(?!\?xml)/.test(text)
  const isConcurrent =
    (call.method === 'GET' || call.isRead === true) && !isPage && isAboutConcurrency(status, text)
  const isTooFast = isConcurrent || isThrottled(status, headers, now)
  const isPassing = isTooFast || isPassingStatus(status)
  const isTaken = call.takesAny || call.takes?.includes(status)
  if (isTaken && !isPassing) return { status, headers, body: redact(text) }
  if (status >= 300 && status < 400) {
    const location = headers.location === undefined ? null : redact(headers.location)
    return failed(redirected(status, call.url, location))
  }
  const error = refusal({
    status,
    url: call.url,
    detail: isJson(headers, text) ? problemText(redact(text)) : quoteOf(text, redact),
    headers: Object.keys(call.headers ?? {}),
    body: call.isRead && call.body !== undefined ? `the body ${quote(JSON.stringify(call.body))}` : '',
    attempts: attempt,
    keys,
    isPassing,
    isConcurrent,
    isPage,
    notFoundHint: call.notFoundHint,
  })
  return {
    error,
    isPassing,
    isThrottled: isTooFast,
    waitMs: isPassing ? wantedWaitMs(status, headers, now) : null,
    isUndecided: status >= 500 || status === 408,
  }
}

/** The secrets are removed before the text is shortened, because half a key would not be recognised. */
function quoteOf(text: string, redact: Asked['redact']): string {
  return quote(redact(text.slice(0, BEGINNING)))
}

/** Makes a failure that a retry would not change, though the request may have arrived. */
export function failed(error: LeadsheetError): Failed {
  return {
    error,
    isPassing: false,
    isThrottled: false,
    waitMs: null,
    isUndecided: true,
  }
}

const MIB = 1024 * 1024
const WIRE_BYTES_MAX = 32 * MIB
const BODY_BYTES_MAX = 64 * MIB
/** The maximum number of bytes that are read from the body of an error. No message is longer. */
const ERROR_BYTES_MAX = 64 * 1024
const QUOTE_CHARS = 200

const unzip = promisify(gunzip)

/** Thrown for a body that is too large, or whose compression or charset cannot be read. */
class UnreadableBody extends Error {}

/** Thrown for a body that is too large. A smaller page of the list may fit. */
export class TooLargeBody extends UnreadableBody {}

/**
 * Unpacked and in UTF-8.
 * @throws UnreadableBody, and whatever the connection or zlib throws for a body that was cut off
 */
async function readBody(body: AsyncIterable<Buffer>, headers: IncomingHttpHeaders): Promise<Buffer> {
  const { bytes, isWhole } = await readBytes(body, WIRE_BYTES_MAX)
  if (!isWhole) throw new TooLargeBody(`sent more than ${WIRE_BYTES_MAX / MIB} MiB in one answer`)
  if (!isGzip(bytes, headers)) return toUtf8(bytes, headers)
  try {
    return toUtf8(await unzip(bytes, { maxOutputLength: BODY_BYTES_MAX }), headers)
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_BUFFER_TOO_LARGE')
      throw new TooLargeBody(`sent an answer that unpacks to more than ${BODY_BYTES_MAX / MIB} MiB`)
    throw thrown
  }
}

/** Returns an empty text if the body cannot be read, because the status alone says enough. */
async function readErrorBody(body: AsyncIterable<Buffer>, headers: IncomingHttpHeaders): Promise<string> {
  try {
    const { bytes } = await readBytes(body, ERROR_BYTES_MAX)
    const partly = { maxOutputLength: ERROR_BYTES_MAX, finishFlush: constants.Z_SYNC_FLUSH }
    return decode(toUtf8(isGzip(bytes, headers) ? await unzip(bytes, partly) : bytes, headers))
  } catch {
    return ''
  }
}

/** Matches the beginning of JSON. A page of HTML and a line such as `[Error] no tenant` do not match. */
const BEGINS_AS_JSON = /^\s*(\{\s*["}]|\[\s*[[{"\]])/

/** Some services send JSON as text/html, text/plain or octet-stream, or without a content type. */
function isJson(headers: IncomingHttpHeaders, text: string): boolean {
  const type = headers['content-type'] ?? ''
  return /^\s*(application|text)\/([\w.-]+\+)?json\s*(;|$)/i.test(type) || BEGINS_AS_JSON.test(text)
}

/** Returns the error message in a problem document (RFC 9457) or a similar JSON body, in one line. */
export function problemText(text: string): string {
  try {
    return quote(saidIn(JSON.parse(text)) ?? text)
  } catch {
    // The text is not JSON, so it is quoted itself.
    return quote(text)
  }
}

const SAYING = ['detail', 'message', 'error_description', 'error', 'errors', 'title'] as const

export function saidIn(body: unknown, depth = 0): string | null {
  if (typeof body === 'string') return body === '' ? null : body
  if (typeof body !== 'object' || body === null || depth > 3) return null
  const inner: unknown[] = Array.isArray(body)
    ? body.slice(0, 1)
    : SAYING.map((name) => Reflect.get(body, name))
  return inner.map((value) => saidIn(value, depth + 1)).find((said) => said !== null) ?? null
}

export function quote(text: string): string {
  const line = text
    .slice(0, 4 * QUOTE_CHARS)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > QUOTE_CHARS ? `${line.slice(0, QUOTE_CHARS)}…` : line
}

/**
 * Returns whether a body is compressed with gzip. A plain text is not, whatever the header says: some services
 * send `utf-8` or `none` there, and some proxies unpack a body and leave the header.
 * @throws UnreadableBody for an encoding that was not asked for
 */
function isGzip(bytes: Buffer, headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity' || isPlainText(bytes)) return false
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  throw new UnreadableBody(`packed its answer as ${quote(encoding)}, though only gzip was asked for`)
}

/** Returns whether a body begins as JSON or HTML, and has no control characters as packed bytes would. */
function isPlainText(bytes: Buffer): boolean {
  const beginning = bytes.subarray(0, 256)
  return (
    /^\s*[[{<]/.test(decode(beginning)) &&
    beginning.every((byte) => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d)
  )
}

/**
 * Returns the body in UTF-8. A byte order mark of UTF-16 says the charset, otherwise the content type does.
 * Bytes that are valid UTF-8 are not read as a charset of one byte a character, because many services name
 * one (ISO-8859-1 is an old default) and send UTF-8.
 * @throws UnreadableBody for a charset that the Encoding Standard of WHATWG does not know
 */
function toUtf8(bytes: Buffer, headers: IncomingHttpHeaders): Buffer {
  const mark = /^(fffe|feff)/.exec(bytes.toString('hex', 0, 2))?.[1]
  const named = /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(headers['content-type'] ?? '')?.[1]
  const charset = mark === undefined ? named : mark === 'fffe' ? 'utf-16le' : 'utf-16be'
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return bytes
  let decoder: TextDecoder
  try {
    decoder = new TextDecoder(charset)
  } catch {
    throw new UnreadableBody(
      `sent its text in the charset ${quote(charset)}, which is not known; expected utf-8`,
    )
  }
  if (/^(windows|iso-8859)-/.test(decoder.encoding) && isUtf8(bytes)) return bytes
  return Buffer.from(decoder.decode(bytes))
}

/** Reads at most `max` bytes of a body. If the body is longer, leaving the loop closes the connection. */
async function readBytes(
  body: AsyncIterable<Buffer>,
  max: number,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
    if (length > max) return { bytes: Buffer.concat(chunks, max), isWhole: false }
  }
  return { bytes: Buffer.concat(chunks, length), isWhole: true }
}

const utf8 = new TextDecoder()

export function decode(bytes: Buffer): string {
  return utf8.decode(bytes)
}
