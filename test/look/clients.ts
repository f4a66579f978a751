/**
 * How mail programs show a page, after what https://www.caniemail.com knows of them: each takes away what its
 * program does not support. A simulation shows what a page looks like without those things, and no more than that.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MailPage } from './pages.ts'

export interface MailClient {
  readonly name: string
  readonly widths: readonly number[]
  readonly schemes: readonly ('light' | 'dark')[]
  /** The page as this program gives it to its engine. */
  readonly show: (page: MailPage) => string
  /** Runs in the page once it is there. */
  readonly strip?: string
}

/** A desktop's reading pane, a phone, and the smallest phone there is. */
const ALL_WIDTHS = [720, 375, 320]
/** What Gmail takes of a `<style>`. */
const GMAIL_STYLE_BYTES = 16_384

export const CLIENTS: readonly MailClient[] = [
  { name: 'Apple Mail', widths: ALL_WIDTHS, schemes: ['light', 'dark'], show: withImages },
  {
    name: 'a client that shows no images',
    widths: ALL_WIDTHS,
    schemes: ['light', 'dark'],
    show: ({ rendered }) => rendered.html,
  },
  {
    name: 'a client that drops every style block',
    widths: ALL_WIDTHS,
    schemes: ['light'],
    show: (page) => withoutStyleBlocks(withImages(page)),
  },
  {
    name: 'Gmail',
    widths: [720, 375],
    schemes: ['light'],
    show: (page) => inWebmail(withGmailStyles(withoutDarkRules(withImages(page)))),
  },
  {
    name: 'Yahoo Mail',
    widths: [720, 375],
    schemes: ['light'],
    show: (page) => inWebmail(withoutDarkRules(withImages(page))),
  },
  {
    name: 'Outlook for Windows',
    widths: [720],
    schemes: ['light'],
    show: (page) => withWordComments(withImages(page)),
    strip: readFileSync(join(import.meta.dirname, 'word.js'), 'utf8'),
  },
]

/** Images as a browser can find them, in place of the content ids that a mail has for them. */
export function withImages({ rendered, images }: MailPage): string {
  return rendered.html.replace(/\bcid:([^"'\s)]+)/g, (cid, id: string) => {
    const png = images.get(id)
    return png ? `data:image/png;base64,${Buffer.from(png).toString('base64')}` : cid
  })
}

/** What a program sees that knows nothing of dark mode, or that turns colours round by itself. */
export function withoutDarkRules(html: string): string {
  return html
    .replace(/<style>[^<]*prefers-color-scheme[^<]*<\/style>/g, '')
    .replace(/<meta name="(?:supported-)?color-schemes?"[^>]*>/g, '')
}

/** As programs show it that drop every style block. */
export function withoutStyleBlocks(html: string): string {
  return html.replace(/<style[^>]*>.*?<\/style>/gs, '')
}

function withGmailStyles(html: string): string {
  return html.replace(/<style[^>]*>(.*?)<\/style>/gs, (block, css: string) =>
    Buffer.byteLength(css) > GMAIL_STYLE_BYTES || /url\(|@import|@font-face|\[\w+/.test(css) ? '' : block,
  )
}

/** A webmail shows the body as a part of its own page: `html`, `body` and what they carry are gone. */
function inWebmail(html: string): string {
  const styles = html.match(/<style[^>]*>.*?<\/style>/gs)?.join('') ?? ''
  const body = /<body[^>]*>(.*)<\/body>/s.exec(html)?.[1] ?? ''
  const title = /<title>.*?<\/title>/s.exec(html)?.[0] ?? ''
  const comments = /<!--.*?-->/gs
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${title}${styles}</head><body style="margin:0;font:13px Arial,sans-serif"><div>${body.replace(comments, '')}</div></body></html>`
}

/** Outlook for Windows reads what the comments for Word hold, and nothing that they keep from it. */
function withWordComments(html: string): string {
  return html
    .replace(/<!--\[if !mso\]><!-->.*?<!--<!\[endif\]-->/gs, '')
    .replace(/<!--\[if [^\]]*mso[^\]]*\]>(.*?)<!\[endif\]-->/gs, '$1')
}
