/** Builds the message that brings an issue (a report for one period) or alerts to one recipient. */

import type { Message, MessageFile, Rendered, Unsubscribe } from '../../domain/message.ts'
import type { Instant } from '../../domain/model.ts'
import type { LinkSubject, MessageIdentity } from '../../mail/message.ts'
import { messageId, unsubscribeSubject } from '../../mail/message.ts'
import type { Store } from '../../store/db/store.ts'

export interface MailSender {
  readonly from: string
  readonly replyTo: string | null
  readonly unsubscribe: {
    readonly mailto: string
    /** Null if no pages are served. */
    readonly pageOf: ((subject: LinkSubject) => string) | null
  }
}

export interface MessageContent extends Rendered {
  readonly lang: string
  readonly files: readonly MessageFile[]
  readonly notAttached: string
}

/**
 * @param revision 0 for the first message; each other number makes a further message for the same recipient
 */
export function messageFor(
  store: Pick<Store, 'installationId'>,
  about: Pick<MessageIdentity, 'report' | 'period'> & { readonly renderedAt: Instant },
  to: { readonly address: string; readonly name: string | null },
  content: MessageContent,
  sender: MailSender,
  revision = 0,
): Message {
  const { from, replyTo } = sender
  const { subject, html, text, lang, files, notAttached } = content
  const { report, period, renderedAt: date } = about
  const { installationId } = store
  const id = messageId({ installationId, report, period, recipient: to.address, revision, from })
  // The link of the footer was made before the message had its id.
  const withId = (body: string) => body.replaceAll(unsubscribeSubject(report), unsubscribeSubject(report, id))
  return {
    from,
    to: to.address,
    toName: to.name,
    replyTo,
    subject,
    html: withId(html),
    text: withId(text),
    lang,
    files,
    notAttached,
    messageId: id,
    date,
    report,
    unsubscribe: unsubscribeFor(sender, report, to.address),
  }
}

export function unsubscribeFor(
  { unsubscribe: { mailto, pageOf } }: Pick<MailSender, 'unsubscribe'>,
  report: string,
  address: string,
): Unsubscribe {
  return { mailto, url: pageOf === null ? null : pageOf({ address, report }) }
}
