/**
 * Reads what came back for messages of ours: reports of mail servers about deliveries (RFC 3464) and their older
 * forms in plain text, complaints (RFC 5965), automatic answers (RFC 3834), and mails that unsubscribe.
 */
import { printable } from '../../printable.ts'
import { quoteServer } from '../sending.ts'
import { addressesIn, isDaemon, isFromDaemon, readFailureText } from './free-form.ts'
import { idsIn } from './ids.ts'
import { type Fields, first, has, inOneLine, type Mail, readBlocks, readMail, valuesOf } from './mime.ts'
import type { Notification } from './notification.ts'
import { hasReply, reasonOf, statusOf } from './reason.ts'

/** The kinds that servers report, also as attachments of a mail that forwards their report. */
const REPORTS: readonly string[] = ['bounced', 'delayed', 'delivered', 'complained']
const NOTHING = { kind: 'other', recipients: [], reason: null, status: null, report: null } as const
const STATUS_PARTS = /^message\/(?:global-)?(?:delivery-status|feedback-report)$/
const MESSAGES = /^message\/(?:rfc822|global)$/
const RETURNED_PARTS = /^(?:message\/(?:rfc822|global|partial)|(?:message|text)\/(?:rfc822|global)-headers?)$/
const RETURNED_TO = /^[> \t]*(?:to|x-hmxmroriginalrecipient):.*(?:\n[> \t]+\S.*)?/gim
const REDACTED = /redact|^(?:undisclosed|unknown|x+)@/

/** The facts about messages of ours that help to read a notification. */
export interface Known {
  /** The envelope sender of them, in which `{id}` stands for the id of each (`mail.bounces.address`). */
  readonly returnAddress: string | null
  /** The addresses at which a mail without an id may unsubscribe; any if it is left out. */
  readonly addresses?: readonly string[]
  /** Finds the recipient of the first message that has one of the ids; null if none has. */
  readonly recipientOf?: (ids: readonly string[]) => Promise<string | null>
}

type Came = Readonly<Awaited<ReturnType<typeof cameOf>>>
/** The finding of the reader of one form; null if the mail is of another form. */
type Finding = (Partial<Notification> & Pick<Notification, 'kind'>) | null
type Reader = (came: Came) => Finding

/** The first reader that finds something decides. */
const READERS: readonly Reader[] = [readComplaint, readStatus, readFreeForm, readAutomatic, readUnsubscribe]

/**
 * Reads one mail. Never throws; a mail that cannot be read is `other`.
 * @param raw the bytes of the mail; of a large one only the beginning is read
 * @param depth how many forwarding mails may enclose each other
 * @returns one notification, or those of the reports that are attached to the mail
 */
export async function readNotifications(raw: Uint8Array, known: Known, depth = 3): Promise<Notification[]> {
  const mail = await readMail(raw)
  if (mail === null) return [{ ...NOTHING, ids: [], said: '', quoted: '', at: null }]
  const came = await cameOf(mail, known)
  const found = READERS.reduce<Finding>((earlier, reader) => earlier ?? reader(came), null)
  const attached = found === null && depth > 0 ? mail.parts.filter(({ type }) => MESSAGES.test(type)) : []
  const inner: Notification[] = []
  for (const { bytes } of attached) inner.push(...(await readNotifications(bytes, known, depth - 1)))
  const forwarded = inner.filter(({ kind }) => REPORTS.includes(kind))
  if (forwarded.length > 0) return forwarded
  const said = printable(quoteServer(found?.said || mail.subject))
  return [{ ...NOTHING, ids: came.ids, quoted: await quotedIn(mail), at: mail.at, ...found, said }]
}

/** Returns the words of the mail and the headers of returned messages, decoded and in one line. */
async function quotedIn({ subject, text, parts }: Mail): Promise<string> {
  const { decodeWords } = await import('postal-mime')
  const returned = parts.filter(({ type }) => RETURNED_PARTS.test(type))
  const headers = returned.map((part) => part.text.trimStart().split('\n\n', 1)[0])
  return inOneLine(decodeWords(inOneLine([subject, text, ...headers].join('\n'))))
}

/** Returns the mail with what several readers ask about it. */
async function cameOf(mail: Mail, { returnAddress, addresses, recipientOf }: Known) {
  const reports = mail.parts.filter(({ type }) => STATUS_PARTS.test(type))
  /** The blocks of fields in reports about deliveries and in complaints. */
  const status = reports.flatMap(({ text }) => readBlocks(text))
  const ids = idsIn(mail, returnAddress, status)
  const recipient = await recipientOf?.(ids)
  const cameTo = addressesIn(valuesOf(mail.fields, /^(?:to|delivered-to)$/).join(' '))
  const [before = '', after = ''] = (returnAddress ?? '@').toLowerCase().split('{id}')
  const isReturnAddress = (address: string) => address.startsWith(before) && address.endsWith(after)
  const isOurs = (address: string) => cameTo.includes(address) || isReturnAddress(address)
  const returned = mail.parts.filter(({ type }) => RETURNED_PARTS.test(type))
  const to = [...returned, mail].flatMap(({ text }) => text.match(RETURNED_TO) ?? []).flatMap(addressesIn)
  const named = to.filter((each) => !isOurs(each) && !REDACTED.test(each))
  /** The recipient of our message or else of the returned one, of which ours have one. */
  const returnedTo = [recipient ?? named].flat().slice(0, 1)
  const failure = readFailureText(mail, isOurs, returnedTo)
  /** Tells whether a message came back with the mail, or a field names who failed. No answer has that. */
  const isReturn = returned.length > 0 || has(mail.fields, 'x-failed-recipients')
  const isUs = (address: string) => isReturnAddress(address) || addresses?.includes(address) !== false
  /** Tells whether it names a message, or came to an address of ours. */
  const isToUs = ids.length > 0 || cameTo.some(isUs)
  return { mail, status, ids, failure, returnedTo, isReturn, isToUs }
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

/** A report of several recipients is about ours, or else about those who failed. */
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
function readStatus(came: Came): Finding {
  const { mail, status, failure, returnedTo } = came
  const isInText = status.length === 0 && /^final-recipient:/im.test(mail.text) && isBySystem(came)
  const all = (isInText ? readBlocks(mail.text) : status)
    .filter((fields) => valuesOf(fields, /^(?:action|(?:final|original)-recipient)$/).length > 0)
    .map(outcomeOf)
  // The fate of other recipients says nothing about ours.
  const own = all.filter(({ address }) => address !== undefined && returnedTo.includes(address))
  const outcomes = own.length > 0 ? own : all
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
 * Reads the text of a server in its own form. Of one that wrote about a message of ours in words that are not known,
 * somebody is told.
 */
function readFreeForm(came: Came): Finding {
  const { mail, failure, returnedTo } = came
  if (!isBySystem(came)) return null
  if (failure === null)
    return isNullSender(mail) && returnedTo.length > 0 ? { kind: 'other', recipients: returnedTo } : null
  const { kind, recipients, said, words } = failure
  const status = statusOf('', said) ?? statusOf('', words)
  return { kind, recipients, status, reason: kind === 'bounced' ? reasonBy(status, said, words) : null, said }
}

/**
 * Tells whether a mail server wrote the mail. A person may have the name of one, an automatic answer may come from
 * an empty envelope sender too, and both write from the address of the recipient.
 */
function isBySystem({ mail, failure, returnedTo, isReturn }: Came): boolean {
  const { subject, from, fields } = mail
  if (returnedTo.includes(from.address) || AUTO_SUBJECT.test(subject) || isReceipt(mail)) return false
  const { kind = null, words = '', isReturn: isInText = false, isInSubject = false } = failure ?? {}
  // Whoever asks whether the sender is a person may still deliver the message.
  if (/\bis being held\b/i.test(words)) return false
  const isByName = isFromDaemon(mail)
  const isByAddress = from.address === '' || isDaemon(from.address)
  const isProven = isReturn || hasReply(words)
  // Exim calls what it returns an answer.
  if (isAutomatic(mail)) return isByAddress && (isProven || isInText || kind === 'delayed')
  if (isNullSender(mail)) return isByName || isInSubject || (isProven && /^no[-_.]?reply/.test(from.address))
  // The fields of an answer.
  const signs = ['in-reply-to', 'return-path'].filter((name) => has(fields, name))
  return isByName && !PREFIX.test(subject) && (isReturn || signs.length < (isByAddress ? 2 : 1))
}

/** Dovecot rejects a message in the form of a receipt. */
function isReceipt({ fields, parts }: Mail): boolean {
  const isForm = parts.some(({ type }) => type.endsWith('disposition-notification'))
  return isForm && !/\(rejected\)/i.test(first(fields, 'auto-submitted'))
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
  /^(?:(?:re|aw|sv|antw|vs|odp|r|rv|tr|rif|res|fwd?|wg|i|回复|转发)\s*(?:\[\d{1,3}\]\s*)?[:：]\s*|\[ext[\w ]{0,20}\]:?\s*|ext(?:ern(?:al|e?))?:\s*)+/i
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
  const { fields, subject, text } = mail
  const isAnswer = PREFIX.test(subject) || has(fields, 'in-reply-to') || has(fields, 'references')
  const isByProgram =
    /^auto-g/i.test(first(fields, 'auto-submitted')) || /bulk|junk/i.test(first(fields, 'precedence'))
  const isSaid = AUTO_WORDS.test(text.slice(0, 500).replace(/^\s*>.*/gm, ''))
  // A mail program may write for a person who unsubscribes.
  const isLikely = isSaid || has(fields, 'x-auto-response-suppress') || isNullSender(mail)
  const isAuto = isReceipt(mail) || (isLikely && (isAnswer || unsubscribeIn(subject) === null))
  return isAutomatic(mail) || (isByProgram && isAnswer) || isAuto ? { kind: 'auto_reply' } : null
}

/** The name of a report may follow the word, and the id of a message the name. */
const UNSUBSCRIBE =
  /^["'“<]?(?:please )?unsubscribe:?(?: me)?(?:\s+([a-z0-9]+(?:-[a-z0-9]+)*)(?:\s+[0-9a-f]{40})?)?(?:,? please)?["'”>]?[.!]*$/i

/** Matches what people write instead, in English and German. */
const ASKED =
  /^(?:please |kindly |bitte |ich (?:möchte|will) |i (?:want|wish|would like) to )*(?:(?:unsubscribe|remove|take|delete) (?:me|us|my (?:e-?mail )?address) (?:from|off) (?:the|this|these|your|all|any)\b.{0,40}|(?:mich |uns )?(?:(?:vom|von|aus|den|diesen?|dem) .{0,40} ?)?(?:abmelden|abbestellen|austragen)|(?:melden|tragen|nehmen) sie (?:mich|uns) .{0,40}\b(?:ab|aus|heraus))(?:,? (?:please|bitte|thanks|danke))?[.!]*$/i
const GREETING =
  /^(?:hello|hi|hey|dear|good (?:morning|day)|hallo|guten (?:tag|morgen)|liebe|sehr geehrte)\b.{0,40}\n\s*/i

function unsubscribeIn(line: string): { readonly report: string | null } | null {
  const asked = line.trim().slice(0, 300)
  const [whole, name = 'me'] = UNSUBSCRIBE.exec(asked) ?? ASKED.exec(asked) ?? []
  return whole === undefined ? null : { report: /^(?:me|please)$/i.test(name) ? null : name.toLowerCase() }
}

/** Reads a mail that the link of a message wrote, or the word alone in an answer to a message. */
function readUnsubscribe({ mail: { subject, text, from, fields }, isToUs }: Came): Finding {
  const bare = subject.trim().replace(PREFIX, '').replaceAll('%20', ' ')
  const isAnswer = PREFIX.test(subject.trim()) || has(fields, 'in-reply-to')
  const line = unsubscribeIn(text.trimStart().replace(GREETING, '').split('\n', 1)[0] ?? '')
  // A sentence may begin with the word, so a line names a report only where there is no subject.
  const found = unsubscribeIn(bare) ?? (bare === '' || (isAnswer && line?.report === null) ? line : null)
  if (found === null || from.address === '' || !isToUs) return null
  const [, quoted = null] = /unsubscribe(?:%20| )([a-z0-9-]{1,99})(?:%20| )[0-9a-f]{40}/i.exec(text) ?? []
  return { kind: 'unsubscribe', recipients: [from.address], report: found.report ?? quoted }
}
