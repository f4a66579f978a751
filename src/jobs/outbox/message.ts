/** The letter of an edition to one recipient. */

import type { LinkSubject } from '../../mail/link-token.ts'
import { messageId } from '../../mail/message.ts'
import type { Letter, LetterFile, Rendered, Unsubscribe } from '../../model.ts'
import type { Store } from '../../store/db/store.ts'
import type { Edition } from '../../store/reports/issue.ts'

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
export interface LetterContent extends Rendered {
  /** Of the words (BCP 47). */
  readonly lang: string
  readonly files: readonly LetterFile[]
}

/** @param revision 0; any other makes another letter of the same edition to the same recipient */
export function letterFor(
  store: Pick<Store, 'installationId'>,
  edition: Pick<Edition, 'report' | 'period' | 'renderedAt'>,
  to: { readonly address: string; readonly name: string | null },
  content: LetterContent,
  sender: Sender,
  revision = 0,
): Letter {
  const { from, replyTo } = sender
  const { subject, html, text, lang, files } = content
  const { report, period, renderedAt: date } = edition
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

/** The ways out that a letter to an address names. */
export function unsubscribeFor(
  { unsubscribe: { mailto, pageOf } }: Pick<Sender, 'unsubscribe'>,
  report: string,
  address: string,
): Unsubscribe {
  return { mailto, url: pageOf === null ? null : pageOf({ address, report }) }
}
