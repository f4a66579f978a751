/**
 * Posts a small body to a URL from the settings. A post never throws, follows no redirect and always ends in
 * time, because alerts must not cause problems themselves.
 */
import { openDispatcher, type ProxySettings } from '../../proxy.ts'

const CONNECT_MS = 5_000
const TOTAL_MS = 10_000
/** The maximum number of bytes of an answer that are read. Only the status of the answer is used. */
const ANSWER_MAX_BYTES = 64 * 1024

export interface PostOutcome {
  readonly isTaken: boolean
  /**
   * The status, such as `200`, or the reason why the post failed. The text contains neither the URL, which is
   * secret, nor words from the other server.
   */
  readonly response: string
}

export interface Poster extends AsyncDisposable {
  /**
   * Posts the body.
   * @param timeoutMs the limit for the whole request in milliseconds, at most 10 s
   */
  post(
    url: URL,
    contentType: string,
    body: string,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<PostOutcome>
}

/** @param proxy the proxies of the environment; absent if there are none */
export function openPoster(proxy?: ProxySettings): Poster {
  const agent = openDispatcher(proxy, {
    // The check of the certificate is requested explicitly, so that no environment variable can turn it off.
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
        // The status is already known here, so it does not matter if the body is endless or too long.
        await answer.body.dump({ limit: ANSWER_MAX_BYTES }).catch(() => {})
        return { isTaken: statusCode >= 200 && statusCode <= 299, response: formatStatus(statusCode) }
      } catch (thrown) {
        return { isTaken: false, response: reasonOf(thrown) }
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}

function formatStatus(status: number): string {
  if (status >= 300 && status <= 399) return `${status}: a redirect, which is not followed`
  return String(status)
}

/** Describes an error only by its code, because its text may contain the URL. */
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
