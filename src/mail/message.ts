/**
 * Builds the bytes of a message, with its links to unsubscribe, and signs them with DKIM (RFC 6376), which
 * proves the sender. The bytes depend only on the message, so a second attempt sends the same bytes.
 */
import { createHash, createHmac, createPublicKey, createSign, hash, timingSafeEqual } from 'node:crypto'
import type { Mailbox } from '../domain/mailbox.ts'
import { readMailbox } from '../domain/mailbox.ts'
import type { Message, MessageFile, Unsubscribe } from '../domain/message.ts'
import type { Instant } from '../domain/model.ts'
import { LeadsheetError } from '../errors.ts'
import { keepIsolated, printable } from '../printable.ts'

/** The facts that identify a message. Two messages that agree in all of these facts are the same message. */
export interface MessageIdentity {
  /** The id of this copy of the database, so that two installations never share a Message-ID. */
  readonly installationId: string
  readonly report: string
  readonly period: { readonly from: Instant; readonly to: Instant }
  readonly recipient: string
  /** The revision of the message: 0 at first, and 1 more each time a person requests the message again. */
  readonly revision: number
  /** The sender, whose domain is a part of the Message-ID. */
  readonly from: string
}

/** Returns the Message-ID `<…@domain>`, with 40 hexadecimal digits from a hash of the identity (RFC 5322, 3.6.4). */
export function messageId(identity: MessageIdentity): string {
  const { installationId, report, period, recipient, revision, from } = identity
  const facts = [installationId, report, period.from, period.to, recipient, revision]
  return `<${hash('sha256', JSON.stringify(facts)).slice(0, 40)}@${domainOf(from)}>`
}

/** Returns what stands before the `@` of a Message-ID, which identifies a message of ours: 40 hexadecimal digits. */
export function idOf(messageId: string): string {
  return messageId.slice(1, messageId.indexOf('@'))
}

/**
 * Builds the bytes of a message to send, without Bcc, and without reading files or using the network. Text
 * and HTML are alternatives, the images belong to the HTML, and attachments come last.
 * @param dkim the key that signs the message; null if the message is not signed
 * @throws LeadsheetError config_invalid for an invalid address
 */
export async function buildMessage(message: Message, dkim: DkimKey | null = null): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const composer = new MailComposer({
    ...contentOf(message),
    attachments: message.files.map(attachmentOf),
    messageId: message.messageId,
    date: new Date(message.date),
    // This encoding allows lines of any length and any language, so that no mail server has to encode the
    // text again.
    textEncoding: 'quoted-printable',
    disableFileAccess: true,
    disableUrlAccess: true,
    baseBoundary: hash('sha256', message.messageId).slice(0, 24),
  })
  const bytes = await composer.compile().build()
  return dkim === null ? bytes : sign(bytes, dkim)
}

/**
 * Returns what a message says, apart from its files: as MIME, or over an API that takes it in parts.
 * @throws LeadsheetError config_invalid for an invalid address
 */
export function contentOf(message: Message) {
  return {
    from: parseMailbox(message.from),
    to: { ...parseMailbox(message.to), name: message.toName ?? '' },
    ...(message.replyTo !== null && { replyTo: parseMailbox(message.replyTo) }),
    subject: keepIsolated(message.subject, printable),
    text: withLineEnds(message.text),
    html: withLineEnds(message.html),
    headers: {
      'Content-Language': message.lang,
      // This field stops holiday notes and other automatic answers (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'List-Id': `leadsheet ${message.report} <${message.report}.leadsheet.${domainOf(message.from)}>`,
      ...unsubscribeFields(message),
      'X-Leadsheet-Report': message.report,
      // Providers may give a message another Message-ID. This one comes back with what bounces.
      'X-Leadsheet-Id': idOf(message.messageId),
      ...(message.inReplyTo && { 'In-Reply-To': message.inReplyTo, References: message.inReplyTo }),
    },
  }
}

/** Printable, with CRLF (RFC 5322, 2.1), so that the bytes sent equal those signed and counted. */
function withLineEnds(text: string): string {
  return keepIsolated(text.replace(/\r\n?/g, '\n'), printable).replaceAll('\n', '\r\n')
}

function attachmentOf({ name, contentType, content, cid }: MessageFile) {
  const file = { filename: name, contentType, content: Buffer.from(content) }
  return cid === null
    ? { ...file, contentDisposition: 'attachment' }
    : { ...file, contentDisposition: 'inline', cid }
}

/** Returns the domain of an address as it is written. Throws LeadsheetError config_invalid. */
export function domainOf(from: string): string {
  const { address } = parseMailbox(from)
  return address.slice(address.lastIndexOf('@') + 1)
}

/*
 * Decides which files a message carries. This happens before the message is rendered, so that its text can
 * name the files that were left out. The limits of mail servers apply to the encoded message, in which a file
 * is over a third larger.
 */

/** The HTML has less than 80 kB, but its encoding triples the size of texts in some alphabets. */
const BODY_BYTES = 500_000
/** The bytes that a message needs for each file in addition to the content: the headers and the boundary. */
const PART_BYTES = 500
const LINE_CHARACTERS = 76
const LINE_BYTES = LINE_CHARACTERS + 2

/**
 * Keeps all images of the HTML. Then goes through the attachments in their order and keeps each one that
 * still fits. A smaller attachment may be kept after a larger one was left out.
 * @param maxBytes the limit of the whole message
 * @returns the files in their order, and the attachments that did not fit
 */
export function fitFiles(files: readonly MessageFile[], maxBytes: number) {
  const shown = files.filter(({ cid }) => cid !== null)
  let room = maxBytes - BODY_BYTES - shown.reduce((bytes, file) => bytes + sentBytes(file), 0)
  const left = files.filter((file) => {
    if (file.cid !== null) return false
    const bytes = sentBytes(file)
    if (bytes > room) return true
    room -= bytes
    return false
  })
  return { kept: files.filter((file) => !left.includes(file)), left }
}

/** Returns the message without some attachments, with a sentence on top that names them. */
export function withoutFiles(message: Message, left: readonly MessageFile[]): Message {
  const text = `${message.notAttached} ${left.map(({ name }) => name).join(', ')}.`
  const note = `<p style="margin:0;padding:12px 16px;font:14px sans-serif">${text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`)}</p>`
  const at = /<body\b[^<>]*>/i.exec(message.html)
  const end = at === null ? 0 : at.index + at[0].length
  return {
    ...message,
    html: message.html.slice(0, end) + note + message.html.slice(end),
    text: `${text}\n\n${message.text}`,
    files: message.files.filter((file) => !left.includes(file)),
  }
}

/** Returns the size of a file in the message, in bytes, with the content as base64 (RFC 2045, 6.8). */
function sentBytes({ content, name }: MessageFile): number {
  const characters = Math.ceil(content.length / 3) * 4
  // The file name occurs twice, and each of its characters may take nine bytes.
  return PART_BYTES + 18 * name.length + Math.ceil(characters / LINE_CHARACTERS) * LINE_BYTES
}

/** `ana@example.com` or `Ana <ana@example.com>`. Throws LeadsheetError config_invalid. */
export function parseMailbox(text: string): Mailbox {
  const read = readMailbox(text)
  if (!('fault' in read)) return { name: read.name, address: read.address }
  const why = read.fault === '' ? '' : `: ${read.fault}`
  throw new LeadsheetError(
    'config_invalid',
    `${JSON.stringify(text.slice(0, 200))} is not a mail address${why}`,
    { hint: 'Write it as ana@example.com or Ana <ana@example.com>.' },
  )
}

export interface DkimKey {
  /** The domain that signs. Its DNS contains the public key under `<selector>._domainkey`. */
  readonly domain: string
  readonly selector: string
  /** The private RSA key in PEM format. */
  readonly privateKey: string
}

/** Each is named once more than the message has it (RFC 6376, 8.15), so that nobody can add another. */
export const SIGNED_FIELDS = [
  'From',
  'Sender',
  'To',
  'Cc',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'Content-Language',
  'Auto-Submitted',
  'List-Id',
  'List-Unsubscribe',
  // One-click unsubscribing works only if this field and the one above are signed (RFC 8058, 4).
  'List-Unsubscribe-Post',
] as const

/** Returns the DNS record that receivers need to verify the signatures (RFC 6376, 3.6.2). */
export function dnsRecordOf({ domain, selector, privateKey }: DkimKey): { name: string; text: string } {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  return { name: `${selector}._domainkey.${domain}`, text: `v=DKIM1; k=rsa; p=${publicKey}` }
}

/**
 * Signs a message by RFC 6376 (rsa-sha256, relaxed/relaxed), because the signer of nodemailer cannot name a
 * field more often than the message has it. The signature contains no time, so the same message always gets
 * the same signature.
 * @throws Error if the key cannot sign, which the settings prevent
 */
export function sign(message: Buffer, { domain, selector, privateKey }: DkimKey): Buffer {
  const raw = message.toString('latin1')
  const headEnd = raw.indexOf('\r\n\r\n')
  const lines = raw.slice(0, headEnd).split(/\r\n(?![ \t])/)
  // Several fields of one name are signed from the last one up (RFC 6376, 5.4.2).
  const fieldsOf = (name: string) =>
    lines.filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`)).toReversed()
  const names = SIGNED_FIELDS.flatMap((name) => [name, ...fieldsOf(name).map(() => name)])
  const bodyHash = createHash('sha256').update(relaxedBody(raw.slice(headEnd + 4)), 'latin1')
  const unsigned = [
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=${selector};`,
    ` bh=${bodyHash.digest('base64')};`,
    ` h=${names.join(':\r\n  ')};`,
    ' b=',
  ].join('\r\n')
  const signed = [...SIGNED_FIELDS.flatMap(fieldsOf), unsigned].map(relaxedField).join('\r\n')
  const signature = createSign('RSA-SHA256').update(signed, 'latin1').sign(privateKey, 'base64')
  const field = unsigned + signature.replace(/.{72}(?=.)/g, '$&\r\n  ')
  return Buffer.concat([Buffer.from(`${field}\r\n`), message])
}

/** Returns a header field in the form in which it is signed (RFC 6376, 3.4.2). */
function relaxedField(line: string): string {
  const colon = line.indexOf(':')
  const value = line.slice(colon + 1).replaceAll('\r\n', '')
  return `${line.slice(0, colon).toLowerCase()}:${value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}`
}

/** Returns the body in the form in which it is signed (RFC 6376, 3.4.4). */
function relaxedBody(body: string): string {
  const lines = body.replace(/[ \t]+/g, ' ').replace(/ (?=\r\n|$)/g, '')
  let end = lines.length
  while (lines.endsWith('\r\n', end)) end -= 2
  return end === 0 ? '' : `${lines.slice(0, end)}\r\n`
}

/** The preference page or, if no pages are served, a link that writes a mail. */
export function unsubscribeLink(unsubscribe: Unsubscribe, report: string): string {
  return unsubscribe.url === null
    ? mailLink(unsubscribe.mailto, unsubscribeSubject(report))
    : new URL(unsubscribe.url).href
}

/** RFC 2369, 3.2; for https also RFC 8058, by which a mail program unsubscribes by itself. */
function unsubscribeFields({ unsubscribe, report, messageId }: Message): Record<string, string> {
  const byMail = `<${mailLink(unsubscribe.mailto, unsubscribeSubject(report, messageId))}>`
  if (unsubscribe.url === null) return { 'List-Unsubscribe': byMail }
  const link = unsubscribeLink(unsubscribe, report)
  return {
    'List-Unsubscribe': `<${link}>, ${byMail}`,
    ...(link.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
  }
}

/**
 * Returns the subject of a mail that unsubscribes from the report, encoded for a link. It carries the id of the
 * message if the message is given, because the recipient may write from another address.
 */
export function unsubscribeSubject(report: string, messageId?: string): string {
  return encodeURIComponent(`unsubscribe ${report}${messageId === undefined ? '' : ` ${idOf(messageId)}`}`)
}

/** Returns a link that writes a mail with an encoded subject (RFC 6068). */
function mailLink(mailto: string, subject: string): string {
  const { address } = parseMailbox(mailto)
  const at = address.lastIndexOf('@')
  const to = `${encodeURIComponent(address.slice(0, at))}${address.slice(at)}`
  return `mailto:${to}?subject=${subject}`
}

/*
 * Signed links to the preference page, where a recipient chooses how often a report arrives. Without an
 * account, the link proves that this installation wrote to this address about this report, and it gives
 * access to nothing else. It does not expire, because RFC 8058 (3.1) wants links in old mails to work.
 */

/** The content of a signed link. */
export interface LinkSubject {
  readonly address: string
  /** The name of the report. */
  readonly report: string
}

/** The version of the format of the token in a signed link. The signature covers the version too. */
const VERSION = 'preference-1'
const SHAPE = /^([\w-]{1,1024})\.[\w-]{43}$/

/** Makes the token of a signed link: `<payload>.<signature>` in base64url, signed with HMAC-SHA256. */
export function signLink(key: Uint8Array, { address, report }: LinkSubject): string {
  const payload = Buffer.from(JSON.stringify([address, report])).toString('base64url')
  const signature = createHmac('sha256', key).update(`${VERSION}.${payload}`).digest('base64url')
  return `${payload}.${signature}`
}

/** Reads a token. Returns null unless this key signed the token, byte for byte. */
export function readLink(key: Uint8Array, token: string): LinkSubject | null {
  const payload = SHAPE.exec(token)?.[1]
  if (payload === undefined) return null
  const expected = createHmac('sha256', key).update(`${VERSION}.${payload}`).digest('base64url')
  // Compares the tokens as texts and not as decoded bytes, because several base64url texts may decode to the
  // same bytes.
  const isOurs = timingSafeEqual(Buffer.from(`${payload}.${expected}`), Buffer.from(token))
  if (!isOurs) return null
  const [address, report] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string]
  return { address, report }
}
