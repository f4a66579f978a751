/** Defines what a message in the mailbox of bounces, or a call of a provider's webhook, says about a message of ours. */
import type { Instant } from '../../domain/model.ts'

/**
 * `bounced`: a message came back. `delayed`: a server still tries it. `delivered`: it arrived. `complained`: its
 * recipient reported it as spam. `unsubscribe`: a person wants a report no more. `auto_reply`: a program
 * answered, such as a holiday note. `other`: none of these.
 */
export type NotificationKind =
  | 'bounced'
  | 'delayed'
  | 'delivered'
  | 'complained'
  | 'unsubscribe'
  | 'auto_reply'
  | 'other'

/** The reason for which a message came back. `full`, `temporary`: may pass; the others are for good. */
export type BounceReason = 'recipient' | 'sender' | 'message' | 'size' | 'full' | 'temporary'

export interface Notification {
  readonly kind: NotificationKind
  /** The ids of messages that it names (`idOf`), without doubles, the surest first; some may not be ours. */
  readonly ids: readonly string[]
  /**
   * The addresses that it is about, in lower case: failed recipients, or the author of an unsubscribe. With `other`,
   * a server wrote about a message to them, and it is not known what.
   */
  readonly recipients: readonly string[]
  /** For `bounced`; otherwise null. */
  readonly reason: BounceReason | null
  /** The enhanced code (RFC 3463), such as `5.1.1`; null if it has none. */
  readonly status: string | null
  /** The words of the server about the recipient, or the subject, at most 300 characters. */
  readonly said: string
  /** The report that an unsubscribe names; null if it names none. */
  readonly report: string | null
  /** Its words and the headers of returned messages, in one line. They may quote the subject of a message. */
  readonly quoted: string
  /** The time at which the notification was written; null if it does not say. */
  readonly at: Instant | null
}
