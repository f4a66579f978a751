/**
 * Sends a few bytes to an address of the operators' choice. Never throws, follows no redirect, and ends in time: what
 * tells of troubles must not be one.
 */
import { Agent } from 'undici'

const CONNECT_MS = 5_000
const TOTAL_MS = 10_000
/** Of an answer nothing is wanted but its status. */
const ANSWER_MAX_BYTES = 64 * 1024

export interface Outcome {
  readonly isTaken: boolean
  /** `200`, or why it was not taken; never with the address, which is secret, nor with words of the far side. */
  readonly said: string
}

export interface Poster extends AsyncDisposable {
  /** @param timeoutMs in all, at most 10 s */
  post(url: URL, contentType: string, body: string, signal: AbortSignal, timeoutMs?: number): Promise<Outcome>
}

export function openPoster(): Poster {
  const agent = new Agent({
    // Said, so that no variable of the environment turns it off.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true },
    maxResponseSize: ANSWER_MAX_BYTES,
    pipelining: 0,
  })
  return {
    async post(url, contentType, body, signal, timeoutMs = TOTAL_MS) {
      try {
        const answer = await agent.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'POST',
          headers: { 'content-type': contentType, 'user-agent': 'leadsheet' },
          body,
          signal: AbortSignal.any([signal, AbortSignal.timeout(Math.min(timeoutMs, TOTAL_MS))]),
        })
        const { statusCode } = answer
        // An answer that does not end, or is too long, has said what is wanted.
        await answer.body.dump({ limit: ANSWER_MAX_BYTES }).catch(() => {})
        return { isTaken: statusCode >= 200 && statusCode <= 299, said: saidBy(statusCode) }
      } catch (thrown) {
        return { isTaken: false, said: reasonOf(thrown) }
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}

function saidBy(status: number): string {
  if (status >= 300 && status <= 399) return `${status}: a redirect, which is not followed`
  return String(status)
}

/** From codes alone: the text of an error may have the address in it. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return reasonOf(thrown.errors[0])
  if (!(thrown instanceof Error)) return 'it failed'
  if (thrown.name === 'TimeoutError') return 'no answer in time'
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.name
  return WORDS[code] ?? code
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ECONNRESET: 'the connection was cut (ECONNRESET)',
  ENOTFOUND: 'there is no host of that name (ENOTFOUND)',
  EAI_AGAIN: 'its name cannot be looked up (EAI_AGAIN)',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was cut',
  AbortError: 'the program was told to stop',
}
