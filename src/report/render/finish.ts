/**
 * From a filled-in template to what a mail carries. Styles are inlined first; the rules for phones and dark mode
 * go in afterwards, each in a block of its own, because the inliner would swallow them and because a client that
 * dislikes one block drops only that.
 */
import { inline } from '@css-inline/css-inline'
import { oneLine, wrapLines } from '../words/clean-text.ts'

export interface PageStyles {
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
  const inlined = inline(html, {
    extraCss: styles.inline,
    keepStyleTags: false,
    minifyCss: true,
    loadRemoteStylesheets: false,
  })
  const blocks = [styles.mobile, styles.dark].map((css) => `<style>${css}</style>`).join('')
  return dropClasses(inlined, styles).replace('</head>', () => `${blocks}</head>`)
}

/** Names that only the inlined rules had are a tenth of a mail, and mean nothing any more. */
function dropClasses(html: string, { mobile, dark }: PageStyles): string {
  const used = new Set(`${mobile}${dark}`.match(/(?<=\.)[a-z][\w-]*/g))
  // Within a tag only an attribute can look so: in values and texts `"` or `<` are escaped.
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
