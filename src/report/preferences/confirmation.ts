/** Composes the mail that confirms to a recipient that they have unsubscribed by mail. */
import type { Rendered } from '../../domain/message.ts'
import { escapeHtml } from '../render/template-files.ts'
import { oneLine } from '../words/clean-text.ts'
import type { LocaleContext } from '../words/locale-context.ts'

interface ConfirmationFacts {
  readonly address: string
  readonly title: string
  /** The address of the person who asked for it; null if it was the recipient. */
  readonly by: string | null
  /** The preference page; null if no pages are served. */
  readonly url: string | null
  /** The address of those who can put the recipient on the list again. */
  readonly contact: string
}

const TITLE_LENGTH = 80
const ADDRESS_LENGTH = 254

export function composeConfirmation(
  { address, title, by, url, contact }: ConfirmationFacts,
  { words, tag }: LocaleContext,
): Rendered {
  const shown = { title: oneLine(title, TITLE_LENGTH), address: oneLine(address, ADDRESS_LENGTH) }
  const paragraphs = [
    words('unsubscribed.text', { ...shown, by: by && oneLine(by, ADDRESS_LENGTH) }),
    url === null ? words('unsubscribed.ask', { contact }) : words('unsubscribed.page'),
  ]
  const lines = paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`)
  const link =
    url === null ? '' : `<p><a href="${escapeHtml(url)}">${escapeHtml(words('unsubscribed.open'))}</a></p>`
  return {
    subject: words('unsubscribed.subject', shown),
    text: `${[...paragraphs, ...(url === null ? [] : [url])].join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="${escapeHtml(tag)}"><head><meta charset="utf-8"><title>${escapeHtml(shown.title)}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 sans-serif;color:#1f2933;max-width:600px">
${lines.join('\n')}
${link}
</body></html>
`,
  }
}
