/**
 * Makes one attempt to send a message. An attempt never throws, follows no redirect, and ends within a time
 * limit. Only the status and Retry-After of an answer are kept, so that a webhook's owner cannot read other
 * servers through the service.
 */

import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Agent } from 'undici'
import type { WireEvent, WirePing } from '../../contract/webhook.ts'
import { EVENT_VERSION, PING_TYPE } from '../../contract/webhook.ts'
import { retryAfterMs } from '../../retry.ts'
import { instantOf } from '../store/database.ts'
import type { EventRow, WebhookMessageRow } from '../store/tables.ts'
import type { AddressGuard } from './address.ts'
import { AddressRefused } from './address.ts'

const CONNECT_MS = 5_000
/** The time limit of an attempt, from resolving the name to the end of the answer. */
export const TOTAL_MS = 10_000
const ANSWER_MAX_BYTES = 64 * 1024
/** The statuses with which the header Retry-After counts. */
const BUSY_STATUSES = [429, 503]

export interface PostOutcome {
  readonly status: number | null
  /** The reason why the message was not delivered; null if it was delivered. */
  readonly error: string | null
  /** How many milliseconds the receiver wants no message; null if it does not say. */
  readonly retryAfterMs: number | null
  readonly durationMs: number
}

export interface WebhookPoster {
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<PostOutcome>
  /** Ends the attempts under way. These attempts fail as cut off. */
  close(): Promise<void>
}

/**
 * Creates the function that makes attempts.
 * @param totalMs the time limit of an attempt; tests of receivers that never answer set a shorter one
 */
export function createWebhookPoster(
  guard: AddressGuard,
  now: () => number,
  totalMs: number = TOTAL_MS,
): WebhookPoster {
  const agent = new Agent({
    // Because an environment variable could otherwise turn the check of certificates off.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true, lookup: guard.lookup },
  })

  async function send(
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<Omit<PostOutcome, 'durationMs'>> {
    // Numeric addresses are never resolved, so the guard's lookup does not check them.
    const refusal = guard.refusalOf(url)
    if (refusal !== null) return failed(`the address is refused: ${refusal}`)
    try {
      const answer = await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'leadsheet-service' },
        body,
        signal: AbortSignal.timeout(totalMs),
      })
      // Failures while the rest is read are ignored, because the status of an answer that is too long or does
      // not end is already known.
      await answer.body.dump({ limit: ANSWER_MAX_BYTES }).catch(() => undefined)
      const { statusCode: status, headers: answered } = answer
      const asked = BUSY_STATUSES.includes(status) ? askedToWait(answered, new Date(now())) : null
      return { status, error: errorOf(status), retryAfterMs: asked }
    } catch (thrown) {
      return failed(reasonOf(thrown, totalMs))
    }
  }

  return {
    async post(url, headers, body) {
      const began = performance.now()
      const outcome = await send(new URL(url), headers, body)
      return { ...outcome, durationMs: Math.round(performance.now() - began) }
    },
    close: () => agent.destroy(),
  }
}

function failed(error: string): Omit<PostOutcome, 'durationMs'> {
  return { status: null, error, retryAfterMs: null }
}

function errorOf(status: number): string | null {
  if (status >= 200 && status <= 299) return null
  if (status >= 300 && status <= 399) return `it answered ${status}, a redirect, which is not followed`
  return `it answered ${status}`
}

/**
 * Returns the wait of Retry-After in milliseconds; null if there is none. A date is compared with the
 * answer's own Date header, if it has one.
 */
function askedToWait(headers: IncomingHttpHeaders, now: Date): number | null {
  const asked = headers['retry-after']
  const date = Date.parse(headers.date ?? '')
  return typeof asked === 'string' ? retryAfterMs(asked, Number.isNaN(date) ? now : new Date(date)) : null
}

/** Explains an error by its code alone, because its text may reveal more about the other server. */
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
  UND_ERR_DESTROYED: 'the service was stopped',
  UND_ERR_SOCKET: 'the connection was cut',
}

/**
 * The content of a message, written once for each webhook, so that every attempt has the same id and the same
 * bytes.
 */

export type Message = Pick<WebhookMessageRow, 'id' | 'type' | 'body'>

export function eventMessage({ id, type, at, data }: EventRow): Message {
  return messageOf(`evt_${id}`, type, at, JSON.parse(data))
}

/**
 * Makes the content of a test message.
 * @param at the simulated time in milliseconds since 1970, as in events
 */
export function pingMessage(webhookId: string, at: number): Message {
  const data: WirePing['data'] = { webhook_id: webhookId }
  return messageOf(`ping_${randomBytes(8).toString('hex')}`, PING_TYPE, at, data)
}

function messageOf(id: string, type: (WireEvent | WirePing)['type'], at: number, data: unknown): Message {
  const body = { id, type, version: EVENT_VERSION, timestamp: instantOf(at), data }
  return { id: `msg_${randomBytes(12).toString('hex')}`, type, body: JSON.stringify(body) }
}
