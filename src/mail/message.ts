/**
 * Builds the bytes of a message. They depend only on the message, including the Message-ID, the Date and the
 * part boundaries, so that a second attempt sends the same bytes as the first.
 */
import { createHash } from 'node:crypto'
import type { Message, MessageFile } from '../domain/message.ts'
import type { Instant } from '../domain/model.ts'
import { parseMailbox } from './address.ts'
import type { DkimKey } from './dkim.ts'
import { sign } from './dkim.ts'
import { unsubscribeFields } from './unsubscribe.ts'

/** The facts that identify a message. Two messages that agree in all of these facts are the same message. */
export interface MessageIdentity {
  /** The id of this copy of the database, so that two installations never share a Message-ID. */
  readonly installationId: string
  readonly report: string
  readonly period: { readonly from: Instant; readonly to: Instant }
  readonly recipient: string
  /** The revision of the message: 0, unless a person asked for a new message. */
  readonly revision: number
  /** The sender, whose domain is a part of the Message-ID. */
  readonly from: string
}

/**
 * Returns the Message-ID `<…@domain>`, with 40 letters and digits from a hash of the identity (RFC 5322,
 * 3.6.4).
 */
export function messageId(identity: MessageIdentity): string {
  const { installationId, report, period, recipient, revision, from } = identity
  const hash = createHash('sha256')
    .update(JSON.stringify([installationId, report, period.from, period.to, recipient, revision]))
    .digest()
  return `<${base32(hash).slice(0, 40)}@${domainOf(from)}>`
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
    from: parseMailbox(message.from),
    to: { ...parseMailbox(message.to), name: message.toName ?? '' },
    ...(message.replyTo === null ? {} : { replyTo: parseMailbox(message.replyTo) }),
    subject: message.subject,
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
  const bytes = await composer.compile().build()
  return dkim === null ? bytes : sign(bytes, dkim)
}

/**
 * Ends every line with CRLF (RFC 5322, 2.1), so that the bytes that are sent equal the bytes that were signed
 * and counted.
 */
function withLineEnds(text: string): string {
  return text.replace(/\r\n?|\n/g, '\r\n')
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

/** Encodes bytes in base32 (RFC 4648, 7, the extended hex alphabet), in lower case and without padding. */
function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{1,5}/g) ?? []
  return digits.map((five) => Number.parseInt(five.padEnd(5, '0'), 2).toString(32)).join('')
}

/**
 * The files that a message carries and those that it leaves out. This is decided before rendering, so that
 * the text can name the files left out. Mail servers count a message as it is sent, and there a file is a
 * good third larger.
 */

interface FittedFiles {
  readonly kept: readonly MessageFile[]
  /** The attachments that did not fit into the message. */
  readonly left: readonly MessageFile[]
}

/**
 * The bytes reserved for header, text and HTML. The HTML is smaller than 80 kB, which some alphabets triple.
 */
const BODY_BYTES = 500_000
/** The bytes that the message needs around a file: its part headers and boundary. */
const PART_BYTES = 500
const LINE_CHARACTERS = 76
const LINE_BYTES = LINE_CHARACTERS + 2

/**
 * Keeps all images of the HTML, then each attachment, in order, that still fits. A smaller attachment may be
 * kept after a larger one was left out.
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

export interface Handover {
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
