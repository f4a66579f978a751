/** One POST over HTTP, which never throws, follows no redirect and always ends in time. */
import type { IncomingHttpHeaders } from 'node:http'
import type { openDispatcher } from './proxy.ts'

export const CONNECT_MS = 5_000
/** The time limit of a post, from resolving the host name to the end of the answer. */
export const TOTAL_MS = 10_000
/** The maximum number of bytes of an answer that are read. Only the status of the answer is used. */
const ANSWER_MAX_BYTES = 64 * 1024

export interface Post {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal?: AbortSignal
  /** The limit for the whole request in milliseconds. */
  readonly totalMs?: number
}

interface Answer {
  /** The status of the answer; null if there was none. */
  readonly status: number | null
  readonly headers: IncomingHttpHeaders
  /** Null if it was taken. Contains neither the URL, which may be secret, nor words from the other server. */
  readonly error: string | null
}

export async function post(
  agent: Pick<ReturnType<typeof openDispatcher>, 'request'>,
  { url, headers, body, signal, totalMs = TOTAL_MS }: Post,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(totalMs)
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers,
      body,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    // The status alone decides the outcome. The body is read and ignored, and so is a failure to read it.
    await answer.body.dump({ limit: ANSWER_MAX_BYTES }).catch(() => undefined)
    const { statusCode: status } = answer
    return { status, headers: answer.headers, error: errorOf(status) }
  } catch (thrown) {
    return { status: null, headers: {}, error: reasonOf(thrown, totalMs) }
  }
}

function errorOf(status: number): string | null {
  if (status >= 200 && status <= 299) return null
  if (status >= 300 && status <= 399) return `it answered ${status}, a redirect, which is not followed`
  return `it answered ${status}`
}

/** Describes an error by its code, because its text may reveal the URL or details of the other server. */
function reasonOf(thrown: unknown, totalMs: number): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return reasonOf(thrown.errors[0], totalMs)
  if (thrown instanceof AddressRefused) return `the address is refused: ${thrown.message}`
  if (!(thrown instanceof Error)) return 'it failed'
  if (thrown.name === 'TimeoutError') return `no answer within ${totalMs / 1000} s`
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.name
  return WORDS[code] ?? `it failed (${code})`
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ECONNRESET: 'the connection was cut (ECONNRESET)',
  ENOTFOUND: 'there is no host of that name (ENOTFOUND)',
  EAI_AGAIN: 'its name cannot be looked up (EAI_AGAIN)',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${CONNECT_MS / 1000} s`,
  UND_ERR_DESTROYED: 'the program was stopped',
  UND_ERR_SOCKET: 'the connection was cut',
  AbortError: 'the program was told to stop',
}

/** The text does not contain the address, because private addresses must not be revealed. */
export class AddressRefused extends Error {
  constructor() {
    super('its name leads to an address of this machine or of a private or reserved network')
    this.name = 'AddressRefused'
  }
}
