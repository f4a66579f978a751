/** The message of an issue to one recipient. */

import { messageId } from '../../mail/message.ts'
import type { LinkSubject } from '../../mail/unsubscribe.ts'
import type { Message, MessageFile, Rendered, Unsubscribe } from '../../model.ts'
import type { Store } from '../../store/db/store.ts'
import type { Issue } from '../../store/reports/issue.ts'

/** Who it comes from, and where answers go. */
export interface Sender {
  readonly from: string
  readonly replyTo: string | null
  readonly unsubscribe: {
    /** An address, or `Name <address>`. */
    readonly mailto: string
    /** The page of a recipient, of its own for each; null where none are served. */
    readonly pageOf: ((subject: LinkSubject) => string) | null
  }
}

/** What it says. */
export interface MessageContent extends Rendered {
  /** Of the words (BCP 47). */
  readonly lang: string
  readonly files: readonly MessageFile[]
}

/** @param revision 0; any other makes another message of the same issue to the same recipient */
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
    unsubscribe: unsubscribeFor(sender, report, to.address),
    subject,
    html,
    text,
    lang,
    files,
    messageId: id,
    date,
    report,
  }
}

/** The ways out that a message to an address names. */
export function unsubscribeFor(
  { unsubscribe: { mailto, pageOf } }: Pick<Sender, 'unsubscribe'>,
  report: string,
  address: string,
): Unsubscribe {
  return { mailto, url: pageOf === null ? null : pageOf({ address, report }) }
}
