/** Builds the message that brings an issue (a report for one period) to one recipient. */

import type { Message, MessageFile, Rendered, Unsubscribe } from '../../domain/message.ts'
import type { LinkSubject } from '../../mail/message.ts'
import { messageId } from '../../mail/message.ts'
import type { Store } from '../../store/db/store.ts'
import type { Issue } from '../../store/reports/issue.ts'

/** The address from which all messages are sent, and the addresses for replies and for unsubscribing. */
export interface Sender {
  readonly from: string
  readonly replyTo: string | null
  readonly unsubscribe: {
    /** A mail address, or `Name <address>`. */
    readonly mailto: string
    /** Returns the URL of a recipient's preference page; null if no pages are served. */
    readonly pageOf: ((subject: LinkSubject) => string) | null
  }
}

/** The content of a message. */
export interface MessageContent extends Rendered {
  /** The language of the content (BCP 47). */
  readonly lang: string
  readonly files: readonly MessageFile[]
}

/**
 * Builds the message.
 * @param revision 0 for the first message. Each other number makes a further message for the same issue and
 *   recipient.
 */
export function messageFor(
  store: Pick<Store, 'installationId'>,
  issue: Pick<Issue, 'report' | 'period' | 'renderedAt'>,
  to: { readonly address: string; readonly name: string | null },
  content: MessageContent,
  sender: Sender,
  revision = 0,
): Message {
  const { from, replyTo } = sender
  const { subject, html, text, lang, files } = content
  const { report, period, renderedAt: date } = issue
  const { installationId } = store
  const id = messageId({ installationId, report, period, recipient: to.address, revision, from })
  return {
    from,
    to: to.address,
    toName: to.name,
    replyTo,
    subject,
    html,
    text,
    lang,
    files,
    messageId: id,
    date,
    report,
    unsubscribe: unsubscribeFor(sender, report, to.address),
  }
}

/** Returns the addresses by which a recipient can unsubscribe. */
export function unsubscribeFor(
  { unsubscribe: { mailto, pageOf } }: Pick<Sender, 'unsubscribe'>,
  report: string,
  address: string,
): Unsubscribe {
  return { mailto, url: pageOf === null ? null : pageOf({ address, report }) }
}
