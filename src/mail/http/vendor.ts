/** Describes the API of one provider: the request for a message, and the meaning of each answer. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Message } from '../../domain/message.ts'
import type { MailApi } from '../mail-url.ts'
import type { Blame } from '../sending.ts'

export interface ApiRequest {
  readonly path: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Null for a GET; otherwise it is a POST. */
  readonly body: Buffer | null
}

type Json = Readonly<Record<string, unknown>>

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
  readonly acceptedAs: (answer: ApiAnswer) => string | null
  /** The first row that fits decides; then the rows for all vendors. */
  readonly rules: readonly AnswerRule[]
  /**
   * The time for which the API recognises a request by the header Idempotency-Key, in milliseconds; absent if it does
   * not.
   */
  readonly recognisesMs?: number
  /** A request that changes nothing, and shows that the API takes the login. */
  readonly probePath: string
  /** Returns what the answer to that request shows, as the rest of a sentence; null if it is a failure. */
  readonly found: (answer: ApiAnswer) => string | null
}

interface AnswerRule {
  /** Tests the status with the code that the API gives, such as `403 rateLimitExceeded`, or `403 ` without one. */
  readonly codes: RegExp
  readonly words?: RegExp
  readonly blame: Blame
}

/**
 * The rows for all vendors. A status 4xx says that the request was not carried out (RFC 9110, 15.5). A 5xx leaves
 * that open, 503 too: a gateway may have passed the request on, and mail has arrived that a provider answered so.
 */
const RULES: readonly AnswerRule[] = [
  { codes: /^413 /, blame: 'size' },
  { codes: /^(?:408|425|429) /, blame: 'busy' },
  { codes: /^(?:3..|401|402|403|404|405|407|410|421|426|451) /, blame: 'setting' },
  { codes: /^4.. /, blame: 'message' },
  { codes: /./, blame: 'unclear' },
]

/**
 * Finds whom an answer blames that accepts nothing.
 * @param recipient the address; null if the request was for no message
 */
export function blameOf(
  { rules }: Vendor,
  { status, code, words }: ApiAnswer,
  recipient: string | null,
): Blame {
  const codes = `${status} ${code}`
  const find = (all: readonly AnswerRule[]) =>
    all.find((rule) => rule.codes.test(codes) && rule.words?.test(words) !== false)?.blame
  const isOfRecipient = recipient !== null && words.toLowerCase().includes(recipient.toLowerCase())
  // If the API names no known reason, the address that it quotes is the reason.
  const named = isOfRecipient && /^4(?:00|22) /.test(codes) ? 'recipient' : undefined
  const blame = find(rules) ?? named ?? find(RULES) ?? 'unclear'
  // A request for no message leaves nothing open.
  return recipient === null && blame === 'unclear' ? 'busy' : blame
}

/** Only so much of a page is searched for words. */
const WORDS_LENGTH = 5_000

export type ApiAnswer = Readonly<ReturnType<typeof readAnswer>>

/** Reads an answer, and the code and the words of an error in the forms of Microsoft, Google, Amazon and Resend. */
export function readAnswer(status: number, headers: IncomingHttpHeaders, text: string) {
  const json = parsed(text)
  const error = objectIn(json?.error) ?? json ?? {}
  const [first] = Array.isArray(error.errors) ? error.errors : []
  const codes = [headers['x-amzn-errortype'], objectIn(first)?.reason, error.code, error.name, error.status]
  const code = codes.find((one): one is string => typeof one === 'string' && one !== '') ?? ''
  const page = text.slice(0, WORDS_LENGTH).replace(/<(style|script)\b.*?<\/\1>|<[^>]*>/gis, ' ')
  const words = error.message ?? error.Message
  return {
    status,
    headers,
    /** Null if the answer is no object in JSON. */
    json,
    // Amazon may write a colon and an address behind the code.
    code: code.replace(/:.*/s, ''),
    words: typeof words === 'string' ? words : page,
  }
}

function parsed(text: string): Json | null {
  try {
    return objectIn(JSON.parse(text))
  } catch {
    return null
  }
}

export function objectIn(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null
}

export function textIn(json: Json | null, name: string): string | null {
  const value = json?.[name]
  return typeof value === 'string' && value !== '' ? value : null
}
