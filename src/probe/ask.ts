/**
 * Sends the probe's requests: GETs only, one after the other with a pause, no request twice, and at most
 * REQUESTS_MAX. A refusal counts as an answer.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import { BACKOFF, type Backoff, wait } from '../retry.ts'
import type { Answer } from '../upstream/client/answer.ts'
import { authorize } from '../upstream/client/request.ts'
import { createClient } from '../upstream/client/retrying-client.ts'
import type { Profile } from '../upstream/profile/profile.ts'

const REQUESTS_MAX = 150
const PACE_MS = 50

export type Auth = Profile['auth']

/** A form of sending the key that sends no key, only the further headers. */
const NO_KEY = { header: 'Authorization', value: '' } as const

export interface Reply {
  readonly url: URL
  /** The request without the key, shown as evidence: `GET /leads?limit=3`. */
  readonly request: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The parsed JSON, or the text of a refusal or of a body that is not JSON. */
  readonly body: unknown
}

export type Headers = Readonly<Record<string, string>>

export interface Asker {
  /** How the next requests send the API key. */
  auth: Auth
  /** Headers of every request, as the user gave them. `{key}` stands for the API key. */
  readonly headers: Headers
  get(url: URL, headers?: Headers): Promise<Reply>
  readonly requests: number
  /** Returns how many more requests may be sent until their total reaches the limit. */
  left(limit: number): number
  close(): Promise<void>
}

interface AskerOptions {
  /** The API key; empty if there is none. */
  readonly apiKey: string
  /** Further headers of every request. `{key}` stands for the API key. */
  readonly headers?: Headers
  readonly maxWaitMs: number
  readonly log: Log
  readonly signal: AbortSignal
  readonly paceMs?: number
  readonly backoff?: Backoff
}

/**
 * Creates the asker. Its requests throw LeadsheetError api_unreachable, api_deferred, or api_rejected when
 * REQUESTS_MAX is reached.
 */
export function openAsker(options: AskerOptions): Asker {
  const { apiKey, signal } = options
  // Because refused trials are normal in a probe and need no warning.
  const log = options.log.child({}, { level: 'error' })
  const client = createClient({
    apiKey,
    log,
    maxWaitMs: options.maxWaitMs,
    userAgent: 'leadsheet-probe',
    backoff: options.backoff ?? BACKOFF.probe,
    authorize: (url, headers) => {
      authorize({ auth: { ...NO_KEY, headers: asker.headers } }, apiKey, url, headers)
      authorize(asker, apiKey, url, headers)
    },
  })
  const known = new Map<string, Reply>()
  const asker: Asker = {
    auth: 'none',
    headers: options.headers ?? {},
    get requests() {
      return client.usage.requests
    },
    left: (limit) => Math.max(0, limit - known.size),
    close: () => client.close(),
    async get(url, headers = {}) {
      const question = JSON.stringify([url.href, headers, asker.auth])
      const before = known.get(question)
      if (before) return before
      if (known.size >= REQUESTS_MAX) throw tooMany()
      if (known.size > 0) await wait(options.paceMs ?? PACE_MS, signal)
      const answer = await client
        .call({ method: 'GET', url, headers, takesAny: true, signal })
        .catch(asRefusal)
      const reply = { ...answer, url, request: requestText(url, headers) }
      known.set(question, reply)
      return reply
    },
  }
  return asker
}

/**
 * Turns a 5xx that remains after all retries into an answer, because some servers fail on a parameter that
 * they do not know.
 */
function asRefusal(thrown: unknown): Answer {
  const isAnswered =
    thrown instanceof LeadsheetError &&
    (thrown.code === 'api_unexpected' || (thrown.code === 'api_unreachable' && thrown.cause === undefined))
  if (!isAnswered) throw thrown
  return { status: 500, headers: {}, body: thrown.message }
}

function requestText(url: URL, headers: Headers): string {
  const extra = Object.entries(headers).map(([name, value]) => ` (${name}: ${value})`)
  return `GET ${decodeSoftly(url.pathname + url.search)}${extra.join('')}`
}

/** Decodes a path so that people can read it: `page[size]=3` rather than `page%5Bsize%5D=3`. */
function decodeSoftly(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function tooMany(): LeadsheetError {
  return new LeadsheetError('api_rejected', `the probe stops after ${REQUESTS_MAX} requests`, {
    hint: 'Name the path of the list with --path, or write the profile by hand.',
  })
}
