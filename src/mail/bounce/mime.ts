/** Reads a mail into its header, its words and its other parts. Nothing here judges what they say. */
import type { Instant } from '../../domain/model.ts'

/** The fields of a header in their order; the names are in lower case. */
export type Fields = readonly { readonly key: string; readonly value: string }[]

export interface Part {
  /** The type in lower case, such as `message/delivery-status`. */
  readonly type: string
  readonly bytes: Uint8Array
  /** The beginning of the content, with `\n` as line end. */
  readonly text: string
}

export interface Mail {
  readonly fields: Fields
  readonly subject: string
  /** The author; the address is in lower case, and empty if there is none. */
  readonly from: { readonly name: string; readonly address: string }
  /** The words of all text parts, those of HTML as text, with `\n` as line end. */
  readonly text: string
  /** Attached messages are one part each; those within other multiparts are included. */
  readonly parts: readonly Part[]
  readonly at: Instant | null
}

/** A returned message has its header at its beginning, so the rest of a large one is left out. */
const RAW_BYTES = 500_000
const TEXT_BYTES = 100_000
const PARTS_MAX = 50

/** Returns null if the bytes are no mail that can be read. */
export async function readMail(raw: Uint8Array): Promise<Mail | null> {
  const { default: PostalMime } = await import('postal-mime')
  const limits = { maxNestingDepth: 20, maxHeadersSize: RAW_BYTES, forceRfc822Attachments: true }
  const email = await PostalMime.parse(raw.subarray(0, RAW_BYTES), limits).catch(() => null)
  if (email === null) return null
  const { subject = '', from, text = '', html = '', attachments, date = '' } = email
  const content = attachments.slice(0, PARTS_MAX).map((part) => partOf(part.mimeType, part.content))
  const words = text.trim() === '' ? wordsOf(html.slice(0, TEXT_BYTES)) : text.slice(0, TEXT_BYTES)
  return {
    fields: email.headers,
    subject: subject.slice(0, 500),
    from: { name: from?.name ?? '', address: (from?.address ?? '').toLowerCase() },
    // The boundary of some mails is missing or wrong, so that they seem to have no parts.
    text: words === '' && content.length === 0 ? bodyOf(raw) : words.replace(/\r\n?/g, '\n'),
    parts: html === '' ? content : [...content, partOf('text/html', html)],
    at: /^\d{4}-.*Z$/.test(date) ? date : null,
  }
}

function partOf(type: string, content: string | ArrayBuffer | Uint8Array): Part {
  const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)
  return { type, bytes, text: textOf(bytes) }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, TEXT_BYTES)).toString().replace(/\r\n?/g, '\n')
}

function bodyOf(raw: Uint8Array): string {
  const [, ...body] = textOf(raw).split('\n\n')
  return body.join('\n\n')
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  '#39': "'",
  '#64': '@',
}

function wordsOf(html: string): string {
  return html
    .replace(/<(?:br|\/p|\/div|\/tr|\/li|\/h\d)\b[^<>]*>/gi, '\n')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(#?\w{1,6});/g, (entity, name) => ENTITIES[name] ?? entity)
}

/**
 * Reads blocks of header fields between empty lines. Some servers write no empty line between the fields of several
 * recipients, so another recipient begins a block too.
 */
export function readBlocks(text: string): Fields[] {
  const blocks: { key: string; value: string }[][] = [[]]
  for (const line of text.split('\n')) {
    const [, key = '', value = ''] = /^([\w-]{1,80})[ \t]*:(.*)$/.exec(line) ?? []
    const field = { key: key.toLowerCase(), value: value.trim() }
    const isNext = /^(?:original|final)-recipient$/.test(field.key) && first(blocks.at(-1), field.key) !== ''
    if (line.trim() === '' || isNext) blocks.push([])
    const last = blocks.at(-1)?.at(-1)
    if (key !== '') blocks.at(-1)?.push(field)
    else if (last !== undefined && /^[ \t]/.test(line)) last.value += ` ${line.trim()}`
  }
  return blocks.filter(({ length }) => length > 0)
}

/** Returns the text without line ends and repeated spaces. */
export function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Returns the first value of the field; empty if there is none. */
export function first(fields: Fields | undefined, name: string): string {
  return fields?.find(({ key }) => key === name)?.value ?? ''
}

export function has(fields: Fields, name: string): boolean {
  return fields.some(({ key }) => key === name)
}

/** Returns the values of the fields with such names. */
export function valuesOf(fields: Fields, names: RegExp): string[] {
  return fields.filter(({ key }) => names.test(key)).map(({ value }) => value)
}
