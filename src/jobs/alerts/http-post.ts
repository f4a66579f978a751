/** Posts a small body to a URL from the settings. */
import { CONNECT_MS, post, TOTAL_MS } from '../../http-post.ts'
import { openDispatcher, type ProxySettings } from '../../proxy.ts'

export interface PostOutcome {
  readonly isTaken: boolean
  /** A status or a reason. It contains neither the URL, which is secret, nor words from the other server. */
  readonly response: string
}

export interface Poster extends AsyncDisposable {
  /** @param timeoutMs the limit for the whole request, at most 10 s */
  post(
    url: URL,
    contentType: string,
    body: string,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<PostOutcome>
}

export function openPoster(proxy?: ProxySettings): Poster {
  const agent = openDispatcher(proxy, {
    // The check of the certificate is requested explicitly, so that no environment variable can turn it off.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true },
    pipelining: 0,
  })
  return {
    async post(url, contentType, body, signal, timeoutMs = TOTAL_MS) {
      const headers = { 'content-type': contentType, 'user-agent': 'leadsheet' }
      const totalMs = Math.min(timeoutMs, TOTAL_MS)
      const { status, error } = await post(agent, { url, headers, body, signal, totalMs })
      return { isTaken: error === null, response: error ?? String(status) }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}
