/**
 * Decides what a failed attempt to send means. The decision uses only facts, such as how far the attempt got
 * and the server's reply code, and never the text of the reply.
 */
import { errorText, LeadsheetError, shellCommand } from '../errors.ts'
import { redactor } from '../redaction.ts'

/** The step that an attempt reached. After the step `data` began, the whole message may have been sent. */
export type SendPhase = 'connect' | 'login' | 'envelope' | 'data'

/**
 * The meaning of a failure for the message. `transient`: not delivered, to be tried again. `permanent`: this
 * message can never be delivered. `configuration`: the message can be delivered only after a setting is
 * changed. `unknown`: the message may or may not have been delivered.
 */
export type SendFailure = 'transient' | 'permanent' | 'configuration' | 'unknown'

/**
 * The messages that a failure concerns. `message`: only this message. `server`: every message to this server.
 * `either`: one of these two, but it is unknown which. The connection then broke in the middle of a message,
 * perhaps because of that message.
 */
type SendConcern = 'message' | 'server' | 'either'

/** The facts that {@link failedSendOf} derives from a failed attempt. */
export interface FailedSend {
  readonly kind: SendFailure
  readonly concerns: SendConcern
  /** Tells whether the attempt failed after the login, while the message was being sent. */
  readonly isInMessage: boolean
  /** The code of the server's reply; null if there was no reply. */
  readonly replyCode: number | null
  /** The text of the server's reply, or the reason why there was no reply. */
  readonly said: string
}

interface SendFault {
  readonly phase: SendPhase
  /** An error code of nodemailer or of the system, such as EAUTH, ETLS, ECONNECTION or EACCES. */
  readonly code: string
  /** The original error code, if nodemailer replaced it by a code of its own; otherwise empty. */
  readonly originalCode: string
  /** The code of the server's reply; null if there was no reply. */
  readonly replyCode: number | null
}

const SAID_LENGTH = 300
// The reply codes of RFC 4954, 6: authentication required, mechanism too weak, credentials refused,
// encryption required.
const AUTH_REPLIES = [530, 534, 535, 538]
// The error codes with which nodemailer refuses a message or an address before it asks the server. Such a
// message is not sent again.
const REFUSED_HERE = ['EMESSAGE', 'EENVELOPE']
const SETTINGS_AT_FAULT = [
  'EAUTH',
  'ENOAUTH',
  'ETLS',
  'EREQUIRETLS',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EISDIR',
]
const CERTIFICATE = /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_)/

/**
 * Returns the facts of a failed attempt; null if the error comes neither from the server nor from the
 * message.
 */
export function failedSendOf(thrown: unknown): FailedSend | null {
  if (!(thrown instanceof LeadsheetError)) return null
  if (thrown.code === 'config_invalid') {
    return {
      kind: 'permanent',
      concerns: 'message',
      isInMessage: true,
      replyCode: null,
      said: thrown.message,
    }
  }
  if (thrown.code !== 'mail_unreachable' && thrown.code !== 'mail_rejected') return null
  const { phase, code, replyCode } = faultOf(thrown)
  const kind = classifySendFailure(thrown)
  const said =
    thrown.cause instanceof Error && 'said' in thrown.cause ? String(thrown.cause.said) : thrown.message
  return {
    kind,
    concerns: concernOf(kind, phase, code, replyCode),
    isInMessage: !isBeforeMessage(phase),
    replyCode,
    said,
  }
}

function concernOf(kind: SendFailure, phase: SendPhase, code: string, replyCode: number | null): SendConcern {
  if (replyCode === null && REFUSED_HERE.includes(code)) return 'message'
  if (replyCode === 421 || kind === 'configuration' || isBeforeMessage(phase)) return 'server'
  return replyCode === null ? 'either' : 'message'
}

/**
 * Returns what an error means for the message.
 * @param thrown an error of {@link sendError}, or the cause of such an error
 */
export function classifySendFailure(thrown: unknown): SendFailure {
  const { phase, code, originalCode, replyCode } = faultOf(thrown)
  if (replyCode !== null) return meaningOfReply(replyCode, phase)
  if (phase === 'data') return 'unknown'
  if (REFUSED_HERE.includes(code)) return 'permanent'
  const isSetting =
    SETTINGS_AT_FAULT.includes(code) || CERTIFICATE.test(originalCode) || CERTIFICATE.test(code)
  return isSetting ? 'configuration' : 'transient'
}

function meaningOfReply(replyCode: number, phase: SendPhase): SendFailure {
  if (AUTH_REPLIES.includes(replyCode)) return 'configuration'
  if (replyCode < 500) return 'transient'
  if (isBeforeMessage(phase)) return 'configuration'
  // Reply 503 (bad sequence of commands) is a fault of the session, so the message is tried again.
  return replyCode === 503 ? 'transient' : 'permanent'
}

function isBeforeMessage(phase: SendPhase): boolean {
  return phase === 'connect' || phase === 'login'
}

/**
 * Makes the error of a failed attempt: `mail_rejected` if the failure concerns only this message, otherwise
 * `mail_unreachable`.
 * @param place the name of the server, such as `smtp://mail.example.com:587`
 * @param secret the password, which is removed from the server's reply because the reply may repeat it
 */
export function sendError(
  cause: unknown,
  phase: SendPhase,
  place: string,
  options: { readonly recipient?: string; readonly secret?: string } = {},
): LeadsheetError {
  const fault = Object.assign(cause instanceof Error ? cause : new Error(String(cause)), { phase })
  const kind = classifySendFailure(fault)
  const { replyCode, code } = faultOf(fault)
  const isThisMessage = concernOf(kind, phase, code, replyCode) === 'message'
  const words = replyCode === null ? errorText(fault) : replyOf(fault)
  // Removes secrets before it cuts the text, because half a password at the cut would not be recognised.
  const said = redactor([options.secret ?? ''])(words)
    .replace(/\s+/g, ' ')
    .slice(0, SAID_LENGTH)
    .trim()
  Object.assign(fault, { said })
  const whom = options.recipient === undefined ? '' : ` for ${options.recipient}`
  const hasNoTls = code === 'ETLS'
  const problem = isThisMessage ? 'refused the message' : hasNoTls ? 'has no TLS to offer' : PROBLEM[kind]
  return new LeadsheetError(
    isThisMessage ? 'mail_rejected' : 'mail_unreachable',
    `${place} ${problem}${whom}: ${said}`,
    { hint: hasNoTls ? TLS_HINT : HINTS[kind], cause: fault },
  )
}

const PROBLEM = {
  transient: 'could not be reached',
  configuration: 'did not let us in',
  permanent: 'did not let us in',
  unknown: 'was lost after the message was sent and before it was confirmed',
} as const satisfies Record<SendFailure, string>

const HINTS = {
  transient: `Nothing was delivered; it can be tried again. If it keeps failing, check smtp.url (LEADSHEET_SMTP_URL): ${shellCommand('doctor')} tries it.`,
  configuration: `Check the user, password, port and protocol of smtp.url (LEADSHEET_SMTP_URL), and the certificate of the server; ${shellCommand('doctor')} tries them.`,
  permanent: 'Check the address of the recipient and of the sender.',
  unknown: 'The message may have arrived. Sent again it has the same Message-ID.',
} as const satisfies Record<SendFailure, string>

const TLS_HINT =
  'Take the port of the server that has TLS: smtp:// with STARTTLS, mostly 587, or smtps://, mostly 465. Where each machine on the way is trusted, ?insecure=true behind the mail URL goes without.'

function faultOf(thrown: unknown): SendFault {
  const error: unknown = thrown instanceof LeadsheetError ? thrown.cause : thrown
  const facts: Readonly<Record<string, unknown>> = error instanceof Error ? { ...error } : {}
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    phase: PHASES.find((phase) => phase === facts.phase) ?? 'connect',
    code: text(facts.code),
    originalCode: text(facts.originalCode),
    replyCode: typeof facts.responseCode === 'number' ? facts.responseCode : null,
  }
}

const PHASES: readonly SendPhase[] = ['connect', 'login', 'envelope', 'data']

/** Returns the text of the server's reply, or of the error if there was no reply. */
function replyOf(error: Error): string {
  return 'response' in error && typeof error.response === 'string' ? error.response : error.message
}
