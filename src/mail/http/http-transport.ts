/**
 * Sends messages over the API of a provider. What providers have in common is here: connections, time limits,
 * tokens, waits, and how sure it is that a message was not accepted.
 */
import type { Message } from '../../domain/message.ts'
import { errorText, LeadsheetError } from '../../errors.ts'
import { openDispatcher } from '../../proxy.ts'
import { withoutLearnedSecrets } from '../../redaction.ts'
import { retryAfterMs, wait } from '../../retry.ts'
import { type MailScheme, mailApiOf } from '../mail-url.ts'
import { idOf } from '../message.ts'
import type { FailedSend, Receipt, SendOptions, TransportOptions } from '../sending.ts'
import { bodyOf, NOT_SENT, NotBegun, noTokenError, quoteServer, sendFitting } from '../sending.ts'
import { CERTIFICATE } from '../smtp-failure.ts'
import { GMAIL } from './gmail.ts'
import { GRAPH } from './graph.ts'
import { RESEND } from './resend.ts'
import { SES } from './ses.ts'
import {
  type ApiAnswer,
  type ApiRequest,
  apiError,
  faultIn,
  judgeAnswer,
  objectIn,
  type Vendor,
} from './vendor.ts'

/** By the protocol of the mail URL. */
export const VENDORS: Readonly<Partial<Record<string, Vendor>>> = {
  'graph:': GRAPH,
  'gmail:': GMAIL,
  'ses:': SES,
  'resend:': RESEND,
} satisfies Partial<Record<MailScheme, Vendor>>

function vendorOf({ protocol }: URL): Vendor {
  const vendor = VENDORS[protocol]
  if (vendor === undefined) throw new Error(`${protocol} is no API`)
  return vendor
}

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

/** What a request is for. */
interface Purpose extends SendOptions {
  /** Null if the request is for no message. */
  readonly recipient: string | null
}

/** @param url a URL with the protocol of an API */
export function openHttpTransport(url: URL, options: TransportOptions) {
  const { log, tokens = null, returnAddress = null, proxy, now = () => new Date() } = options
  const api = mailApiOf(url)
  const vendor = vendorOf(url)
  const dispatcher = openDispatcher(proxy, {
    // Certificates are always checked. Otherwise an environment variable of Node could turn the check off.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true },
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })

  const attempt = async (message: Message, bytes: Buffer, { signal, onData, queuedAt }: SendOptions) => {
    const purpose = { recipient: message.to, signal, ...(onData && { onData }) }
    if (bytes.length > vendor.maxBytes) throw apiError(api.name, tooLarge(bytes.length, vendor), purpose)
    const bounceTo = returnAddress?.replace('{id}', idOf(message.messageId)) ?? null
    const request = vendor.request(message, bytes, api, bounceTo)
    const until = recognisedUntil(vendor, queuedAt)
    const headers = { ...request.headers, ...(until && { 'idempotency-key': keyOf(message, queuedAt) }) }
    const isTaken = (answer: ApiAnswer): boolean => vendor.acceptedAs(answer) !== null
    const answer = await call({ ...request, headers }, purpose, isTaken, until)
    const id = vendor.acceptedAs(answer)
    const accepted = quoteServer(id === '' ? 'accepted' : `accepted as ${id}`, [])
    // Without a code, because an earlier attempt with this key was the same to the API.
    const isSame = until !== null && now().toISOString() < until
    return isSame ? accepted : `${answer.status} ${accepted}`
  }

  /**
   * Sends a request until there is an answer that is taken, or that says no.
   * @param until the time up to which the API recognises the request if it is sent again; null if it does not
   */
  async function call(
    request: ApiRequest,
    purpose: Purpose,
    isTaken: (answer: ApiAnswer) => boolean,
    until: string | null = null,
  ): Promise<ApiAnswer> {
    let key = await withTokens(purpose, (signal) => tokens?.current(signal) ?? api.password)
    let isRenewed = false
    for (let waits = 0; ; waits++) {
      const answer = await exchange(request, key, purpose, until)
      if (isTaken(answer)) return answer
      if (answer.status === 401 && tokens !== null && !isRenewed) {
        isRenewed = true
        const refused = key
        key = await withTokens(purpose, async (signal) =>
          (await tokens.hasOther(refused, signal)) ? tokens.current(signal) : refused,
        )
        if (key !== refused) continue
      }
      const waitMs = waitIn(answer, now())
      const about = { recipient: purpose.recipient, waitMs }
      const failed = judgeAnswer(vendor, answer, about, quote(wordsOf(answer), key))
      const error = apiError(api.name, openFor(failed, until), purpose)
      const isShort = waitMs !== null && waitMs <= WAIT_MAX_MS
      if (failed.kind !== 'transient' || !isShort || waits === WAITS_MAX) throw error
      log.debug({ server: api.name, waitMs }, error.message)
      await wait(waitMs, purpose.signal).catch(() => {
        throw error
      })
    }
  }

  /** @throws SendError if there is no answer */
  async function exchange(
    request: ApiRequest,
    key: string,
    { recipient, signal, onData }: Purpose,
    until: string | null,
  ): Promise<ApiAnswer> {
    let hasBegun = false
    const isPost = request.method === 'POST'
    try {
      const { statusCode, headers, body } = await dispatcher.request({
        origin: api.origin,
        path: request.path,
        method: request.method,
        headers: {
          ...request.headers,
          ...(vendor.authorize?.(request, api, now()) ?? { authorization: `Bearer ${key}` }),
          ...(isPost && { 'content-length': String(request.body.length) }),
          accept: 'application/json',
          'user-agent': 'leadsheet',
        },
        // The body is read when the connection stands. If that breaks after this, delivery is unknown.
        body: isPost
          ? bodyOf(request.body, async () => {
              await onData?.()
              hasBegun = true
            })
          : null,
        signal,
      })
      const text = await readText(body)
      return { status: statusCode, headers, json: parsed(text), text }
    } catch (thrown) {
      if (thrown instanceof NotBegun) throw thrown.cause
      const failed = lostConnection(thrown, hasBegun, quote(errorText(thrown), key))
      throw apiError(api.name, openFor(failed, until), { recipient, cause: thrown })
    }
  }

  /** @throws SendError if there is no token now */
  async function withTokens(
    { recipient, signal }: Purpose,
    work: (signal: AbortSignal) => string | Promise<string>,
  ): Promise<string> {
    try {
      return await work(signal)
    } catch (thrown) {
      if (thrown instanceof LeadsheetError) throw noTokenError(api.name, thrown)
      if (!signal.aborted) throw thrown
      throw apiError(api.name, { ...NOT_SENT, said: errorText(thrown) }, { recipient, cause: thrown })
    }
  }

  const quote = (words: string, key: string): string =>
    quoteServer(
      withoutLearnedSecrets(words),
      [key, api.password].filter((secret) => secret !== ''),
    )

  const close = async (): Promise<void> => {
    await Promise.all([tokens?.close(), dispatcher.close()])
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
      const request = { method: 'GET', path: vendor.probePath, headers: {}, body: Buffer.alloc(0) } as const
      const answer = await call(request, { recipient: null, signal }, (one) => vendor.found(one) !== null)
      return vendor.found(answer) ?? ''
    },
    close,
    [Symbol.asyncDispose]: close,
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

/** If another attempt can show the fate of a message, adds until when it cannot double the message. */
function openFor(failed: FailedSend, until: string | null): FailedSend {
  return failed.kind === 'unknown' && failed.concerns === 'either'
    ? { ...failed, repeatableUntil: until }
    : failed
}

function lostConnection(thrown: unknown, hasBegun: boolean, said: string): FailedSend {
  if (hasBegun) return { ...NOT_SENT, kind: 'unknown', concerns: 'either', isInMessage: true, said }
  const { code } = Object(thrown)
  return { ...NOT_SENT, kind: CERTIFICATE.test(String(code)) ? 'configuration' : 'transient', said }
}

function tooLarge(bytes: number, { maxBytes }: Vendor): FailedSend {
  const said = `the message has ${bytes} bytes, and the API takes at most ${maxBytes}`
  return { ...NOT_SENT, kind: 'permanent', concerns: 'message', isInMessage: true, isTooLarge: true, said }
}

/** If the body breaks off, the status has to say enough. */
async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > ANSWER_BYTES_MAX) break
      chunks.push(chunk)
    }
  } catch {
    return ''
  }
  return Buffer.concat(chunks).toString()
}

function parsed(text: string) {
  try {
    return objectIn(JSON.parse(text))
  } catch {
    return null
  }
}

function wordsOf(answer: ApiAnswer): string {
  const { code, words } = faultIn(answer)
  return `${answer.status} ${code === '' ? '' : `${code}: `}${words}`
}

/** Google writes the time into its words. */
function waitIn(answer: ApiAnswer, now: Date): number | null {
  const header = answer.headers['retry-after']
  const [, time = ''] = /\bretry after (\d{4}-\S+Z)/i.exec(faultIn(answer).words) ?? []
  const ms = retryAfterMs(typeof header === 'string' ? header : null, now) ?? Date.parse(time) - now.getTime()
  return ms > 0 ? ms : null
}
