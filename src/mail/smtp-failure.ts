/**
 * Decides what a failed attempt to send means, and for whom. Facts come first: how far the attempt got, the
 * server's reply code and its enhanced code (RFC 3463). The words of a reply decide only where codes do not.
 */
import { errorText } from '../errors.ts'
import type { Blame } from './sending.ts'
import { CERTIFICATE, quoteServer, SendError } from './sending.ts'

/** The step that an attempt reached. After the step `data` began, the whole message may have been sent. */
export type SendPhase = 'connect' | 'login' | 'envelope' | 'data'

// The reply codes of RFC 4954, 6: authentication required, mechanism too weak, credentials refused,
// encryption required.
const AUTH_REPLIES = [530, 534, 535, 538]
// The error codes with which nodemailer refuses a message or an address before it asks the server. Such a
// message is not sent again.
const REFUSED_HERE = ['EMESSAGE', 'EENVELOPE']
const SETTINGS_AT_FAULT = /^(?:E(?:NO)?AUTH|E(?:REQUIRE)?TLS|EACCES|EPERM|EROFS|ENOTDIR|EISDIR)$/
/** The code of an error of ours: the server has said that it takes only smaller messages (RFC 1870). */
export const TOO_LARGE = 'ESIZE'
/** The name of the login by an access token, which nodemailer puts into its error behind `AUTH`. */
export const TOKEN = 'TOKEN'

/** The facts of a failed attempt, as nodemailer, the server or the system told them. */
type SendFault = Readonly<ReturnType<typeof faultOf>>

function faultOf(thrown: unknown, phase: SendPhase) {
  const facts: Readonly<Record<string, unknown>> = { ...Object(thrown) }
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    phase,
    /** The command that failed, such as `MAIL FROM`; empty if unknown. */
    command: text(facts.command),
    /** An error code of nodemailer or of the system, such as EAUTH, ETLS, ECONNECTION or EACCES. */
    code: text(facts.code),
    /** The original error code, if nodemailer replaced it by a code of its own; otherwise empty. */
    originalCode: text(facts.originalCode),
    /** The code of the server's reply; null if there was no reply. */
    replyCode: typeof facts.responseCode === 'number' ? facts.responseCode : null,
    /** The text of the server's reply with its code; empty if there was no reply. */
    reply: text(facts.response),
    /** The words of the server about a refused token before its reply, as JSON; empty if there were none. */
    challenge: text(facts.challenge),
  }
}

/** Finds whom or what a failure blames, at whatever step. */
function blameFor(fault: SendFault): Blame {
  const { phase, code, originalCode, replyCode } = fault
  const isBefore = isBeforeMessage(phase)
  if (replyCode === null) {
    if (code === TOO_LARGE) return 'size'
    if (phase === 'data') return 'unclear'
    if (REFUSED_HERE.includes(code)) return 'recipient'
    const isSetting = SETTINGS_AT_FAULT.test(code) || CERTIFICATE.test(originalCode) || CERTIFICATE.test(code)
    return isSetting ? 'setting' : isBefore ? 'busy' : 'unsure'
  }
  if (AUTH_REPLIES.includes(replyCode) || (isBefore && replyCode >= 500)) return 'setting'
  if (isBefore || replyCode === 421) return 'busy'
  const blame = blameOfReply(fault.reply, replyCode, fault.command, phase)
  // Reply 503 (bad sequence of commands) is a fault of the session, so the message is tried again.
  return replyCode >= 500 && replyCode !== 503 ? blame : blame === 'sender' ? 'unsure' : 'deferred'
}

/** Tells whether a server refused an access token, so that another one may help. */
export function isTokenRefused(thrown: unknown): boolean {
  return isOfToken(faultOf(thrown, 'login')) && !isMechanismRefused(thrown)
}

function isOfToken({ command, replyCode }: SendFault): boolean {
  return command === `AUTH ${TOKEN}` && replyCode !== null && replyCode >= 500
}

/** Tells whether a server refused the way of a login, and not the user and the secret (RFC 4954, 6). */
export function isMechanismRefused(thrown: unknown): boolean {
  const { command, replyCode, reply } = faultOf(thrown, 'login')
  if (!['AUTH PLAIN', `AUTH ${TOKEN}`].includes(command) || replyCode === null) return false
  return (
    [500, 502, 504].includes(replyCode) ||
    (replyCode >= 500 && /mechanism|unsupported|unrecogni[sz]ed|not supported|5\.(?:5|7)\.4/i.test(reply))
  )
}

type ReplyBlame = 'recipient' | 'message' | 'sender' | 'size'

interface ReplyRule {
  /** Tests the reply code and the enhanced code, such as `550 5.7.1`, or `550 ` if there is none. */
  readonly codes: RegExp
  /** The command that was refused: MAIL, RCPT (also DATA itself), or the body after the dot; absent for any. */
  readonly at?: 'MAIL' | 'RCPT' | 'body'
  readonly words?: RegExp
  readonly blame: ReplyBlame
}

/**
 * The rows tell whom a reply blames: the first one that fits decides. Words stand last, for servers without enhanced codes
 * and for 5.7.1, which is said of everything. If it is wrong to blame the sender, messages wait and an alert
 * says so; if it is wrong to blame the recipient, people are paused. Sources: RFC 3463, RFC 5321 (4.2.3),
 * RFC 7372, RFC 7505, and the lists of Google, Microsoft 365, Postfix and Exim.
 */
const REPLIES: readonly ReplyRule[] = [
  { codes: / 5\.(?:3\.4|2\.3)$/, blame: 'size' },
  // Microsoft says it under the code 5.2.0, which is else of a mailbox.
  { codes: /./, words: /sendasdenied|outboundspam|submissionquota/i, blame: 'sender' },
  { codes: /^552 /, words: /mailbox/i, blame: 'recipient' },
  {
    codes: /^5(?:00|23|5[0246]) /,
    words:
      /(?:too (?:big|large|long|much)|(?:exceed|limit|max).{0,80}\bsize\b|\bsize\b.{0,80}(?:exceed|limit|max))/is,
    blame: 'size',
  },
  { codes: /^552 $/, at: 'MAIL', blame: 'size' },
  // The server does not know the recipient yet.
  { codes: /./, at: 'MAIL', blame: 'sender' },
  {
    codes: / 5\.(?:1\.(?:[12346]|10)|2\.[0-24]|4\.1|7\.(?:2|1[789]|124|13[3-6]|505|507|510|513|703))$/,
    blame: 'recipient',
  },
  {
    codes: / 5\.(?:1\.(?:[789]|90)|2\.252|4\.5|5\.3|7\.(?:[3489]|1[0-6]|[2-6]\d|50\d|511|[67]\d\d))$/,
    blame: 'sender',
  },
  { codes: / 4\.(?:1\.8|3\.\d|4\.5|5\.3|7\.\d+)$/, blame: 'sender' },
  { codes: / 5\.7\.0$/, at: 'RCPT', blame: 'sender' },
  {
    codes: /./,
    words: /\bsender (?:address|domain|is not|not|rejected|verif)|not owned by/i,
    blame: 'sender',
  },
  {
    codes: /./,
    words:
      /no such|unknown|(?:user|mailbox|recipient|address|account)\b.{0,80}(?:not (?:found|exist)|n't exist|disabled|inactive|unavailable|\bfull\b|over quota)|by (?:the )?recipient|recipient.{0,80}not accept|RESOLVER\.RST/is,
    blame: 'recipient',
  },
  {
    codes: /./,
    words:
      /(?<![\w.@-])relay(?:ing)?\b(?!\.\w)|authenticat|not logged in|log ?in first|\b(?:spf|dkim|dmarc)\b|\bsender\b|send(?:ing)?[ -](?:as|on behalf)\b|address is not verified|rcpthosts|return.path|(?:not (?:allowed|permitted|authori[sz]ed)|permission)s? to send/is,
    blame: 'sender',
  },
  {
    codes: /./,
    words:
      /too many (?:messages|e?mails|recipients|connections)|(?:sending|daily|hourly|outbound|outgoing|message|mail|rate)\b.{0,80}\b(?:limit|quota)|(?:limit|quota)\b.{0,80}\b(?:day|daily|hour|sent|sending)|exceed(?:ed|s)?\b.{0,40}\b(?:max(?:imum)?|send)\b|sending (?:is )?paused|credits exceeded|throttl|slow down/is,
    blame: 'sender',
  },
  {
    codes: /./,
    words:
      /(?:block|black|deny).?list|dnsbl|\brbl\b|spamhaus|spamcop|sorbs|barracuda|reputation|reverse dns|\bptr\b|banned|blocked using|\b(?:client|ip|host|server)\b.{0,80}\b(?:blocked|listed|rejected|denied)|\byour (?:ip|host|server|domain|network|account)\b/is,
    blame: 'sender',
  },
  // The server has not seen the content yet.
  { codes: /./, at: 'RCPT', words: /spam|unsolicited|abuse/i, blame: 'sender' },
  // A policy may be about every recipient or about one.
  { codes: /./, at: 'RCPT', words: /\bpolicy\b|administrative|prohibit/i, blame: 'message' },
]

/**
 * Returns whom a reply blames.
 * @param reply the words of the reply, with an enhanced code such as `5.1.1` or without
 * @param command the command that was refused; empty for a reply that a notification quotes
 */
export function blameOfReply(
  reply: string,
  replyCode: number,
  command = '',
  phase: SendPhase = 'envelope',
): ReplyBlame {
  const at = phase === 'data' ? 'body' : command === 'MAIL FROM' ? 'MAIL' : 'RCPT'
  // Takes the class from the reply code, because some servers write 4.x.x after a 5xx. Four numbers are an
  // address of the network.
  const [, detail = ''] = /(?<![\d.])[45](\.\d{1,3}\.\d{1,3})(?!\.?\d)/.exec(reply) ?? []
  const codes = `${replyCode} ${detail === '' ? '' : `${Math.floor(replyCode / 100)}${detail}`}`
  const fitting = REPLIES.find(
    (rule) => rule.codes.test(codes) && (rule.at ?? at) === at && rule.words?.test(reply) !== false,
  )
  return fitting?.blame ?? (command === 'RCPT TO' ? 'recipient' : 'message')
}

function isBeforeMessage(phase: SendPhase): boolean {
  return phase === 'connect' || phase === 'login'
}

/**
 * Returns what a failure leaves of the session. `kept`: it can carry another message, because the server has refused only this
 * one. `other`: another session may be let in, because MAIL FROM was refused, or the login does not count any more.
 */
export function sessionAfter(thrown: unknown, phase: SendPhase): 'kept' | 'other' | 'broken' {
  const { code, command, replyCode } = faultOf(thrown, phase)
  if (replyCode !== null && (command === 'MAIL FROM' || AUTH_REPLIES.includes(replyCode))) return 'other'
  if (code === TOO_LARGE) return 'kept'
  return isBeforeMessage(phase) || replyCode === null || replyCode === 421 ? 'broken' : 'kept'
}

/**
 * @param place the name of the server, such as `smtp://mail.example.com:587`
 * @param password is removed from the server's reply, because it may repeat it
 */
export function smtpError(
  cause: unknown,
  phase: SendPhase,
  place: string,
  { recipient, password = '' }: { readonly recipient?: string; readonly password?: string } = {},
): SendError {
  // The token URL is at fault.
  if (cause instanceof SendError) return cause
  const error = cause instanceof Error ? cause : new Error(String(cause))
  const fault = faultOf(error, phase)
  const { replyCode } = fault
  const words = `${fault.reply || error.message} ${fault.challenge}`
  const said = quoteServer(replyCode === null ? errorText(error) : words, [password])
  const isPlain = fault.code === 'ETLS' || said.includes('wrong version number')
  const refused = isMechanismRefused(error) ? 'no_oauth' : 'token'
  const as = isPlain ? 'no_tls' : isOfToken(fault) ? refused : undefined
  // Not nodemailer's error, which quotes the reply in several places.
  const told = new Error(quoteServer(error.message, [password]))
  const isInMessage = !isBeforeMessage(phase)
  const facts = { isInMessage, replyCode, said, words, cause: told, recipient }
  return new SendError(place, blameFor(fault), { ...facts, as })
}
