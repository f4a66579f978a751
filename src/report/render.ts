/**
 * From a filled-in template to what a mail carries. Styles are inlined first; the rules for phones and dark mode
 * go in afterwards, each in a block of its own, because the inliner would swallow them and because a client that
 * dislikes one block drops only that.
 */
import { inline } from '@css-inline/css-inline'
import { oneLine, wrapLines } from './text.ts'

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
    loadRemoteStylesheets: false,
  })
  const blocks = [styles.mobile, styles.dark].map((css) => `<style>${css}</style>`).join('')
  return inlined.replace('</head>', () => `${blocks}</head>`)
}

export function finishText(text: string): string {
  return `${wrapLines(text, TEXT_COLUMNS)
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`
}
