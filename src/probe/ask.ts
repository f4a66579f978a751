/**
 * Asks an upstream that is not known yet: GETs only, one after the other at a polite pace, none twice, and no
 * more than a fixed number. A refusal is an answer here.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import { BACKOFF, type Backoff, wait } from '../retry.ts'
import type { Answer } from '../upstream/client/answer.ts'
import { createClient } from '../upstream/client/client.ts'
import { authorize } from '../upstream/client/request.ts'
import type { Profile } from '../upstream/profile/profile.ts'

const REQUESTS_MAX = 150
const PACE_MS = 50

export type Auth = Profile['auth']

/** What sends nothing but its further headers. */
export const NO_KEY = { header: 'Authorization', value: '' } as const

export interface Reply {
  readonly url: URL
  /** `GET /leads?limit=3`, as evidence; without the key. */
  readonly request: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Parsed JSON, or the text of a refusal or of what is no JSON. */
  readonly body: unknown
}

export type Headers = Readonly<Record<string, string>>

export interface Asker {
  /** How the key goes along from now on. */
  auth: Auth
  /** Go along with every request, as the user gave them; `{key}` is filled in. */
  readonly headers: Headers
  get(url: URL, headers?: Headers): Promise<Reply>
  readonly requests: number
  /** How many questions may still be asked before there were so many. */
  left(limit: number): number
  close(): Promise<void>
}

export interface AskerOptions {
  /** Empty where there is none. */
  readonly apiKey: string
  /** Further ones that every request has. */
  readonly headers?: Headers
  readonly maxWaitMs: number
  readonly log: Log
  readonly signal: AbortSignal
  readonly paceMs?: number
  readonly backoff?: Backoff
}

/** Asking throws LeadsheetError api_unreachable, api_deferred, or api_rejected when the limit is reached. */
export function openAsker(options: AskerOptions): Asker {
  const { apiKey, signal } = options
  // That a trial is refused is no news.
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

/** A 5xx that stays is an answer too: some servers fail over a parameter that they do not know. */
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

/** For reading: `page[size]=3` rather than `page%5Bsize%5D=3`. */
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
