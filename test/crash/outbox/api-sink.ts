/** The API of a provider that fails now and then. The same seed makes the same attempts fail. */
import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { onTestFinished } from 'vitest'
import { type ApiAct, type ApiScheme, startMailApi } from '../../support/mail/api-server.ts'
import { random } from '../../support/random.ts'
import type { Arrival } from './sink.ts'

export type ApiEvent = 'request' | 'bytes' | 'message'

/** Numbers below these, from 0 to 1, make these faults; the first that is not reached counts. */
const FAULTS: readonly { readonly below: number; readonly act: ApiAct }[] = [
  { below: 0.03, act: 'take and drop' },
  { below: 0.05, act: 'take and fail' },
  { below: 0.07, act: 'drop' },
  { below: 0.09, act: { status: 500, body: '<html>Oops</html>' } },
  { below: 0.14, act: { status: 429, headers: { 'retry-after': '0.01' } } },
  { below: 0.19, act: { status: 429, headers: { 'retry-after': '90' } } },
]

interface Wanted {
  readonly seed: number
  readonly allows: (headers: IncomingHttpHeaders) => boolean
  /** The clock of the senders. */
  readonly now: () => Promise<number>
  /** Runs with the number of each message that has come. */
  readonly onMessage: (number: number) => void
}

/** Starts the server for the current test. */
export async function startApiSink(scheme: ApiScheme, { seed, allows, now, onMessage }: Wanted) {
  const arrivals: Arrival[] = []
  const refused = { turnedAway: 0, deferred: 0 }
  /** The number of messages that the API recognised, and did not take again. */
  const recognised = { messages: 0 }
  const attempts = new Map<string, number>()
  const events = new EventEmitter<Record<ApiEvent, []>>()
  let messages = 0
  const decide = (to: string): ApiAct | null => {
    const attempt = (attempts.get(to) ?? 0) + 1
    attempts.set(to, attempt)
    const drawn = random(createHash('sha256').update(`${seed} ${attempt} ${to}`).digest().readUInt32BE())()
    return FAULTS.find(({ below }) => drawn < below)?.act ?? null
  }
  const api = await startMailApi(scheme, {
    allows(headers) {
      const isAllowed = allows(headers)
      if (!isAllowed) refused.turnedAway++
      return isAllowed
    },
    now,
    onRequest(request) {
      events.emit('request')
      request.on('data', () => events.emit('bytes'))
    },
    decide: ({ to }) => decide(to),
    onMail({ to, id, sha256 }, act, isKnown) {
      const isTaken = act === null || act === 'take and drop' || act === 'take and fail'
      if (isKnown) recognised.messages++
      else {
        const end = isTaken ? (act === null ? 'taken' : 'lost') : 'refused'
        arrivals.push({ to, end, messageId: `<${id}@example.com>`, isSigned: true, sha256 })
      }
      events.emit('message')
      onMessage(++messages)
    },
  })
  onTestFinished(() => api[Symbol.asyncDispose]())
  return {
    url: api.url,
    arrivals,
    refused,
    recognised,
    /** Resolves when messages have come so far so many times from now on. */
    async untilEvent(event: ApiEvent, times: number): Promise<void> {
      for (let left = times; left > 0; left--) await once(events, event)
    },
  }
}
