/**
 * Turns a filled-in template into the parts of a mail. Styles are first written into the elements. The rules
 * for phones and dark mode are added afterwards in separate blocks, because inlining would remove them and
 * because some mail clients drop a whole block.
 */

import type { Rendered } from '../../domain/message.ts'
import { LeadsheetError } from '../../errors.ts'
import { loadPackage } from '../../packages.ts'
import type { ReportView } from '../compose-report.ts'
import { oneLine, wrapLines } from '../words/clean-text.ts'

interface PageStyles {
  readonly inline: string
  readonly mobile: string
  readonly dark: string
}

const SUBJECT_LENGTH = 150
const TEXT_COLUMNS = 72

export function finishSubject(text: string): string {
  return oneLine(text, SUBJECT_LENGTH)
}

export function finishHtml(html: string, styles: PageStyles): string {
  const { inline } = loadPackage('@css-inline/css-inline')
  const inlined = inline(html, {
    extraCss: styles.inline,
    keepStyleTags: false,
    minifyCss: true,
    loadRemoteStylesheets: false,
  })
  const blocks = [styles.mobile, styles.dark].map((css) => `<style>${css}</style>`).join('')
  return dropClasses(inlined, styles).replace('</head>', () => `${blocks}</head>`)
}

/** Removes class names that only inlined rules used. Such names would be a tenth of the mail. */
function dropClasses(html: string, { mobile, dark }: PageStyles): string {
  const used = new Set(`${mobile}${dark}`.match(/(?<=\.)[a-z][\w-]*/g))
  // Within a tag, the pattern can match only an attribute, because `"` and `<` are escaped in values and
  // texts.
  return html.replace(/<[a-z][^<>]*>/g, (tag) =>
    tag.replace(/ class="([^"]*)"/, (_, names: string) => {
      const kept = names.split(/\s+/).filter((name) => used.has(name))
      return kept.length === 0 ? '' : ` class="${kept.join(' ')}"`
    }),
  )
}

export function finishText(text: string): string {
  return `${wrapLines(text, TEXT_COLUMNS)
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`
}

/* Checks whether a rendered report may be sent, because an empty mail is worse than none. */

// Matches the preheader. It also contains the headline, but is shown only in the inbox.
const PREHEADER = /<div[^>]*aria-hidden="true"[^>]*>.*?<\/div>/s

/**
 * Checks that the mail has a text part, and that the HTML shows the headline if the blocks include it.
 * @param name the name of the report, for messages
 * @throws LeadsheetError report_failed
 */
export function checkRendered({ html, text }: Rendered, view: ReportView, name: string): void {
  if (text.trim() === '') throw refused(name, 'its text part is empty')
  const headline = view.blocks.find((block) => block.kind === 'headline')
  if (headline !== undefined && !html.replace(PREHEADER, '').includes(escapeText(headline.text))) {
    throw refused(name, 'its page lacks the headline')
  }
}

/** Escapes text in the same way as the inliner. */
function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('\u00a0', '&nbsp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

function refused(name: string, what: string): LeadsheetError {
  return new LeadsheetError('report_failed', `The report ${name} is not sent: ${what}`, {
    hint: 'Look at its templates; a report that is to have no headline leaves it out of its blocks.',
  })
}
