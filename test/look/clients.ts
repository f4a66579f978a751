/**
 * Simulates how mail programs show a page, by https://www.caniemail.com. Each simulation removes what the
 * program does not support, and nothing more.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MailPage } from './pages.ts'

export interface MailClient {
  readonly name: string
  /** By default those of a desktop's reading pane and of a phone. */
  readonly widths?: readonly number[]
  /** By default light alone. */
  readonly schemes?: readonly ('light' | 'dark')[]
  /** Returns the page that the program gives to its engine. */
  readonly show: (page: MailPage) => string
  /** A script that runs in the loaded page. */
  readonly strip?: string
}

/** The widths of a desktop's reading pane, a phone, and the smallest phone. */
const ALL_WIDTHS = [720, 375, 320]
/** The size of a `<style>` up to which Gmail keeps it. */
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
    show: (page) => withoutStyleBlocks(withImages(page)),
  },
  {
    name: 'Gmail',
    show: (page) => inWebmail(withGmailStyles(withoutDarkRules(withImages(page)))),
  },
  {
    name: 'Yahoo Mail',
    show: (page) => inWebmail(withoutDarkRules(withImages(page))),
  },
  {
    name: 'Outlook for Windows',
    widths: [720],
    show: (page) => withWordComments(withImages(page)),
    strip: readFileSync(join(import.meta.dirname, 'word.js'), 'utf8'),
  },
]

/** Replaces the content ids of images by data that a browser can show. */
export function withImages({ rendered, images }: MailPage): string {
  return rendered.html.replace(/\bcid:([^"'\s)]+)/g, (cid, id: string) => {
    const png = images.get(id)
    return png ? `data:image/png;base64,${Buffer.from(png).toString('base64')}` : cid
  })
}

/** Returns the page for programs that do not support dark mode, or invert colours by themselves. */
export function withoutDarkRules(html: string): string {
  return html
    .replace(/<style>[^<]*prefers-color-scheme[^<]*<\/style>/g, '')
    .replace(/<meta name="(?:supported-)?color-schemes?"[^>]*>/g, '')
}

/** Returns the page for programs that drop all style blocks. */
export function withoutStyleBlocks(html: string): string {
  return html.replace(/<style[^>]*>.*?<\/style>/gs, '')
}

function withGmailStyles(html: string): string {
  return html.replace(/<style[^>]*>(.*?)<\/style>/gs, (block, css: string) =>
    Buffer.byteLength(css) > GMAIL_STYLE_BYTES || /url\(|@import|@font-face|\[\w+/.test(css) ? '' : block,
  )
}

/** Returns the page as a part of a webmail's page, without `html`, `body` and their attributes. */
function inWebmail(html: string): string {
  const styles = html.match(/<style[^>]*>.*?<\/style>/gs)?.join('') ?? ''
  const body = /<body[^>]*>(.*)<\/body>/s.exec(html)?.[1] ?? ''
  const title = /<title>.*?<\/title>/s.exec(html)?.[0] ?? ''
  const comments = /<!--.*?-->/gs
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${title}${styles}</head><body style="margin:0;font:13px Arial,sans-serif"><div>${body.replace(comments, '')}</div></body></html>`
}

/**
 * Returns the page for Outlook for Windows: with the conditional comments for Word, and without the parts
 * hidden from it.
 */
function withWordComments(html: string): string {
  return html
    .replace(/<!--\[if !mso\]><!-->.*?<!--<!\[endif\]-->/gs, '')
    .replace(/<!--\[if [^\]]*mso[^\]]*\]>(.*?)<!\[endif\]-->/gs, '$1')
}
