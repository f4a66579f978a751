/** What one provider's API looks like: the request for a message, and what each of its answers means. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Message } from '../../domain/message.ts'
import { adviceFor } from '../advice.ts'
import type { MailApi } from '../mail-url.ts'
import type { FailedSend, SendConcern, SendFailure } from '../sending.ts'
import { SendError } from '../sending.ts'
import { WORDS } from '../smtp-failure.ts'

export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The parsed JSON; null if the answer is none. */
  readonly json: Json | null
  readonly text: string
}

export type Json = Readonly<Record<string, unknown>>

export interface Vendor {
  /** The largest message that the API takes, in bytes of MIME. */
  readonly maxBytes: number
  /** @param returnAddress the address to which bounces go, with the id of the message; null for the sender */
  request(message: Message, bytes: Buffer, api: MailApi, returnAddress: string | null): ApiRequest
  /**
   * Returns the headers that prove the login, where a bearer token does not.
   * @param api has the key, and its secret as the password
   */
  readonly authorize?: (request: ApiRequest, api: MailApi, now: Date) => Readonly<Record<string, string>>
  /** Returns the id under which a message was accepted, empty if the API gives none; null if it was not accepted. */
  acceptedAs(answer: ApiAnswer): string | null
  /** The first row that fits decides; then the rows for all vendors. */
  readonly rules: readonly AnswerRule[]
  /**
   * How long the API recognises a request by the header Idempotency-Key, in milliseconds; absent if it does not.
   */
  readonly recognisesMs?: number
  /** A request that changes nothing, and shows that the API takes the login. */
  readonly probePath: string
  /** Returns what the answer to that request shows, as the rest of a sentence; null if it is a failure. */
  found(answer: ApiAnswer): string | null
}

/**
 * Whom or what an answer blames. `unclear`: nobody knows whether the message was accepted. `conflict`: the same,
 * and to ask again brings the same answer.
 */
type Blame = 'recipient' | 'message' | 'size' | 'sender' | 'setting' | 'busy' | 'unclear' | 'conflict'

const MEANINGS = {
  recipient: { kind: 'permanent', concerns: 'message' },
  message: { kind: 'refused', concerns: 'message' },
  size: { kind: 'permanent', concerns: 'message' },
  sender: { kind: 'sender', concerns: 'server' },
  setting: { kind: 'configuration', concerns: 'server' },
  busy: { kind: 'transient', concerns: 'server' },
  unclear: { kind: 'unknown', concerns: 'either' },
  conflict: { kind: 'unknown', concerns: 'message' },
} as const satisfies Record<Blame, { kind: SendFailure; concerns: SendConcern }>

export interface AnswerRule {
  /** Tests the status with the code that the API gives, such as `403 rateLimitExceeded`, or `403 ` without one. */
  readonly codes: RegExp
  readonly words?: RegExp
  readonly blame: Blame
}

/**
 * The rows for all vendors. A status 4xx says that the request was not carried out (RFC 9110, 15.5). A gateway
 * says 503 too, of a request that it may have passed on; so 503 counts only with a code of the API, or with
 * Retry-After.
 */
const RULES: readonly AnswerRule[] = [
  { codes: /^413 /, blame: 'size' },
  { codes: /^(?:408|425|429|503) ./, blame: 'busy' },
  { codes: /^(?:408|425|429) /, blame: 'busy' },
  { codes: /^(?:3..|401|402|403|404|405|407|410|421|426|451) /, blame: 'setting' },
  { codes: /^4.. /, blame: 'message' },
  { codes: /./, blame: 'unclear' },
]

/**
 * Judges an answer that accepts nothing.
 * @param recipient the address; null if the request was for no message
 * @param waitMs the wait that the answer asks for
 */
export function judgeAnswer(
  { rules }: Pick<Vendor, 'rules'>,
  answer: ApiAnswer,
  { recipient, waitMs }: { readonly recipient: string | null; readonly waitMs: number | null },
  said: string,
): FailedSend {
  const { status } = answer
  const { code, words } = faultIn(answer)
  const codes = `${status} ${code}`
  const isOfRecipient = recipient !== null && words.toLowerCase().includes(recipient.toLowerCase())
  const own = rules.find(
    (rule) => rule.codes.test(codes) && (rule.words === undefined || rule.words.test(words)),
  )
  const blame =
    own?.blame ??
    // Where the API names no reason that is known, the address that it quotes is the reason.
    ((isOfRecipient && /^4(?:00|22) /.test(codes) && 'recipient') ||
      (status === 503 && waitMs !== null && 'busy') ||
      (RULES.find((rule) => rule.codes.test(codes))?.blame ?? 'unclear'))
  // A request for no message leaves nothing open.
  const { kind, concerns } = MEANINGS[recipient === null && blame === 'unclear' ? 'busy' : blame]
  return {
    kind,
    concerns,
    isInMessage: recipient !== null,
    isTooLarge: blame === 'size',
    isRefusal: blame === 'recipient' || blame === 'message',
    // An answer that leaves the fate of the message open counts like none.
    replyCode: blame === 'size' || kind === 'unknown' ? null : status,
    waitMs,
    said,
  }
}

/** Finds the code and the words of an error, in the forms of Microsoft, Google, Amazon and Resend. */
export function faultIn({ headers, json, text }: ApiAnswer): {
  readonly code: string
  readonly words: string
} {
  const error = objectIn(json?.error) ?? json ?? {}
  const [first] = Array.isArray(error.errors) ? error.errors : []
  const codes = [headers['x-amzn-errortype'], objectIn(first)?.reason, error.code, error.name, error.status]
  const code = codes.find((one): one is string => typeof one === 'string' && one !== '') ?? ''
  const words = error.message ?? error.Message
  return {
    // Amazon may write a colon and an address behind the code.
    code: code.replace(/:.*/s, ''),
    words: typeof words === 'string' ? words : text.replace(/<(style|script)\b.*?<\/\1>|<[^>]*>/gis, ' '),
  }
}

export function objectIn(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null
}

export function textIn(json: Json | null, name: string): string | null {
  const value = json?.[name]
  return typeof value === 'string' && value !== '' ? value : null
}

const SETTING_HINT =
  'Check the login in mail.oauth, or the key in mail.url (LEADSHEET_MAIL_URL), and that it may send mail as mail.from.'

interface ErrorAbout {
  /** Null if the request was for no message. */
  readonly recipient: string | null
  readonly cause?: unknown
}

/** @param place the name of the API, such as `graph://graph.microsoft.com` */
export function apiError(place: string, failed: FailedSend, { recipient, cause }: ErrorAbout): SendError {
  const { kind, concerns, isTooLarge, replyCode, said } = failed
  const isRefused = concerns === 'message' && kind !== 'unknown'
  const words = WORDS[isTooLarge ? 'size' : kind]
  const isBusy = kind === 'transient' && replyCode !== null
  const problem = isBusy ? 'defers messages' : kind === 'unknown' ? 'gave no clear answer' : words.problem
  return new SendError(
    isRefused || kind === 'sender' ? 'mail_rejected' : 'mail_unreachable',
    `${place} ${problem}${recipient === null ? '' : ` for ${recipient}`}: ${said}`,
    failed,
    {
      hint:
        adviceFor(said, URL.parse(place)?.protocol) ?? (kind === 'configuration' ? SETTING_HINT : words.hint),
      cause,
    },
  )
}
