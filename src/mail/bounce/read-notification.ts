/**
 * Reads what came back for messages of ours: reports of mail servers about deliveries (RFC 3464) and their older
 * notices, complaints (RFC 5965), automatic answers (RFC 3834), and mails that unsubscribe.
 */
import { printable } from '../../printable.ts'
import { quoteServer } from '../sending.ts'
import type { Notice } from './free-form.ts'
import { addressesIn, isFromDaemon, readNotice } from './free-form.ts'
import { idsIn } from './ids.ts'
import type { Fields, Mail } from './mime.ts'
import { first, readBlocks, readMail } from './mime.ts'
import type { Notification } from './notification.ts'
import { reasonOf, statusOf } from './reason.ts'

const NOTHING: Notification = {
  kind: 'other',
  ids: [],
  recipients: [],
  reason: null,
  status: null,
  said: '',
  report: null,
  at: null,
}
/** A report of a server may come as an attachment of a mail that forwards it. */
const FORWARDED_MAX = 3
const STATUS_PARTS = /^message\/(?:global-)?(?:delivery-status|feedback-report)$/
const MESSAGES = /^message\/(?:rfc822|global)$/
const RETURNED_PARTS = /^(?:message\/(?:rfc822|global|partial)|(?:message|text)\/(?:rfc822|global)-headers?)$/

/** A mail, with what several readers ask about it. */
interface Came {
  readonly mail: Mail
  /** The blocks of fields in reports about deliveries and in complaints. */
  readonly status: readonly Fields[]
  /** Null if the mail does not say that a delivery failed or is delayed. */
  readonly notice: Notice | null
  /** The recipient of the returned message, of which ours have one. */
  readonly returnedTo: readonly string[]
}
/** What a reader of one form finds; the rest is that of a mail which says nothing. */
type Finding = Partial<Notification> & Pick<Notification, 'kind'>

/** The first reader that finds something decides. */
const READERS: readonly ((came: Came) => Finding | null)[] = [
  readComplaint,
  readStatus,
  readFreeForm,
  readAutomatic,
  readUnsubscribe,
]

/**
 * Reads one mail. Never throws; a mail that cannot be read is `other`.
 * @param raw the bytes of the mail; of a large one only the beginning is read
 * @param returnAddress the envelope sender of our messages, in which `{id}` stands for the id of each
 *   (`mail.bounces.address`); null if it is not set
 */
export async function readNotification(
  raw: Uint8Array,
  returnAddress: string | null = null,
): Promise<Notification> {
  return await read(raw, returnAddress, FORWARDED_MAX)
}

async function read(raw: Uint8Array, returnAddress: string | null, depth: number): Promise<Notification> {
  const mail = await readMail(raw)
  if (mail === null) return NOTHING
  const came = cameOf(mail, returnAddress)
  const found = READERS.reduce<Finding | null>((earlier, reader) => earlier ?? reader(came), null)
  const attached = found === null && depth > 0 ? mail.parts.filter(({ type }) => MESSAGES.test(type)) : []
  for (const { bytes } of attached) {
    const inner = await read(bytes, returnAddress, depth - 1)
    if (['bounced', 'delayed', 'delivered', 'complained'].includes(inner.kind)) return inner
  }
  const said = printable(quoteServer(found?.said || mail.subject, []))
  return { ...NOTHING, at: mail.at, ids: idsIn(mail, returnAddress, came.status), ...found, said }
}

function cameOf(mail: Mail, returnAddress: string | null): Came {
  const ours = addressesIn(['to', 'delivered-to'].flatMap((name) => mail.fields.get(name) ?? []).join(' '))
  const [before = '', after = ''] = (returnAddress ?? '@').toLowerCase().split('{id}')
  const isOurs = (address: string) =>
    ours.includes(address) || (address.startsWith(before) && address.endsWith(after))
  const returned = mail.parts.filter(({ type }) => RETURNED_PARTS.test(type))
  const to = [...returned, mail].flatMap(({ text }) => text.match(RETURNED_TO) ?? []).flatMap(addressesIn)
  const returnedTo = to.filter((each) => !isOurs(each) && !REDACTED.test(each)).slice(0, 1)
  const status = mail.parts
    .filter(({ type }) => STATUS_PARTS.test(type))
    .flatMap(({ text }) => readBlocks(text))
  return { mail, status, returnedTo, notice: readNotice(mail, isOurs, returnedTo) }
}

const RETURNED_TO = /^[> \t]*(?:to|x-hmxmroriginalrecipient):.*(?:\n[> \t]+\S.*)?/gim
const REDACTED = /redact|^(?:undisclosed|unknown|x+)@|@(?:undisclosed|redacted)/

/** Reads a complaint of a person (RFC 5965), also where it comes without a feedback report. */
function readComplaint({ mail, status, returnedTo }: Came): Finding | null {
  const report = status.find((fields) => fields.has('feedback-type'))
  const type = first(report, 'feedback-type').toLowerCase()
  // Types such as not-spam, auth-failure, dmarc and virus are no complaints.
  if (report !== undefined && !/^(?:abuse|fraud|opt-out|complaint)/.test(type)) return { kind: 'other' }
  // Junk Mail Reporting Program of Microsoft (https://sendersupport.olc.protection.outlook.com/snds/JMRPFAQs.aspx).
  const isForm = mail.parts.some(
    (part) => RETURNED_PARTS.test(part.type) && /^x-hmxmroriginalrecipient:/im.test(part.text),
  )
  if (report === undefined && !isForm && !COMPLAINERS.test(mail.from.address)) return null
  const named = ['original-rcpt-to', 'removal-recipient'].flatMap((name) => addressesIn(first(report, name)))
  const recipients = named.filter((address) => !REDACTED.test(address))
  return { kind: 'complained', recipients: recipients.length > 0 ? recipients.slice(0, 1) : returnedTo }
}

/** The feedback loops of Microsoft and AOL, whose older mails only attach the message. */
const COMPLAINERS = /^(?:staff@hotmail\.com|scomp@aol\.(?:com|net))$/

/** Reads a report about deliveries (RFC 3464), also where its fields stand in the text. */
function readStatus({ mail, status, notice, returnedTo }: Came): Finding | null {
  const isInText = status.length === 0 && isFromDaemon(mail) && /^final-recipient:/im.test(mail.text)
  const outcomes = (isInText ? readBlocks(mail.text) : status)
    .filter((fields) => ['action', 'final-recipient', 'original-recipient'].some((name) => fields.has(name)))
    .map(outcomeOf)
  const kind = KINDS.find((each) => outcomes.some((outcome) => outcome.kind === each))
  if (kind === undefined) return null
  const meant = outcomes.filter((outcome) => outcome.kind === kind)
  const addresses = [...new Set(meant.flatMap(({ address }) => address ?? []))]
  const said = meant[0]?.words || notice?.said || ''
  const code = statusOf(meant[0]?.status ?? '', said)
  return {
    kind,
    recipients: addresses.length > 0 ? addresses : returnedTo,
    status: code,
    reason: kind === 'bounced' ? reasonBy(code, said, notice?.words ?? mail.text.slice(0, 2_000)) : null,
    said,
  }
}

/** A report of several recipients is about those who failed. */
const KINDS = ['bounced', 'delayed', 'delivered', 'other'] as const
/** The beginnings of actions. `relayed` and `expanded` do not prove that a message arrived (RFC 3464, 2.3.3). */
const ACTIONS: Readonly<Record<string, (typeof KINDS)[number]>> = {
  dela: 'delayed',
  deli: 'delivered',
  rela: 'other',
  expa: 'other',
}

function outcomeOf(fields: Fields) {
  const words = first(fields, 'diagnostic-code').replace(/^[\w.-]{1,40}\s*;\s*/, '')
  const status = first(fields, 'status')
  const kind = ACTIONS[first(fields, 'action').trim().slice(0, 4).toLowerCase()] ?? 'bounced'
  // The address to which we wrote comes before the one to which a server has forwarded the message.
  const addresses = ['original-recipient', 'final-recipient'].flatMap((name) =>
    addressesIn(decoded(first(fields, name))),
  )
  // Exchange encloses addresses of X.400 and of its directory.
  return { kind, status, words, address: addresses.find((address) => !address.startsWith('imcea')) }
}

/** Some servers leave an address as it was encoded for SMTP (RFC 3461, 4; RFC 6533, 3). */
function decoded(address: string): string {
  return address
    .replace(/^[\w.-]{0,40};/, '')
    .replace(/\\x\{([0-9a-f]{1,5})\}/gi, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/\+(2B|3D)/g, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)))
}

/** Words beside the answer of a server decide only where that answer does not. */
function reasonBy(status: string | null, said: string, words: string) {
  const reason = reasonOf(status, said)
  return reason === 'message' ? reasonOf(status, `${said}\n${words}`) : reason
}

/** Reads a notice of a server in its own form. A person who quotes one is no server. */
function readFreeForm({ mail, notice }: Came): Finding | null {
  const { fields, from, subject } = mail
  const isNullSender = from.address === '' || /^\s*<\s*>/.test(first(fields, 'return-path'))
  const isSystem = isFromDaemon(mail) || (isNullSender && !isAutomatic(mail) && !PREFIX.test(subject))
  if (notice === null || !isSystem || AUTO_SUBJECT.test(subject)) return null
  const { kind, said, words } = notice
  const status = statusOf('', said) ?? statusOf('', words)
  return {
    kind,
    recipients: notice.recipients,
    status,
    reason: kind === 'bounced' ? reasonBy(status, said, words) : null,
    said,
  }
}

/** The subjects of automatic answers, in the languages of Outlook, Gmail and others. */
const AUTO_SUBJECT =
  /^\W*(?:automati\w*.?(?:reply|response|antwort|antwoord|svar|odpověď)|auto(?:mated)?[ -]?(?:reply|response|respond\w*|antwort|svar)?:|auto[ -]?(?:reply|response)|automatische\b|out of (?:the )?office|away from|vacation|on (?:vacation|holiday|leave)|abwesen|nicht im (?:büro|haus)|urlaub|r[ée]ponse automatique|absen[ct]e?\b|en dehors du bureau|respuesta autom|fuera de (?:la )?oficina|ausencia|ausente|risposta automatica|fuori (?:sede|ufficio)|resposta autom|fora d|afwezig|autosvar|frånvaro|fravær|poissa|automaattinen|odpowiedź automat|autoodpowied|nieobecn|automatick|автоответ|自動|自动)/iu
/** The words of automatic answers that have neither a field nor a subject for it. */
const AUTO_WORDS =
  /auto(?:matic|mated)?(?:ally)?[- ](?:response|reply|generated)|(?:i am|i'm|i will be|currently) (?:currently )?(?:away|on (?:vacation|holiday|leave)|out of (?:the )?office)|(?:confirm|verify) (?:that )?(?:your|you are|you're).{0,60}(?:e-?mail|human|message|address)/i
const PREFIX =
  /^(?:(?:re|aw|sv|antw|vs|odp|r|rv|tr|rif|res|fwd?|wg|i|回复|转发)\s*(?:\[\d{1,3}\])?\s*[:：]\s*)+/i
const AUTO_FIELDS =
  /^x-(?:auto-?reply(?:-from)?|auto-?respond(?:er)?|mail-autoreply|vacation|apple-action|ms-exchange-inbox-rules-loop)$/

/** Tells whether a program answered (RFC 3834, and older fields). */
function isAutomatic({ fields, subject }: Mail): boolean {
  // Apple Mail calls it an answer when it unsubscribes.
  if (fields.has('x-apple-unsubscribe')) return false
  const isSaid = /^\s*auto-(?:replied|notified)/i.test(first(fields, 'auto-submitted'))
  const isOlder = /auto.?reply/i.test(first(fields, 'precedence'))
  return (
    isSaid ||
    isOlder ||
    AUTO_SUBJECT.test(subject) ||
    [...fields.keys()].some((name) => AUTO_FIELDS.test(name))
  )
}

/** Reads automatic answers, receipts, and questions whether the sender is a person. */
function readAutomatic({ mail }: Came): Finding | null {
  const { fields, subject, text, parts } = mail
  const isReceipt = parts.some(({ type }) => type.endsWith('disposition-notification'))
  const isAnswer = PREFIX.test(subject) || fields.has('in-reply-to') || fields.has('references')
  const isProgram =
    /^\s*auto-g/i.test(first(fields, 'auto-submitted')) || /bulk|junk/i.test(first(fields, 'precedence'))
  const isSuppressing = fields.has('x-auto-response-suppress')
  const isWanted = isAnswer || unsubscribeIn(subject) === null
  if (isReceipt || isAutomatic(mail) || (isProgram && isAnswer) || (isSuppressing && isWanted)) {
    return { kind: 'auto_reply' }
  }
  return AUTO_WORDS.test(text.slice(0, 500)) && isWanted ? { kind: 'auto_reply' } : null
}

/** The name of a report may follow the word, and the id of a message the name. */
const UNSUBSCRIBE =
  /^["'“<]?(?:please )?unsubscribe(?: me)?(?:\s+([a-z0-9]+(?:-[a-z0-9]+)*)(?:\s+[0-9a-f]{40})?)?(?:,? please)?["'”>]?[.!]*$/i

function unsubscribeIn(line: string): { readonly report: string | null } | null {
  const [whole, name = 'me'] = UNSUBSCRIBE.exec(line.trim().slice(0, 300)) ?? []
  return whole === undefined ? null : { report: /^(?:me|please)$/i.test(name) ? null : name.toLowerCase() }
}

/** Reads a mail that the link of a message wrote, or the word alone in an answer to a message. */
function readUnsubscribe({ mail: { subject, text, from, fields } }: Came): Finding | null {
  const bare = subject.trim().replace(PREFIX, '')
  const isAnswer = bare !== subject.trim() || fields.has('in-reply-to')
  const line = unsubscribeIn(text.trimStart().split('\n', 1)[0] ?? '')
  // A sentence may begin with the word, so a line names a report only where there is no subject.
  const found = unsubscribeIn(bare) ?? (bare === '' || (isAnswer && line?.report === null) ? line : null)
  if (found === null || from.address === '') return null
  const quoted = /unsubscribe(?:%20| )([a-z0-9]+(?:-[a-z0-9]+)*)(?:%20| )[0-9a-f]{40}/i.exec(text)?.[1]
  return {
    kind: 'unsubscribe',
    recipients: [from.address],
    report: found.report ?? quoted?.toLowerCase() ?? null,
  }
}
