/** Cleans and isolates every text from outside once, before templates escape it for HTML. */
import { isIsolateOpen, isolate, keepIsolated } from '../../printable.ts'

// Matches control characters, line and paragraph separators, and lone surrogates.
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu
// Matches zero-width spaces, byte order marks, direction controls and tags. Joiners are kept, because emoji
// and several scripts need them.
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu
// Matches five or more marks, such as accents, on one letter. Four are kept, because no script uses more.
const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu

const STATUS_LENGTH = 24

// The segmenter is created at its first use, because its creation loads language data that most commands do
// not need.
let segmenter: Intl.Segmenter | undefined

/**
 * Cleans a text from outside for a mail or a page, and isolates it if it has right-to-left characters. Names in
 * a sentence that is cleaned again stay isolated.
 */
export function oneLine(text: string, max: number): string {
  const clean = cleanLine(text, max)
  return isolate(isIsolateOpen(clean) ? `${clean}\u2069` : clean)
}

/** Keeps at most `max` characters on one line, without invisible ones. A shortened text ends in `…`. */
export function cleanLine(text: string, max: number): string {
  // The text is first cut to 32 times the maximum length, so that cleaning a huge text takes no time.
  const visible = text
    .slice(0, max * 32)
    .toWellFormed()
    .replace(CONTROLS, ' ')
  const clean = keepIsolated(visible, (part) => part.replace(INVISIBLE, ''))
    .replace(STACKED_MARKS, '$1')
    .replace(/\s+/g, ' ')
    .trim()
  return shorten(clean, max)
}

// Matches the end of `https://`, and a dot of a text that looks like the name of a host. A dot between digits is
// that of a number, and no host ends like our files.
const LINKED =
  /:\/\/|(?:(?<=[\p{L}\p{M}_-])[.。．｡](?=[\p{L}\p{N}])|(?<=\p{N})[.。．｡](?=\p{L}))(?!(?:csv|xlsx|png|yaml|hbs)\b)/gu

/**
 * Breaks links that mail programs make, such as `www.evil.example` in a lead's name, by spaces of no width.
 */
export function withoutAutoLinks(text: string): string {
  return text.replace(LINKED, (found) => (found === '://' ? '://\u200b' : `\u200b${found}`))
}

/** Returns the text as `oneLine` does; null if the text is absent, or blank after cleaning. */
export function oneLineOrNull(text: string | null, max: number): string | null {
  return text === null ? null : oneLine(text, max) || null
}

/** Turns `meeting_booked` into `Meeting booked`. Words in capitals stay unchanged. */
export function capitalise(status: string): string {
  return oneLine(upperFirst(cleanLine(status.replace(/[_-]+/g, ' '), STATUS_LENGTH)), STATUS_LENGTH)
}

/** Turns `the report` into `The report`. */
export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Indents continued lines as far as the text of the first one. A word longer than a line stays whole. */
export function wrapLines(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line.trimEnd(), columns))
    .join('\n')
}

function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  let kept = ''
  for (const { segment } of splitGraphemes(text)) {
    if (kept.length + segment.length > max - 1) break
    kept += segment
  }
  // The text is cut at its last space if that is in the last 30 % of the text. A word that is cut off would
  // look like a mistake.
  const space = kept.lastIndexOf(' ')
  return `${(space > max * 0.7 ? kept.slice(0, space) : kept).replace(/(?<![\s,;:·-])[\s,;:·-]+$/u, '')}…`
}

/** Returns how many characters of a text take room, without the marks of isolated parts. */
export function widthInText(text: string): number {
  return text.length - (text.match(/[\u2068\u2069]/g) ?? []).length
}

/** Splits a text into characters as people see them. An emoji of several code points is one character. */
export function splitGraphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}

function wrapLine(line: string, columns: number): string[] {
  const indent = /^[ ]*(?:[-•] )?/.exec(line)?.[0] ?? ''
  // The indent is at most half a line, so that a wide indent leaves room for words.
  const carried = ' '.repeat(Math.min(indent.length, Math.floor(columns / 2)))
  const lines: string[] = []
  let begin = indent
  let words = line.slice(indent.length).trimStart()
  while (begin.length + words.length > columns) {
    const space = words.lastIndexOf(' ', Math.max(columns - begin.length, 0))
    const at = space > 0 ? space : words.indexOf(' ', 1)
    if (at === -1) break
    const line = begin + words.slice(0, at).trimEnd()
    const isCut = isIsolateOpen(line)
    lines.push(isCut ? `${line}\u2069` : line)
    begin = isCut ? `${carried}\u2068` : carried
    words = words.slice(at).trimStart()
  }
  return [...lines, begin + words]
}
