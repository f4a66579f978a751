/**
 * Sends messages over the API of a provider. What providers have in common is here: connections, time limits,
 * tokens, waits, and how sure it is that a message was not accepted.
 */
import type { Message } from '../../domain/message.ts'
import type { Instant } from '../../domain/model.ts'
import { errorText } from '../../errors.ts'
import { openDispatcher } from '../../proxy.ts'
import { retryAfterMs, wait } from '../../retry.ts'
import { type MailScheme, mailApiOf } from '../mail-url.ts'
import { idOf } from '../message.ts'
import type { Blame, FaultFacts, Receipt, SendOptions, TransportOptions } from '../sending.ts'
import {
  bodyOf,
  CERTIFICATE,
  failedSendOf,
  NotBegun,
  quoteServer,
  SendError,
  sendFitting,
  withToken,
} from '../sending.ts'
import { GMAIL } from './gmail.ts'
import { GRAPH } from './graph.ts'
import { RESEND } from './resend.ts'
import { SES } from './ses.ts'
import type { ApiAnswer, ApiRequest, Vendor } from './vendor.ts'
import { blameOf, readAnswer } from './vendor.ts'

/** By the protocol of the mail URL. */
export const VENDORS: Readonly<Partial<Record<string, Vendor>>> = {
  'graph:': GRAPH,
  'gmail:': GMAIL,
  'ses:': SES,
  'resend:': RESEND,
} satisfies Partial<Record<MailScheme, Vendor>>

const CONNECT_MS = 30_000
/** Servers keep an idle connection longer, so a message rarely meets one that is just closing. */
const KEEP_ALIVE_MS = 4_000
/** The wait for an answer. It is long, because a message without an answer is sent again. */
const ANSWER_MS = 300_000
/** The time limit for all steps of one message together. */
const TOTAL_MS = 900_000
const ANSWER_BYTES_MAX = 256 * 1024
/** Waits up to this time, which an API asks for, are part of the attempt. */
const WAIT_MAX_MS = 30_000
const WAITS_MAX = 3

/** The purpose of a request. */
interface Purpose extends SendOptions {
  /** Null if the request is for no message. */
  readonly recipient: string | null
  /** The time up to which the API recognises the request if it is sent again; null if it does not. */
  readonly until: Instant | null
}

/** @param url a URL with the protocol of the vendor */
export function openHttpTransport(url: URL, vendor: Vendor, options: TransportOptions) {
  const { log, tokens = null, returnAddress = null, proxy, now = () => new Date() } = options
  const api = mailApiOf(url)
  const dispatcher = openDispatcher(proxy, {
    // Certificates are always checked. Otherwise an environment variable of Node could turn the check off.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true },
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxResponseSize: ANSWER_BYTES_MAX,
  })

  const attempt = async (message: Message, bytes: Buffer, { signal, onData, queuedAt }: SendOptions) => {
    const until = recognisedUntil(vendor, queuedAt)
    const purpose = { recipient: message.to, until, signal, ...(onData && { onData }) }
    if (bytes.length > vendor.maxBytes) {
      const said = `the message has ${bytes.length} bytes, and the API takes at most ${vendor.maxBytes}`
      throw errorOf('size', { isInMessage: true, said }, purpose)
    }
    const bounceTo = returnAddress?.replace('{id}', idOf(message.messageId)) ?? null
    const request = vendor.request(message, bytes, api, bounceTo)
    const headers = { ...request.headers, ...(until && { 'idempotency-key': keyOf(message, queuedAt) }) }
    const [id, status] = await call({ ...request, headers }, purpose, vendor.acceptedAs)
    const accepted = quoteServer(id === '' ? 'accepted' : `accepted as ${id}`)
    // Without a code, because an earlier attempt with this key was the same to the API.
    const isSame = until !== null && now().toISOString() < until
    return isSame ? accepted : `${status} ${accepted}`
  }

  /**
   * Sends a request until there is an answer that is taken, or that says no.
   * @param read finds in an answer what is wanted; null if it says no
   * @returns that, and the status
   */
  function call(
    request: ApiRequest,
    purpose: Purpose,
    read: (answer: ApiAnswer) => string | null,
  ): Promise<readonly [found: string, status: number]> {
    const ask = async (key: string) => {
      for (let waits = 0; ; waits++) {
        const answer = await exchange(request, key, purpose)
        const found = read(answer)
        if (found !== null) return [found, answer.status] as const
        const { recipient, signal } = purpose
        const { status, code, words } = answer
        const waitMs = waitIn(answer, now())
        const said = `${status} ${code === '' ? '' : `${code}: `}${words}`
        const facts = { isInMessage: recipient !== null, replyCode: status, waitMs, said }
        const error = errorOf(blameOf(vendor, answer, recipient), facts, purpose)
        const isShort = waitMs !== null && waitMs <= WAIT_MAX_MS
        if (error.failed.kind !== 'transient' || !isShort || waits === WAITS_MAX) throw error
        log.debug({ server: api.name, waitMs }, error.message)
        await wait(waitMs, signal).catch(() => {
          throw error
        })
      }
    }
    if (tokens === null) return ask(api.password)
    const isRefused = (thrown: unknown) => failedSendOf(thrown)?.replyCode === 401
    return withToken({ tokens, place: api.name, signal: purpose.signal }, ask, isRefused)
  }

  /** @throws SendError if there is no answer */
  async function exchange(request: ApiRequest, key: string, purpose: Purpose): Promise<ApiAnswer> {
    let hasBegun = false
    const content = request.body
    try {
      const { statusCode, headers, body } = await dispatcher.request({
        origin: api.origin,
        path: request.path,
        method: content === null ? 'GET' : 'POST',
        headers: {
          ...request.headers,
          ...(vendor.authorize?.(request, api, now()) ?? { authorization: `Bearer ${key}` }),
          ...(content && { 'content-length': String(content.length) }),
          accept: 'application/json',
          'accept-encoding': 'identity',
          'user-agent': 'leadsheet',
        },
        // The body is read when the connection stands. If that breaks after this, delivery is unknown.
        body:
          content &&
          bodyOf(content, async () => {
            await purpose.onData?.()
            hasBegun = true
          }),
        signal: purpose.signal,
      })
      // If the body breaks off, the status has to say enough.
      return readAnswer(statusCode, headers, await body.text().catch(() => ''))
    } catch (thrown) {
      if (thrown instanceof NotBegun) throw thrown.cause
      const blame = CERTIFICATE.test(String(Object(thrown).code)) ? 'setting' : 'busy'
      const facts = { isInMessage: hasBegun, said: errorText(thrown) }
      throw errorOf(hasBegun ? 'unclear' : blame, facts, purpose, thrown)
    }
  }

  function errorOf(blame: Blame, facts: FaultFacts, { recipient, until }: Purpose, cause?: unknown) {
    const said = quoteServer(facts.said, [api.password])
    return new SendError(api.name, blame, { ...facts, until, said, recipient, cause })
  }

  return {
    name: api.name,
    send: async (message: Message, sending: SendOptions): Promise<Receipt> => {
      const signal = AbortSignal.any([sending.signal, AbortSignal.timeout(TOTAL_MS)])
      const response = await sendFitting(
        message,
        null,
        { ...sending, signal },
        attempt,
        () => vendor.maxBytes,
      )
      log.debug({ server: api.name, messageId: message.messageId, response }, 'message handed over')
      return { response }
    },
    verify: async (signal: AbortSignal): Promise<string> => {
      const request = { path: vendor.probePath, headers: {}, body: null }
      const [found] = await call(request, { recipient: null, until: null, signal }, vendor.found)
      return found
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([tokens?.close(), dispatcher.close()])
    },
  }
}

/** Null if the API recognises no message, or the message is not queued. */
function recognisedUntil({ recognisesMs }: Vendor, queuedAt: string | undefined): string | null {
  if (recognisesMs === undefined || queuedAt === undefined) return null
  return new Date(Date.parse(queuedAt) + recognisesMs).toISOString()
}

/** A message that a person sends again is another one, and so is one without its attachments. */
function keyOf({ messageId, files }: Message, queuedAt: string | undefined): string {
  return `${idOf(messageId)}-${queuedAt}-${files.length}`
}

/** Google writes the time into its words. */
function waitIn({ headers, words }: ApiAnswer, now: Date): number | null {
  const [, time = ''] = /\bretry after (\d{4}-\S+Z)/i.exec(words) ?? []
  const ms = retryAfterMs(String(headers['retry-after'] ?? ''), now) ?? Date.parse(time) - now.getTime()
  return ms > 0 ? ms : null
}
