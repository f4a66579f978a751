/** The parts that all transports share: what sending a message needs, what it returns, and how it can fail. */
import { Readable } from 'node:stream'
import type { Message } from '../domain/message.ts'
import type { Instant } from '../domain/model.ts'
import { type ErrorCode, errorText, LeadsheetError, shellCommand } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ProxySettings } from '../proxy.ts'
import { learnSecret, redactor, withoutLearnedSecrets } from '../redaction.ts'
import { adviceFor } from './advice.ts'
import { isMailApi } from './mail-url.ts'
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
type SendFailure = 'transient' | 'permanent' | 'refused' | 'configuration' | 'sender' | 'unknown'

/**
 * The messages that a failure concerns. `message`: only this message. `server`: every message to this server.
 * `either`: one of these two, but it is unknown which. The connection then broke in the middle of a message,
 * perhaps because of that message, or the server deferred a message for what may be a fault of the sender.
 */
type SendConcern = 'message' | 'server' | 'either'

/**
 * The cause of a failure. `message`: the content, or nobody knows. `deferred`: the message may pass later, which is about
 * its recipient; `unsure`: about that or the sender, or the connection broke. `busy`: all may pass later.
 * `unclear`: nobody knows whether the message was accepted. `conflict`: the same, and to ask again brings the same
 * answer.
 */
export type Blame = keyof typeof MEANINGS

const MEANINGS = {
  recipient: { kind: 'permanent', concerns: 'message' },
  message: { kind: 'refused', concerns: 'message' },
  size: { kind: 'permanent', concerns: 'message' },
  sender: { kind: 'sender', concerns: 'server' },
  setting: { kind: 'configuration', concerns: 'server' },
  busy: { kind: 'transient', concerns: 'server' },
  deferred: { kind: 'transient', concerns: 'message' },
  unsure: { kind: 'transient', concerns: 'either' },
  unclear: { kind: 'unknown', concerns: 'either' },
  conflict: { kind: 'unknown', concerns: 'message' },
} as const satisfies Record<string, { kind: SendFailure; concerns: SendConcern }>

export interface FaultFacts {
  /** Tells whether the attempt failed after the login, while the message was being sent. */
  readonly isInMessage: boolean
  /** The text of the server's answer, or the reason why there was none. */
  readonly said: string
  /** The code of the server's answer, of SMTP or HTTP; absent if there was no answer. */
  readonly replyCode?: number | null
  /** The time in milliseconds that the server asks us to wait; null if it does not say. */
  readonly waitMs?: number | null
  /** Until when another attempt cannot double the message. */
  readonly until?: Instant | null
}

/** The facts about a failed attempt, as the transport has judged them. */
export type FailedSend = Readonly<ReturnType<typeof failedBy>>

function failedBy(blame: Blame, facts: FaultFacts) {
  const { isInMessage, said, replyCode = null, waitMs = null, until = null } = facts
  const { kind, concerns }: { kind: SendFailure; concerns: SendConcern } = MEANINGS[blame]
  return {
    kind,
    concerns,
    isInMessage,
    /** Tells whether the server, or the size that it announces, lets only smaller messages pass. */
    isTooLarge: blame === 'size',
    /** Tells whether the server refused the message for good, and not for its size. This counts against the recipient. */
    isRefusal: replyCode !== null && (blame === 'recipient' || blame === 'message'),
    // An answer that leaves the fate of the message open counts like none.
    replyCode: blame === 'size' || kind === 'unknown' ? null : replyCode,
    waitMs,
    said,
    /** If nobody knows whether the message was delivered: until when another attempt cannot double it; null if it can. */
    repeatableUntil: blame === 'unclear' ? until : null,
  }
}

interface ErrorFacts extends FaultFacts {
  /** Absent or null if nothing was to be sent. */
  readonly recipient?: string | null | undefined
  readonly cause?: unknown
  /** The words that decide on the advice, if they are more than those that are quoted. */
  readonly words?: string
  /** The row of words, if it does not follow from the blame. */
  readonly as?: keyof typeof WORDS | undefined
  /** The hint where there is no advice; absent for the hint of the row. */
  readonly hint?: string | undefined
}

/**
 * A failed attempt: with the code `mail_rejected` if the server refused this message or its sender, otherwise
 * with `mail_unreachable`.
 */
export class SendError extends LeadsheetError {
  readonly failed: FailedSend

  /** @param place the name of the server or the API, such as `smtp://mail.example.com:587` */
  constructor(place: string, blame: Blame, facts: ErrorFacts) {
    const failed = failedBy(blame, facts)
    const { kind, concerns, isTooLarge, replyCode, said } = failed
    const { recipient, cause, words = said, as } = facts
    const { protocol = '' } = URL.parse(place) ?? {}
    const isOne = concerns === 'message' || (concerns === 'either' && replyCode !== null)
    const isRefused = isOne && kind !== 'unknown'
    const isBusy = kind === 'transient' && replyCode !== null
    const own = protocol === 'file:' ? 'folder' : isMailApi({ protocol }) ? API_ROWS[kind] : undefined
    const row = WORDS[as ?? own ?? (isTooLarge ? 'size' : isBusy ? 'busy' : kind)]
    const problem = isRefused && !isTooLarge ? REFUSED : row.problem
    super(
      isRefused || kind === 'sender' ? 'mail_rejected' : 'mail_unreachable',
      `${place} ${problem}${recipient ? ` for ${recipient}` : ''}: ${said}`,
      { hint: adviceFor(words, protocol) ?? facts.hint ?? row.hint, cause },
    )
    this.failed = failed
  }
}

const REFUSED = 'refused the message'
const OF_PASSING = `Nothing was delivered; it can be tried again. If it keeps failing, check mail.url (LEADSHEET_MAIL_URL): ${shellCommand('doctor')} tries it.`
const OF_UNKNOWN = 'The message may have arrived. Sent again it has the same Message-ID.'

/** By the kind of a failure, and further rows of one way of sending. */
const WORDS = {
  transient: { problem: 'could not be reached', hint: OF_PASSING },
  busy: { problem: 'defers messages', hint: OF_PASSING },
  configuration: {
    problem: 'did not let us in',
    hint: `Check the user, password, port and protocol of mail.url (LEADSHEET_MAIL_URL), and the certificate of the server; ${shellCommand('doctor')} tries them.`,
  },
  folder: {
    problem: 'cannot be written',
    hint: 'Set mail.url (LEADSHEET_MAIL_URL) to a folder that this user may write to, with free space.',
  },
  api_login: {
    problem: 'did not let us in',
    hint: 'Check the login in mail.oauth, or the key in mail.url (LEADSHEET_MAIL_URL), and that it may send mail as mail.from.',
  },
  no_token: { problem: 'was not asked', hint: OF_PASSING },
  token: {
    problem: 'did not take the access token',
    hint: 'The token is new, and came from mail.oauth.token_url. Check the user in mail.url, mail.oauth.scope, and whether the app may send as this user: "Microsoft 365" and "Google Workspace" in docs/how-to/send-mail.md.',
  },
  no_oauth: {
    problem: 'takes no login by OAuth',
    hint: 'Check the host and the port of mail.url (LEADSHEET_MAIL_URL), or put a password into it in place of mail.oauth.',
  },
  permanent: { problem: REFUSED, hint: 'Check the address of the recipient and of the sender.' },
  refused: {
    problem: REFUSED,
    hint: 'The answer names no recipient, so it may be about the content or the sender: ask whoever runs the mail server.',
  },
  sender: {
    problem: 'takes no message from us',
    hint: 'This is about the sender and not about a recipient. Check the sending limits of the account, whether it may send as mail.from, and the SPF, DKIM and DMARC records of the domain.',
  },
  unknown: {
    problem: 'was lost after the message was sent and before it was confirmed',
    hint: OF_UNKNOWN,
  },
  unclear: { problem: 'gave no clear answer', hint: OF_UNKNOWN },
  size: {
    problem: 'takes no message of this size',
    hint: 'Have the limit of the mail server raised, or give the report fewer blocks and rows.',
  },
  no_tls: {
    problem: 'has no TLS to offer',
    hint: 'Take the port of the server that has TLS: smtp:// with STARTTLS, mostly 587, or smtps://, mostly 465. Where each machine on the way is trusted, ?insecure=true behind the mail URL goes without.',
  },
} satisfies Readonly<Record<string, { problem: string; hint: string }>>

/** The rows that are other for an API than for a mail server. */
const API_ROWS: Partial<Record<SendFailure, keyof typeof WORDS>> = {
  configuration: 'api_login',
  unknown: 'unclear',
}

/** The codes of errors of TLS about a certificate. */
export const CERTIFICATE = /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_)/

/** With these, there is no token until a person has changed something. */
const NO_TOKEN_CODES: readonly ErrorCode[] = [
  'api_unauthorized',
  'api_unexpected',
  'data_unwritable',
  'store_corrupt',
]

/**
 * Logs in with a token. One that the server refuses is replaced once; the second refusal is final.
 * @param place the name of the server or the API
 * @param isRefused tells whether an error of `logIn` is about the token
 * @throws SendError if there is no token; one of the token URL says that, and quotes its answer
 */
export async function withToken<T>(
  {
    tokens,
    place,
    signal,
  }: { readonly tokens: Tokens; readonly place: string; readonly signal: AbortSignal },
  logIn: (token: string) => Promise<T>,
  isRefused: (thrown: unknown) => boolean,
): Promise<T> {
  const noToken = (thrown: unknown): never => {
    if (!(thrown instanceof LeadsheetError || signal.aborted)) throw thrown
    const { code, hint } = thrown instanceof LeadsheetError ? thrown : {}
    const blame = code !== undefined && NO_TOKEN_CODES.includes(code) ? 'setting' : 'busy'
    const words = errorText(thrown)
    const said = quoteServer(words)
    throw new SendError(place, blame, {
      isInMessage: false,
      said,
      cause: thrown,
      words,
      as: 'no_token',
      hint,
    })
  }
  const token = learnSecret(await tokens.current(signal).catch(noToken))
  try {
    return await logIn(token)
  } catch (thrown) {
    if (!isRefused(thrown) || !(await tokens.hasOther(token, signal).catch(noToken))) throw thrown
    return logIn(learnSecret(await tokens.current(signal).catch(noToken)))
  }
}

/** Null if the error comes neither from the server nor from the message. */
export function failedSendOf(thrown: unknown): FailedSend | null {
  if (thrown instanceof SendError) return thrown.failed
  if (!(thrown instanceof LeadsheetError) || thrown.code !== 'config_invalid') return null
  // An address that no mail can have is refused before the server is asked.
  return failedBy('recipient', { isInMessage: true, said: thrown.message })
}

/** Is thrown if `onData` fails before any byte is sent. Its `cause` is the error of `onData`. */
export class NotBegun extends Error {}

/** Returns the bytes as a stream that calls a function, and waits for it, when its first byte is wanted. */
export function bodyOf(bytes: Buffer, beforeFirstByte: () => Promise<void>): Readable {
  async function* read() {
    await beforeFirstByte().catch((cause: unknown) => {
      throw new NotBegun('nothing was sent', { cause })
    })
    yield bytes
  }
  return Readable.from(read(), { objectMode: false })
}

const SAID_LENGTH = 300

/**
 * Shortens the words of a server for the ledger. Removes secrets and the tokens of logins before it cuts the text,
 * because half a password at the cut would not be recognised.
 */
export function quoteServer(words: string, secrets: readonly string[] = []): string {
  return redactor(secrets)(withoutLearnedSecrets(words)).replace(/\s+/g, ' ').slice(0, SAID_LENGTH).trim()
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
