/**
 * A message as bytes. Everything in it follows from the message, also what mail programs draw by lot (Message-ID,
 * Date, part boundaries), so that a second attempt sends the same bytes as the first.
 */
import { createHash } from 'node:crypto'
import MailComposer from 'nodemailer/lib/mail-composer'
import type { Instant, Message, MessageFile } from '../model.ts'
import { parseMailbox } from './address.ts'
import type { DkimKey } from './dkim.ts'
import { sign } from './dkim.ts'
import { unsubscribeFields } from './unsubscribe.ts'

/** What a message is; two messages that agree in all of it are one. */
export interface MessageIdentity {
  /** Of this copy of the database, so that two installations never share an id. */
  readonly installationId: string
  readonly report: string
  readonly period: { readonly from: Instant; readonly to: Instant }
  readonly recipient: string
  /** 0, unless a person asked for a new message on purpose. */
  readonly revision: number
  /** The sender; the id is in the name of its domain. */
  readonly from: string
}

/** `<…@domain>`, 40 letters and digits from a hash of the identity (RFC 5322, 3.6.4). */
export function messageId(identity: MessageIdentity): string {
  const { installationId, report, period, recipient, revision, from } = identity
  const hash = createHash('sha256')
    .update(JSON.stringify([installationId, report, period.from, period.to, recipient, revision]))
    .digest()
  return `<${base32(hash).slice(0, 40)}@${domainOf(from)}>`
}

/**
 * The message as it goes over the wire, without Bcc or anything read from files or the network: text and HTML as
 * alternatives, the HTML together with the files that it shows, and around them the attachments, if there are any.
 * @param dkim whose signature it carries; null for none
 * @throws LeadsheetError config_invalid for an address that is none
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
      // RFC 3834: keeps holiday notes and other robots from answering.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'List-Id': `leadsheet ${message.report} <${message.report}.leadsheet.${domainOf(message.from)}>`,
      ...unsubscribeFields(message.unsubscribe, message.report),
      'X-Leadsheet-Report': message.report,
    },
    // Lines of any length and messages of any language, and no mail server on the way has a reason to encode anew.
    textEncoding: 'quoted-printable',
    disableFileAccess: true,
    disableUrlAccess: true,
    baseBoundary: createHash('sha256').update(message.messageId).digest('hex').slice(0, 24),
  })
  const bytes = await composer.compile().build()
  return dkim === null ? bytes : sign(bytes, dkim)
}

/** Ends lines as a message does (RFC 5322, 2.1), so that what was signed and counted is what leaves. */
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

/** RFC 4648, 7 (extended hex alphabet), in small letters and without padding. */
function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{1,5}/g) ?? []
  return digits.map((five) => Number.parseInt(five.padEnd(5, '0'), 2).toString(32)).join('')
}

/*
 * Which files a mail can carry. Servers count a message as it is sent, in which files are a good third larger than
 * they are. Asked before the message is rendered, so that it can say what was left out.
 */

export interface FittedFiles {
  readonly kept: readonly MessageFile[]
  /** Attachments for which there was no room. */
  readonly left: readonly MessageFile[]
}

/** For header, text and HTML: a message is rendered to less than 80 kB of HTML, which some alphabets triple. */
const BODY_BYTES = 500_000
/** What stands around a file. */
const PART_BYTES = 500
const LINE_CHARACTERS = 76
const LINE_BYTES = LINE_CHARACTERS + 2

/**
 * The pictures of the mail first, then attachments in their order, each that still fits: a smaller one takes the
 * place of a larger one before it.
 * @param maxBytes of the whole message
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

/** As base64 (RFC 2045, 6.8). */
function sentBytes({ content, name }: MessageFile): number {
  const characters = Math.ceil(content.length / 3) * 4
  // The name stands there twice, and each of its messages may take nine characters.
  return PART_BYTES + 18 * name.length + Math.ceil(characters / LINE_CHARACTERS) * LINE_BYTES
}

/* How a message is handed over: what both ends agree on, whatever the transport. */

export interface Handover {
  readonly signal: AbortSignal
  /**
   * Runs just before the first byte of the message leaves and is waited for; if it fails, no byte does and its
   * error comes out. A message whose sending broke off before it was certainly not delivered; after it, it may
   * have been.
   */
  readonly onData?: () => void | Promise<void>
}

/** What the far side said when it took the message. */
export interface Receipt {
  readonly response: string
}
