/** A rendered report and the message that carries it to one recipient. */
import type { Instant } from './model.ts'

export interface Rendered {
  readonly subject: string
  readonly html: string
  readonly text: string
}

export interface MessageFile {
  /** The file name, such as `daily-stalled-2026-11-20.xlsx`. */
  readonly name: string
  readonly contentType: string
  readonly content: Uint8Array
  /** The Content-ID by which the HTML shows an image as `cid:…`; null if the file is an attachment. */
  readonly cid: string | null
}

export interface Unsubscribe {
  /** A mail address, or `Name <address>`. */
  readonly mailto: string
  /** The URL that unsubscribes by a single POST (RFC 8058); null if there is no such URL. */
  readonly url: string | null
}

export interface Message extends Rendered {
  readonly from: string
  readonly to: string
  readonly toName: string | null
  readonly replyTo: string | null
  readonly unsubscribe: Unsubscribe
  /** The language of the message (BCP 47), such as `en` or `de`. */
  readonly lang: string
  /** The Message-ID, `<…@…>`, the same for every attempt to send this message. */
  readonly messageId: string
  /** The Message-ID of the message that this one replaces; absent for a first message. */
  readonly inReplyTo?: string
  /** The time of rendering or of a new request, which is the Date header of every attempt. */
  readonly date: Instant
  /** The name of the report, which is also in the List-Id and X-Leadsheet-Report headers. */
  readonly report: string
  readonly files: readonly MessageFile[]
  /** Says, before their names, that the mail server does not take attachments of this size. */
  readonly notAttached: string
}
