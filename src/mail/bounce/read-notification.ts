/**
 * Reads what came back for messages of ours: reports of mail servers about deliveries (RFC 3464) and their older
 * forms in plain text, complaints (RFC 5965), automatic answers (RFC 3834), and mails that unsubscribe.
 */
import { printable } from '../../printable.ts'
import { quoteServer } from '../sending.ts'
import { addressesIn, type FailureText, isFromDaemon, readFailureText, saysFailed } from './free-form.ts'
import { idsIn } from './ids.ts'
import { type Fields, first, has, type Mail, readBlocks, readMail, valuesOf } from './mime.ts'
import type { Notification } from './notification.ts'
import { reasonOf, statusOf } from './reason.ts'

const NOTHING = { kind: 'other', recipients: [], reason: null, status: null, report: null } as const
/** A report of a server may come as an attachment of a mail that forwards it. */
const FORWARDED_MAX = 3
const STATUS_PARTS = /^message\/(?:global-)?(?:delivery-status|feedback-report)$/
const MESSAGES = /^message\/(?:rfc822|global)$/
const RETURNED_PARTS = /^(?:message\/(?:rfc822|global|partial)|(?:message|text)\/(?:rfc822|global)-headers?)$/
const RETURNED_TO = /^[> \t]*(?:to|x-hmxmroriginalrecipient):.*(?:\n[> \t]+\S.*)?/gim
const REDACTED = /redact|^(?:undisclosed|unknown|x+)@/

/** A mail, with what several readers ask about it. */
interface Came {
  readonly mail: Mail
  /** The blocks of fields in reports about deliveries and in complaints. */
  readonly status: readonly Fields[]
  /** Null if the mail does not say that a delivery failed or is delayed. */
  readonly failure: FailureText | null
  /** The recipient of the returned message, of which ours have one. */
  readonly returnedTo: readonly string[]
}
/** What a reader of one form finds; null if the mail is of another form. */
type Finding = (Partial<Notification> & Pick<Notification, 'kind'>) | null
type Reader = (came: Came) => Finding

/** The first reader that finds something decides. */
const READERS: readonly Reader[] = [readComplaint, readStatus, readFreeForm, readAutomatic, readUnsubscribe]

/**
 * Reads one mail. Never throws; a mail that cannot be read is `other`.
 * @param raw the bytes of the mail; of a large one only the beginning is read
 * @param returnAddress the envelope sender of our messages, in which `{id}` stands for the id of each
 *   (`mail.bounces.address`); null if it is not set
 */
export function readNotification(
  raw: Uint8Array,
  returnAddress: string | null = null,
): Promise<Notification> {
  return read(raw, returnAddress, FORWARDED_MAX)
}

async function read(raw: Uint8Array, returnAddress: string | null, depth: number): Promise<Notification> {
  const mail = await readMail(raw)
  if (mail === null) return { ...NOTHING, ids: [], said: '', at: null }
  const came = cameOf(mail, returnAddress)
  const found = READERS.reduce<Finding>((earlier, reader) => earlier ?? reader(came), null)
  const attached = found === null && depth > 0 ? mail.parts.filter(({ type }) => MESSAGES.test(type)) : []
  for (const { bytes } of attached) {
    const inner = await read(bytes, returnAddress, depth - 1)
    if (['bounced', 'delayed', 'delivered', 'complained'].includes(inner.kind)) return inner
  }
  const said = printable(quoteServer(found?.said || mail.subject))
  return { ...NOTHING, ids: idsIn(mail, returnAddress, came.status), at: mail.at, ...found, said }
}

function cameOf(mail: Mail, returnAddress: string | null): Came {
  const ours = addressesIn(valuesOf(mail.fields, /^(?:to|delivered-to)$/).join(' '))
  const [before = '', after = ''] = (returnAddress ?? '@').toLowerCase().split('{id}')
  const isOurs = (address: string) =>
    ours.includes(address) || (address.startsWith(before) && address.endsWith(after))
  const returned = mail.parts.filter(({ type }) => RETURNED_PARTS.test(type))
  const to = [...returned, mail].flatMap(({ text }) => text.match(RETURNED_TO) ?? []).flatMap(addressesIn)
  const returnedTo = to.filter((each) => !isOurs(each) && !REDACTED.test(each)).slice(0, 1)
  const status = mail.parts.filter(({ type }) => STATUS_PARTS.test(type))
  const failure = readFailureText(mail, isOurs, returnedTo)
  return { mail, status: status.flatMap(({ text }) => readBlocks(text)), failure, returnedTo }
}

/**
 * The feedback loops of Microsoft and AOL, whose older mails only attach the message
 * (https://sendersupport.olc.protection.outlook.com/snds/JMRPFAQs.aspx).
 */
const COMPLAINERS = /^(?:staff@hotmail\.com|scomp@aol\.(?:com|net))$/

/** Reads a complaint of a person (RFC 5965). Types such as not-spam, auth-failure and virus are no complaints. */
function readComplaint({ mail, status, returnedTo }: Came): Finding {
  const report = status.find((fields) => has(fields, 'feedback-type'))
  if (report === undefined && !COMPLAINERS.test(mail.from.address)) return null
  const type = first(report, 'feedback-type')
  if (report !== undefined && !/^(?:abuse|fraud|opt-out|complaint)/i.test(type)) return NOTHING
  const named = addressesIn(valuesOf(report ?? [], /^(?:original-rcpt-to|removal-recipient)$/).join(' '))
  const [recipient = returnedTo[0]] = named.filter((address) => !REDACTED.test(address))
  return { kind: 'complained', recipients: recipient === undefined ? [] : [recipient] }
}

/** A report of several recipients is about those who failed. */
const KINDS = ['bounced', 'delayed', 'delivered', 'other'] as const
/**
 * The beginnings of actions, or of the status where there is none. `relayed` and `expanded` do not prove that a
 * message arrived (RFC 3464, 2.3.3).
 */
const ACTIONS = {
  bounced: /^f/i,
  delayed: /^(?:dela|4)/i,
  delivered: /^(?:deli|2)/i,
  other: /^(?:rela|expa)/i,
}

/** Reads a report about deliveries (RFC 3464), also where its fields stand in the text. */
function readStatus({ mail, status, failure, returnedTo }: Came): Finding {
  const isInText = status.length === 0 && isFromDaemon(mail) && /^final-recipient:/im.test(mail.text)
  const outcomes = (isInText ? readBlocks(mail.text) : status)
    .filter((fields) => valuesOf(fields, /^(?:action|(?:final|original)-recipient)$/).length > 0)
    .map(outcomeOf)
  const kind = KINDS.find((each) => outcomes.some((outcome) => outcome.kind === each))
  if (kind === undefined || kind === 'other') return kind === undefined ? null : NOTHING
  const meant = outcomes.filter((outcome) => outcome.kind === kind)
  const addresses = [...new Set(meant.flatMap(({ address }) => address ?? []))]
  const said = meant[0]?.words || failure?.said || ''
  const code = statusOf(meant[0]?.status ?? '', said)
  const reason = kind === 'bounced' ? reasonBy(code, said, failure?.words ?? '') : null
  return { kind, recipients: addresses.length > 0 ? addresses : returnedTo, status: code, reason, said }
}

function outcomeOf(fields: Fields) {
  const words = first(fields, 'diagnostic-code').replace(/^[\w.-]{1,40}\s*;\s*/, '')
  const status = first(fields, 'status')
  const action = first(fields, 'action') || status
  const kind = KINDS.find((each) => ACTIONS[each].test(action)) ?? 'bounced'
  // The address to which we wrote comes before the one to which a server has forwarded the message. Exchange
  // encloses addresses of X.400 and of its directory.
  const [address] = ['original-recipient', 'final-recipient']
    .map((name) => decoded(first(fields, name)))
    .filter((each) => !/\bimcea/i.test(each))
    .flatMap(addressesIn)
  return { kind, status, words, address }
}

/** Some servers leave an address as it was encoded for SMTP (RFC 3461, 4; RFC 6533, 3). */
function decoded(address: string): string {
  return address
    .replace(/^[\w.-]{0,40};/, '')
    .replace(/\\x\{([0-9a-f]{1,5})\}|\+(2B|3D)/gi, (_, utf8, xtext) =>
      String.fromCodePoint(Number.parseInt(utf8 ?? xtext, 16)),
    )
}

/** Words beside the answer of a server decide only where that answer does not. */
function reasonBy(status: string | null, said: string, words: string) {
  const reason = reasonOf(status, said)
  return reason === 'message' ? reasonOf(status, `${said}\n${words}`) : reason
}

/**
 * Reads the text of a server in its own form. A person who quotes one is no server, and an automatic answer may come
 * from an empty envelope sender too.
 */
function readFreeForm({ mail, failure }: Came): Finding {
  const { subject, from } = mail
  const isFailure = saysFailed(subject) || /^no[-_.]?reply/.test(from.address)
  const isFromNobody = isNullSender(mail) && !isAutomatic(mail) && isFailure
  const isSystem = isFromDaemon(mail) ? !PREFIX.test(subject) || isNullSender(mail) : isFromNobody
  if (failure === null || !isSystem || AUTO_SUBJECT.test(subject)) return null
  const { kind, recipients, said, words } = failure
  const status = statusOf('', said) ?? statusOf('', words)
  return { kind, recipients, status, reason: kind === 'bounced' ? reasonBy(status, said, words) : null, said }
}

function isNullSender({ fields }: Mail): boolean {
  return /^\s*<\s*>/.test(first(fields, 'return-path'))
}

/** The subjects of automatic answers, in the languages of Outlook, Gmail and others. */
const AUTO_SUBJECT =
  /^\W*(?:automati\w*.?(?:reply|response|antwort|antwoord|svar|odpověď)|auto(?:mated)?[ -]?(?:reply|response|respond\w*|antwort|svar)?:|auto[ -]?(?:reply|response)|automatische\b|out of (?:the )?office|away from|vacation|on (?:vacation|holiday|leave)|abwesen|nicht im (?:büro|haus)|urlaub|r[ée]ponse automatique|absen[ct]e?\b|en dehors du bureau|respuesta autom|fuera de (?:la )?oficina|ausencia|ausente|risposta automatica|fuori (?:sede|ufficio)|resposta autom|fora d|afwezig|autosvar|frånvaro|fravær|poissa|automaattinen|odpowiedź automat|autoodpowied|nieobecn|automatick|автоответ|自動|自动)/iu
/** The words of automatic answers that have neither a field nor a subject for it. */
const AUTO_WORDS =
  /auto(?:matic|mated)?(?:ally)?[- ](?:response|reply|generated)|(?:i am|i'm|i will be|currently) (?:currently )?(?:away|on (?:vacation|holiday|leave)|out of (?:the )?office)|no longer (?:with|work|employ)|(?:confirm|verify) (?:that )?(?:your|you are|you're).{0,60}(?:e-?mail|human|message|address)/i
const PREFIX =
  /^(?:(?:re|aw|sv|antw|vs|odp|r|rv|tr|rif|res|fwd?|wg|i|回复|转发)\s*(?:\[\d{1,3}\]\s*)?[:：]\s*|\[ext[\w ]{0,20}\]:?\s*)+/i
const AUTO_FIELDS =
  /^x-(?:auto-?reply(?:-from)?|auto-?respond(?:er)?|mail-autoreply|vacation|apple-action|ms-exchange-inbox-rules-loop)$/

/** Tells whether a program answered (RFC 3834, and older fields). */
function isAutomatic({ fields, subject }: Mail): boolean {
  // Apple Mail calls it an answer when it unsubscribes.
  if (has(fields, 'x-apple-unsubscribe')) return false
  const isSaid = /^auto-(?:replied|notified)/i.test(first(fields, 'auto-submitted'))
  const isOlder = /auto.?reply/i.test(first(fields, 'precedence')) || valuesOf(fields, AUTO_FIELDS).length > 0
  return isSaid || isOlder || AUTO_SUBJECT.test(subject)
}

/** Reads automatic answers, receipts, and questions whether the sender is a person. */
function readAutomatic({ mail }: Came): Finding {
  const { fields, subject, text, parts } = mail
  const isReceipt = parts.some(({ type }) => type.endsWith('disposition-notification'))
  const isAnswer = PREFIX.test(subject) || has(fields, 'in-reply-to') || has(fields, 'references')
  const isByProgram =
    /^auto-g/i.test(first(fields, 'auto-submitted')) || /bulk|junk/i.test(first(fields, 'precedence'))
  const isSaid = AUTO_WORDS.test(text.slice(0, 500).replace(/^\s*>.*/gm, ''))
  // A mail program may write for a person who unsubscribes.
  const isLikely = isSaid || has(fields, 'x-auto-response-suppress') || isNullSender(mail)
  const isAuto = isLikely && (isAnswer || unsubscribeIn(subject) === null)
  return isReceipt || isAutomatic(mail) || (isByProgram && isAnswer) || isAuto ? { kind: 'auto_reply' } : null
}

/** The name of a report may follow the word, and the id of a message the name. */
const UNSUBSCRIBE =
  /^["'“<]?(?:please )?unsubscribe:?(?: me)?(?:\s+([a-z0-9]+(?:-[a-z0-9]+)*)(?:\s+[0-9a-f]{40})?)?(?:,? please)?["'”>]?[.!]*$/i

function unsubscribeIn(line: string): { readonly report: string | null } | null {
  const [whole, name = 'me'] = UNSUBSCRIBE.exec(line.trim().slice(0, 300)) ?? []
  return whole === undefined ? null : { report: /^(?:me|please)$/i.test(name) ? null : name.toLowerCase() }
}

/** Reads a mail that the link of a message wrote, or the word alone in an answer to a message. */
function readUnsubscribe({ mail: { subject, text, from, fields } }: Came): Finding {
  const bare = subject.trim().replace(PREFIX, '')
  const isAnswer = bare !== subject.trim() || has(fields, 'in-reply-to')
  const line = unsubscribeIn(text.trimStart().split('\n', 1)[0] ?? '')
  // A sentence may begin with the word, so a line names a report only where there is no subject.
  const found = unsubscribeIn(bare) ?? (bare === '' || (isAnswer && line?.report === null) ? line : null)
  if (found === null || from.address === '') return null
  const [, quoted = null] = /unsubscribe(?:%20| )([a-z0-9-]{1,99})(?:%20| )[0-9a-f]{40}/i.exec(text) ?? []
  return { kind: 'unsubscribe', recipients: [from.address], report: found.report ?? quoted }
}
