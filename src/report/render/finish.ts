/**
 * Turns a filled-in template into the parts of a mail. Styles are inlined first. The rules for phones and
 * dark mode are added afterwards in separate blocks, because the inliner would remove them and some clients
 * drop a whole block.
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

/** Removes class names that only inlined rules used, which are a tenth of a mail. */
function dropClasses(html: string, { mobile, dark }: PageStyles): string {
  const used = new Set(`${mobile}${dark}`.match(/(?<=\.)[a-z][\w-]*/g))
  // Only an attribute can match within a tag, because `"` and `<` are escaped in values and texts.
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
