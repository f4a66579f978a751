/**
 * Decides what a failed attempt to send means, and for whom. Facts come first: how far the attempt got, the
 * server's reply code and its enhanced code (RFC 3463). The words of a reply decide only where codes do not.
 */
import { errorText, shellCommand } from '../errors.ts'
import type { FailedSend, SendConcern, SendFailure } from './sending.ts'
import { quoteServer, SendError } from './sending.ts'

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
const CERTIFICATE = /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_)/

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
  }
}

function judge(fault: SendFault, said: string): FailedSend {
  const { phase, code, replyCode } = fault
  const kind = kindOf(fault)
  const isTooLarge = replyCode === null ? code === TOO_LARGE : blameOf(fault) === 'size'
  return {
    kind,
    concerns: concernOf(kind, fault),
    isInMessage: !isBeforeMessage(phase),
    isTooLarge,
    isRefusal: replyCode !== null && replyCode >= 500 && !isTooLarge,
    replyCode: isTooLarge ? null : replyCode,
    waitMs: null,
    said,
  }
}

function kindOf(fault: SendFault): SendFailure {
  const { phase, code, originalCode, replyCode } = fault
  if (replyCode !== null) return meaningOfReply(replyCode, fault)
  if (code === TOO_LARGE) return 'permanent'
  if (phase === 'data') return 'unknown'
  if (REFUSED_HERE.includes(code)) return 'permanent'
  const isSetting = SETTINGS_AT_FAULT.test(code) || CERTIFICATE.test(originalCode) || CERTIFICATE.test(code)
  return isSetting ? 'configuration' : 'transient'
}

function meaningOfReply(replyCode: number, fault: SendFault): SendFailure {
  if (AUTH_REPLIES.includes(replyCode)) return 'configuration'
  if (replyCode < 500) return 'transient'
  if (isBeforeMessage(fault.phase)) return 'configuration'
  // Reply 503 (bad sequence of commands) is a fault of the session, so the message is tried again.
  if (replyCode === 503) return 'transient'
  return MEANINGS[blameOf(fault)]
}

const MEANINGS = {
  recipient: 'permanent',
  message: 'refused',
  sender: 'sender',
  size: 'permanent',
} as const satisfies Record<Blame, SendFailure>

function concernOf(kind: SendFailure, fault: SendFault): SendConcern {
  const { phase, code, replyCode } = fault
  if (replyCode === null && [...REFUSED_HERE, TOO_LARGE].includes(code)) return 'message'
  if (replyCode === 421 || kind === 'configuration' || kind === 'sender' || isBeforeMessage(phase)) {
    return 'server'
  }
  return replyCode === null || (kind === 'transient' && blameOf(fault) === 'sender') ? 'either' : 'message'
}

/** Tells whether a server refused the way of a login, and not the user and the password (RFC 4954, 6). */
export function isMechanismRefused(thrown: unknown): boolean {
  const { command, replyCode, reply } = faultOf(thrown, 'login')
  if (command !== 'AUTH PLAIN' || replyCode === null) return false
  return (
    [500, 502, 504].includes(replyCode) ||
    (replyCode >= 500 && /mechanism|unsupported|unrecogni[sz]ed|not supported|5\.(?:5|7)\.4/i.test(reply))
  )
}

/** `message`: the content, or nobody knows. `size`: the message is too large for the server. */
export type Blame = 'recipient' | 'message' | 'sender' | 'size'

interface ReplyRule {
  /** Tests the reply code and the enhanced code, such as `550 5.7.1`, or `550 ` if there is none. */
  readonly codes: RegExp
  /** The command that was refused: MAIL, RCPT (also DATA itself), or the body after the dot; absent for any. */
  readonly at?: 'MAIL' | 'RCPT' | 'body'
  readonly words?: RegExp
  readonly blame: Blame
}

/**
 * Whom a reply blames: the first row that fits decides. Words stand last, for servers without enhanced codes
 * and for 5.7.1, which is said of everything. If it is wrong to blame the sender, messages wait and an alert
 * says so; if it is wrong to blame the recipient, people are paused. Sources: RFC 3463, RFC 5321 (4.2.3),
 * RFC 7372, RFC 7505, and the lists of Google, Microsoft 365, Postfix and Exim.
 */
const REPLIES: readonly ReplyRule[] = [
  { codes: / 5\.(?:3\.4|2\.3)$/, blame: 'size' },
  // Microsoft says it under the code 5.2.0, which is else of a mailbox.
  { codes: /./, words: /sendasdenied/i, blame: 'sender' },
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
    codes: / 5\.(?:1\.(?:[12346]|10)|2\.[0-24]|4\.1|7\.(?:2|1[789]|124|13[3-6]|505|507|510|513))$/,
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
 * Returns whom a reply blames that a notification quotes, without the command that was refused.
 * @param reply the reply with its enhanced code, if it has any
 */
export function blameOfReply(reply: string, replyCode: number): Blame {
  return blameOf({ phase: 'envelope', command: '', replyCode, reply })
}

function blameOf({ phase, command, replyCode, reply }: Omit<SendFault, 'code' | 'originalCode'>): Blame {
  const at = phase === 'data' ? 'body' : command === 'MAIL FROM' ? 'MAIL' : 'RCPT'
  // Takes the class from the reply code, because some servers write 4.x.x after a 5xx. Four numbers are an
  // address of the network.
  const [, detail = ''] = /(?<![\d.])[45](\.\d{1,3}\.\d{1,3})(?!\.?\d)/.exec(reply) ?? []
  const codes = `${replyCode} ${detail === '' ? '' : `${Math.floor((replyCode ?? 0) / 100)}${detail}`}`
  const fitting = REPLIES.find(
    (rule) =>
      rule.codes.test(codes) &&
      (rule.at ?? at) === at &&
      (rule.words === undefined || rule.words.test(reply)),
  )
  return fitting?.blame ?? (command === 'RCPT TO' ? 'recipient' : 'message')
}

function isBeforeMessage(phase: SendPhase): boolean {
  return phase === 'connect' || phase === 'login'
}

/** A failed attempt over SMTP. */
class SmtpError extends SendError {
  /** Tells whether the server refused MAIL FROM, before it knew the recipient. */
  readonly isOfMail: boolean
  /** Tells whether the session can carry another message: the server has refused only this one. */
  readonly keepsSession: boolean

  constructor(
    { phase, command, code, replyCode }: SendFault,
    ...error: ConstructorParameters<typeof SendError>
  ) {
    super(...error)
    this.isOfMail = replyCode !== null && command === 'MAIL FROM'
    const isOne = !isBeforeMessage(phase) && replyCode !== null && replyCode !== 421 && !this.isOfMail
    this.keepsSession = code === TOO_LARGE || isOne
  }
}

/**
 * @param place the name of the server, such as `smtp://mail.example.com:587`
 * @param secret the password, which is removed from the server's reply because the reply may repeat it
 */
export function smtpError(
  cause: unknown,
  phase: SendPhase,
  place: string,
  { recipient, secret = '' }: { readonly recipient?: string; readonly secret?: string } = {},
): SmtpError {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  const fault = faultOf(error, phase)
  const said = quoteServer(fault.replyCode === null ? errorText(error) : fault.reply || error.message, [
    secret,
  ])
  const failed = judge(fault, said)
  const { kind, concerns, isTooLarge } = failed
  const isRefused = concerns === 'message' || (fault.replyCode !== null && concerns === 'either')
  const isPlain = fault.code === 'ETLS' || said.includes('wrong version number')
  const { problem, hint } = WORDS[isTooLarge ? 'size' : isPlain ? 'no_tls' : kind]
  const whom = recipient === undefined ? '' : ` for ${recipient}`
  return new SmtpError(
    fault,
    isRefused || kind === 'sender' ? 'mail_rejected' : 'mail_unreachable',
    `${place} ${isRefused && !isTooLarge ? REFUSED : problem}${whom}: ${said}`,
    failed,
    { hint, cause: error },
  )
}

const REFUSED = 'refused the message'

const WORDS: Readonly<Record<SendFailure | 'size' | 'no_tls', { problem: string; hint: string }>> = {
  transient: {
    problem: 'could not be reached',
    hint: `Nothing was delivered; it can be tried again. If it keeps failing, check mail.url (LEADSHEET_MAIL_URL): ${shellCommand('doctor')} tries it.`,
  },
  configuration: {
    problem: 'did not let us in',
    hint: `Check the user, password, port and protocol of mail.url (LEADSHEET_MAIL_URL), and the certificate of the server; ${shellCommand('doctor')} tries them.`,
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
    hint: 'The message may have arrived. Sent again it has the same Message-ID.',
  },
  size: {
    problem: 'takes no message of this size',
    hint: 'Have the limit of the mail server raised, or give the report fewer blocks and rows.',
  },
  no_tls: {
    problem: 'has no TLS to offer',
    hint: 'Take the port of the server that has TLS: smtp:// with STARTTLS, mostly 587, or smtps://, mostly 465. Where each machine on the way is trusted, ?insecure=true behind the mail URL goes without.',
  },
}
