/** The parts that all transports share: what sending a message needs, what it returns, and how it can fail. */
import { Readable } from 'node:stream'
import type { Message } from '../domain/message.ts'
import type { Instant } from '../domain/model.ts'
import { type ErrorCode, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ProxySettings } from '../proxy.ts'
import { redactor } from '../redaction.ts'
import { adviceFor } from './advice.ts'
import type { DkimKey } from './message.ts'
import { buildMessage, fitFiles, withoutFiles } from './message.ts'

/** Access tokens of OAuth 2.0; a part of `KeySource`. */
export interface Tokens {
  current(signal: AbortSignal): Promise<string>
  /** Returns whether there is another token now that the server has refused this one. */
  hasOther(refused: string, signal: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

export interface TransportOptions {
  readonly log: Log
  /** The key that signs the messages; null if messages are not signed. */
  readonly dkim?: DkimKey | null
  /** Null if the login is in the URL. The transport closes it. */
  readonly tokens?: Tokens | null
  /** The envelope sender, see `mail.bounces.address`; null for the sender. */
  readonly returnAddress?: string | null
  /** The proxies for the APIs of providers. */
  readonly proxy?: ProxySettings | undefined
  readonly now?: () => Date
}

/** The options for sending one message, the same for every transport. */
export interface SendOptions {
  readonly signal: AbortSignal
  /**
   * Runs just before the first byte of the message is sent, and is awaited. If the function fails, nothing is
   * sent and its error is thrown. If the connection breaks before this call, the message was certainly not
   * delivered; if it breaks later, the message may have been delivered.
   */
  readonly onData?: () => void | Promise<void>
  /**
   * The time at which the message was queued, first or by a person again; absent for a message that is not
   * queued. Some servers recognise a further attempt to send the same queued message, and do not send it twice.
   */
  readonly queuedAt?: Instant
}

/** The answer with which the server accepted the message. */
export interface Receipt {
  /** Begins with the reply code, unless an earlier attempt cannot have delivered another copy. */
  readonly response: string
}

/**
 * The meaning of a failure for the message. `transient`: not delivered, to be tried again. `permanent`: this
 * message can never be delivered. `refused`: the server refused the message and named neither its recipient nor
 * its sender, so it may refuse each like it; the message is tried again as if it were deferred.
 * `configuration`: the message can be delivered only after a setting is changed. `sender`: the server takes
 * nothing from this sender, whoever it is for, until a limit has passed or a person has changed something.
 * `unknown`: the message may or may not have been delivered.
 */
export type SendFailure = 'transient' | 'permanent' | 'refused' | 'configuration' | 'sender' | 'unknown'

/**
 * The messages that a failure concerns. `message`: only this message. `server`: every message to this server.
 * `either`: one of these two, but it is unknown which. The connection then broke in the middle of a message,
 * perhaps because of that message, or the server deferred a message for what may be a fault of the sender.
 */
export type SendConcern = 'message' | 'server' | 'either'

/** The facts about a failed attempt, as the transport has judged them. */
export interface FailedSend {
  readonly kind: SendFailure
  readonly concerns: SendConcern
  /** Tells whether the attempt failed after the login, while the message was being sent. */
  readonly isInMessage: boolean
  /** Tells whether the server, or the size that it announces, lets only smaller messages pass. */
  readonly isTooLarge: boolean
  /** Tells whether the server refused the message for good, and not for its size. This counts against the recipient. */
  readonly isRefusal: boolean
  /** The code of the server's answer, of SMTP or HTTP; null if there was no answer, or if it was about the size. */
  readonly replyCode: number | null
  /** The time in milliseconds that the server asks us to wait; null if it does not say. */
  readonly waitMs: number | null
  /** The text of the server's answer, or the reason why there was none. */
  readonly said: string
  /** If nobody knows whether the message was delivered: until when another attempt cannot double it; null if it can. */
  readonly repeatableUntil?: Instant | null
}

/**
 * A failed attempt: with the code `mail_rejected` if the server refused this message or its sender, otherwise
 * with `mail_unreachable`.
 */
export class SendError extends LeadsheetError {
  readonly failed: FailedSend

  constructor(
    code: 'mail_rejected' | 'mail_unreachable',
    message: string,
    failed: FailedSend,
    { hint, cause }: { readonly hint: string; readonly cause?: unknown },
  ) {
    super(code, message, { hint, cause })
    this.failed = failed
  }
}

/** A failure before anything was sent, which may pass. */
export const NOT_SENT: FailedSend = {
  kind: 'transient',
  concerns: 'server',
  isInMessage: false,
  isTooLarge: false,
  isRefusal: false,
  replyCode: null,
  waitMs: null,
  said: '',
}

/** With these, there is no token until a person has changed something. */
const NO_TOKEN_CODES: readonly ErrorCode[] = [
  'api_unauthorized',
  'api_unexpected',
  'data_unwritable',
  'store_corrupt',
]

/**
 * The error for a message that could not be sent because there is no access token.
 * @param place the name of the server or the API
 * @param thrown the error of `Tokens`; one of the token URL says that, and quotes its answer
 */
export function noTokenError(place: string, thrown: LeadsheetError): SendError {
  const { code, message, hint = '' } = thrown
  const kind = NO_TOKEN_CODES.includes(code) ? 'configuration' : 'transient'
  const failed: FailedSend = { ...NOT_SENT, kind, said: quoteServer(message, []) }
  return new SendError('mail_unreachable', `${place} was not asked: ${message}`, failed, {
    hint: adviceFor(message) ?? hint,
    cause: thrown,
  })
}

/** Null if the error comes neither from the server nor from the message. */
export function failedSendOf(thrown: unknown): FailedSend | null {
  if (thrown instanceof SendError) return thrown.failed
  if (!(thrown instanceof LeadsheetError) || thrown.code !== 'config_invalid') return null
  // An address that no mail can have is refused before the server is asked.
  return { ...NOT_SENT, kind: 'permanent', concerns: 'message', isInMessage: true, said: thrown.message }
}

/** Is thrown if `onData` fails before any byte is sent. Its `cause` is the error of `onData`. */
export class NotBegun extends Error {}

/** Returns the bytes as a stream that calls a function, and waits for it, when its first byte is wanted. */
export function bodyOf(bytes: Buffer, beforeFirstByte: () => Promise<void>): Readable {
  return new Readable({
    read() {
      beforeFirstByte().then(
        () => {
          this.push(bytes)
          this.push(null)
        },
        (cause: unknown) => this.destroy(new NotBegun('nothing was sent', { cause })),
      )
    },
  })
}

const SAID_LENGTH = 300

/**
 * Shortens the words of a server for the ledger. Removes secrets before it cuts the text, because half a
 * password at the cut would not be recognised.
 */
export function quoteServer(words: string, secrets: readonly string[]): string {
  return redactor(secrets)(words).replace(/\s+/g, ' ').slice(0, SAID_LENGTH).trim()
}

/**
 * Sends a message. If it is too large for the server, leaves out attachments and adds a sentence that names
 * them.
 * @param attempt sends the bytes once
 * @param maxBytes returns the largest message that the server takes; 0 if it is not known
 * @returns the server's answer
 */
export async function sendFitting(
  message: Message,
  dkim: DkimKey | null,
  options: SendOptions,
  attempt: (message: Message, bytes: Buffer, options: SendOptions) => Promise<string>,
  maxBytes: () => number,
): Promise<string> {
  let onData = options.onData
  const once = async (): Promise<void> => {
    await onData?.()
    onData = undefined
  }
  try {
    return await attempt(message, await buildMessage(message, dkim), { ...options, onData: once })
  } catch (thrown) {
    if (!failedSendOf(thrown)?.isTooLarge) throw thrown
    const attached = message.files.filter(({ cid }) => cid === null)
    const { left } = fitFiles(message.files, maxBytes())
    const without = left.length > 0 ? left : attached
    if (without.length === 0) throw thrown
    const smaller = withoutFiles(message, without)
    const response = await attempt(smaller, await buildMessage(smaller, dkim), { ...options, onData: once })
    return `${response}; sent without ${without.map(({ name }) => name).join(', ')}: too large for the server`
  }
}
