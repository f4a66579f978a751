/** The body of an answer: read whole and within bounds, unpacked, and told apart from what is not JSON. */
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { constants, gunzip } from 'node:zlib'

const MIB = 1024 * 1024
export const WIRE_BYTES_MAX = 32 * MIB
export const BODY_BYTES_MAX = 64 * MIB
/** Of an error's body no more is read than a message could need. */
const ERROR_BYTES_MAX = 64 * 1024
const QUOTE_CHARS = 200

const unzip = promisify(gunzip)

/** An answer with more in it, or packed in another way, than is read. */
export class UnreadableBody extends Error {}

/**
 * The whole body, unpacked.
 * @throws UnreadableBody; what the connection or zlib throws for a body that is cut
 */
export async function readBody(body: AsyncIterable<Buffer>, headers: IncomingHttpHeaders): Promise<Buffer> {
  const { bytes, isWhole } = await readBytes(body, WIRE_BYTES_MAX)
  if (!isWhole) throw new UnreadableBody(`sent more than ${WIRE_BYTES_MAX / MIB} MiB in one answer`)
  if (!isGzip(headers)) return bytes
  try {
    return await unzip(bytes, { maxOutputLength: BODY_BYTES_MAX })
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_BUFFER_TOO_LARGE')
      throw new UnreadableBody(`sent an answer that unpacks to more than ${BODY_BYTES_MAX / MIB} MiB`)
    throw thrown
  }
}

/** How an error's body begins; empty where it cannot be read, since the status alone says enough. */
export async function readErrorBody(
  body: AsyncIterable<Buffer>,
  headers: IncomingHttpHeaders,
): Promise<string> {
  try {
    const { bytes } = await readBytes(body, ERROR_BYTES_MAX)
    const partly = { maxOutputLength: ERROR_BYTES_MAX, finishFlush: constants.Z_SYNC_FLUSH }
    return decode(isGzip(headers) ? await unzip(bytes, partly) : bytes)
  } catch {
    return ''
  }
}

/** Whether an answer is JSON by its type; without one, by how it begins. */
export function isJson(headers: IncomingHttpHeaders, text: string): boolean {
  const type = headers['content-type']
  return type === undefined
    ? /^\s*[[{]/.test(text)
    : /^\s*(application|text)\/([\w.-]+\+)?json\s*(;|$)/i.test(type)
}

/** What a problem document (RFC 9457) or a common error body says, in one line. */
export function problemText(text: string): string {
  try {
    return quote(saidIn(JSON.parse(text)) ?? text)
  } catch {
    // Not JSON after all: the text itself is the best there is.
    return quote(text)
  }
}

const SAYING = ['detail', 'message', 'error_description', 'error', 'errors', 'title'] as const

/** What an error body says in one of the usual places; null where it says nothing there. */
export function saidIn(body: unknown, depth = 0): string | null {
  if (typeof body === 'string') return body === '' ? null : body
  if (typeof body !== 'object' || body === null || depth > 3) return null
  const inner: unknown[] = Array.isArray(body)
    ? body.slice(0, 1)
    : SAYING.map((name) => Reflect.get(body, name))
  return inner.map((value) => saidIn(value, depth + 1)).find((said) => said !== null) ?? null
}

/** The beginning of a text, in one line. */
export function quote(text: string): string {
  const line = text
    .slice(0, 4 * QUOTE_CHARS)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > QUOTE_CHARS ? `${line.slice(0, QUOTE_CHARS)}…` : line
}

/** @throws UnreadableBody for a packing that was not asked for */
function isGzip(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return false
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  throw new UnreadableBody(`packed its answer as ${quote(encoding)}, though only gzip was asked for`)
}

/** Leaving the loop early closes the connection: what is not read must not hold it. */
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

/** Bytes as text. A byte order mark is dropped, broken UTF-8 becomes U+FFFD. */
export function decode(bytes: Buffer): string {
  return utf8.decode(bytes)
}
