/**
 * Builds the bytes of a message, with its links to unsubscribe. The bytes depend only on the message, so a
 * second attempt sends the same bytes.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Mailbox } from '../domain/mailbox.ts'
import { readMailbox } from '../domain/mailbox.ts'
import type { Message, MessageFile, Unsubscribe } from '../domain/message.ts'
import type { Instant } from '../domain/model.ts'
import { LeadsheetError } from '../errors.ts'
import { printable } from '../printable.ts'

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
  const text = JSON.stringify([installationId, report, period.from, period.to, recipient, revision])
  const hash = createHash('sha256').update(text).digest('hex')
  return `<${hash.slice(0, 40)}@${domainOf(from)}>`
}

/**
 * Builds the bytes of a message to send, without Bcc, and without reading files or using the network. Text
 * and HTML are alternatives, the images belong to the HTML, and attachments come last.
 * @throws LeadsheetError config_invalid for an invalid address
 */
export async function buildMessage(message: Message): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const composer = new MailComposer({
    from: parseMailbox(message.from),
    to: { ...parseMailbox(message.to), name: message.toName ?? '' },
    ...(message.replyTo === null ? {} : { replyTo: parseMailbox(message.replyTo) }),
    subject: printable(message.subject),
    text: withLineEnds(message.text),
    html: withLineEnds(message.html),
    attachments: message.files.map(attachmentOf),
    messageId: message.messageId,
    ...(message.inReplyTo === undefined
      ? {}
      : { inReplyTo: message.inReplyTo, references: message.inReplyTo }),
    date: new Date(message.date),
    headers: {
      'Content-Language': message.lang,
      // This field stops holiday notes and other automatic answers (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'List-Id': `leadsheet ${message.report} <${message.report}.leadsheet.${domainOf(message.from)}>`,
      ...unsubscribeFields(message.unsubscribe, message.report),
      'X-Leadsheet-Report': message.report,
    },
    // This encoding allows lines of any length and any language, so that no mail server has to encode the
    // text again.
    textEncoding: 'quoted-printable',
    disableFileAccess: true,
    disableUrlAccess: true,
    baseBoundary: createHash('sha256').update(message.messageId).digest('hex').slice(0, 24),
  })
  return composer.compile().build()
}

/** Printable, with CRLF (RFC 5322, 2.1), so that the bytes sent equal those counted. */
function withLineEnds(text: string): string {
  return printable(text.replace(/\r\n?/g, '\n')).replaceAll('\n', '\r\n')
}

function attachmentOf({ name, contentType, content, cid }: MessageFile) {
  const file = { filename: name, contentType, content: Buffer.from(content) }
  return cid === null
    ? { ...file, contentDisposition: 'attachment' }
    : { ...file, contentDisposition: 'inline', cid }
}

function domainOf(from: string): string {
  const { address } = parseMailbox(from)
  return address.slice(address.lastIndexOf('@') + 1)
}

/*
 * Decides which files a message carries. This happens before the message is rendered, so that its text can
 * name the files that were left out. The limits of mail servers apply to the encoded message, in which a file
 * is over a third larger.
 */

interface FittedFiles {
  readonly kept: readonly MessageFile[]
  /** The attachments that did not fit into the message. */
  readonly left: readonly MessageFile[]
}

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
 */
export function fitFiles(files: readonly MessageFile[], maxBytes: number): FittedFiles {
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

/** Returns the size of a file in the message, in bytes, with the content as base64 (RFC 2045, 6.8). */
function sentBytes({ content, name }: MessageFile): number {
  const characters = Math.ceil(content.length / 3) * 4
  // The file name occurs twice, and each of its characters may take nine bytes.
  return PART_BYTES + 18 * name.length + Math.ceil(characters / LINE_CHARACTERS) * LINE_BYTES
}

/** The options for sending one message, the same for every transport. */
export interface TransportSendOptions {
  readonly signal: AbortSignal
  /**
   * Runs just before the first byte of the message is sent, and is awaited. If the function fails, nothing is
   * sent and its error is thrown. If the connection breaks before this call, the message was certainly not
   * delivered; if it breaks later, the message may have been delivered.
   */
  readonly onData?: () => void | Promise<void>
}

/** The answer with which the server accepted the message. */
export interface Receipt {
  readonly response: string
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

/** The preference page or, if no pages are served, a link that writes a mail. */
export function unsubscribeLink(unsubscribe: Unsubscribe, report: string): string {
  return unsubscribe.url === null ? mailLink(unsubscribe.mailto, report) : new URL(unsubscribe.url).href
}

/** RFC 2369, 3.2; for https also RFC 8058, by which a mail program unsubscribes by itself. */
function unsubscribeFields(unsubscribe: Unsubscribe, report: string): Record<string, string> {
  const byMail = `<${mailLink(unsubscribe.mailto, report)}>`
  if (unsubscribe.url === null) return { 'List-Unsubscribe': byMail }
  const link = unsubscribeLink(unsubscribe, report)
  return {
    'List-Unsubscribe': `<${link}>, ${byMail}`,
    ...(link.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
  }
}

/** Returns a link that writes a mail to unsubscribe from the report (RFC 6068). */
function mailLink(mailto: string, report: string): string {
  const { address } = parseMailbox(mailto)
  const at = address.lastIndexOf('@')
  const to = `${encodeURIComponent(address.slice(0, at))}${address.slice(at)}`
  return `mailto:${to}?subject=${encodeURIComponent(`unsubscribe ${report}`)}`
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
