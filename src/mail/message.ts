/**
 * Builds the bytes of a message. All of them follow from the message, also the Message-ID, the Date and the
 * part boundaries, so that a second attempt sends the same bytes as the first.
 */
import { createHash } from 'node:crypto'
import MailComposer from 'nodemailer/lib/mail-composer'
import type { Message, MessageFile } from '../domain/message.ts'
import type { Instant } from '../domain/model.ts'
import { parseMailbox } from './address.ts'
import type { DkimKey } from './dkim.ts'
import { sign } from './dkim.ts'
import { unsubscribeFields } from './unsubscribe.ts'

/** The facts that identify a message. Messages that agree in all of them are the same. */
export interface MessageIdentity {
  /** The id of this copy of the database, so that two installations never share a Message-ID. */
  readonly installationId: string
  readonly report: string
  readonly period: { readonly from: Instant; readonly to: Instant }
  readonly recipient: string
  /** The revision: 0, unless a person asked for a new message. */
  readonly revision: number
  /** The sender, whose domain is a part of the Message-ID. */
  readonly from: string
}

/** The Message-ID `<…@domain>`, with 40 letters and digits from a hash of the identity (RFC 5322, 3.6.4). */
export function messageId(identity: MessageIdentity): string {
  const { installationId, report, period, recipient, revision, from } = identity
  const hash = createHash('sha256')
    .update(JSON.stringify([installationId, report, period.from, period.to, recipient, revision]))
    .digest()
  return `<${base32(hash).slice(0, 40)}@${domainOf(from)}>`
}

/**
 * Builds the message as it is sent, without Bcc and without reading files or the network. Text and HTML are
 * alternatives, the HTML comes with its images, and attachments follow if there are any.
 * @param dkim the key that signs the message; null for none
 * @throws LeadsheetError config_invalid for an invalid address
 */
export async function buildMessage(message: Message, dkim: DkimKey | null = null): Promise<Buffer> {
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
      // The field keeps holiday notes and other robots from answering (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'List-Id': `leadsheet ${message.report} <${message.report}.leadsheet.${domainOf(message.from)}>`,
      ...unsubscribeFields(message.unsubscribe, message.report),
      'X-Leadsheet-Report': message.report,
    },
    // Allows lines of any length and any language, so that no mail server has to encode the text anew.
    textEncoding: 'quoted-printable',
    disableFileAccess: true,
    disableUrlAccess: true,
    baseBoundary: createHash('sha256').update(message.messageId).digest('hex').slice(0, 24),
  })
  const bytes = await composer.compile().build()
  return dkim === null ? bytes : sign(bytes, dkim)
}

/**
 * Ends lines with CRLF (RFC 5322, 2.1), so that the bytes that were signed and counted are those that are
 * sent.
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
 * The files that a message can carry, decided before rendering so that the text can name those left out.
 * Servers count a message as sent, in which files are a good third larger.
 */

interface FittedFiles {
  readonly kept: readonly MessageFile[]
  /** The attachments that did not fit. */
  readonly left: readonly MessageFile[]
}

/** The bytes reserved for header, text and HTML. The HTML is under 80 kB, which some alphabets triple. */
const BODY_BYTES = 500_000
/** The bytes around a file: its part headers and boundary. */
const PART_BYTES = 500
const LINE_CHARACTERS = 76
const LINE_BYTES = LINE_CHARACTERS + 2

/**
 * Keeps all images of the mail, then each attachment in order that still fits. A smaller one may follow a
 * larger one that was left out.
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

/** The size of a file in the message as base64 (RFC 2045, 6.8). */
function sentBytes({ content, name }: MessageFile): number {
  const characters = Math.ceil(content.length / 3) * 4
  // The name occurs twice, and each of its characters may take nine bytes.
  return PART_BYTES + 18 * name.length + Math.ceil(characters / LINE_CHARACTERS) * LINE_BYTES
}

/** The options of sending one message, whatever the transport. */

export interface Handover {
  readonly signal: AbortSignal
  /**
   * Runs just before the first byte of the message is sent, and is awaited. If it fails, nothing is sent and
   * its error is thrown. A message that broke off before this was certainly not delivered; after it, the
   * message may have been.
   */
  readonly onData?: () => void | Promise<void>
}

/** The server's answer when it accepted the message. */
export interface Receipt {
  readonly response: string
}
