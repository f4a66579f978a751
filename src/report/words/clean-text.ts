/**
 * Text of others, made fit for one line of a mail. Every name, title and message from the data passes here
 * once; escaping for HTML is the template's work and not done here.
 */

// C0, C1, line and paragraph separators, lone surrogates.
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu
// Zero-width spaces, byte order marks, direction marks, embeddings, overrides and isolates, tags. Joiners stay:
// emoji and several scripts need them.
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu
// No script stacks more marks than this on one message.
const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu

const STATUS_LENGTH = 24

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The text on one line, without what hides or turns it, at most `max` characters; cut ones end in `…`. */
export function oneLine(text: string, max: number): string {
  // Drops text far over the limit first, so that a hostile megabyte costs nothing.
  const clean = text
    .slice(0, max * 32)
    .toWellFormed()
    .replace(CONTROLS, ' ')
    .replace(INVISIBLE, '')
    .replace(STACKED_MARKS, '$1')
    .replace(/\s+/g, ' ')
    .trim()
  return shorten(clean, max)
}

/** `null` for what is absent or blank after cleaning. */
export function oneLineOrNull(text: string | null, max: number): string | null {
  return text === null ? null : oneLine(text, max) || null
}

/** `meeting_booked` becomes `Meeting booked`; words that are all capitals stay so. */
export function capitalise(status: string): string {
  const words = oneLine(status.replace(/[_-]+/g, ' '), STATUS_LENGTH)
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/**
 * Breaks lines that are longer than `columns` at spaces. What is carried over is indented as the line began,
 * so that lists stay readable. A word longer than a line stays whole.
 */
export function wrapLines(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line.trimEnd(), columns))
    .join('\n')
}

function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  let kept = ''
  for (const { segment } of graphemes.segment(text)) {
    if (kept.length + segment.length > max - 1) break
    kept += segment
  }
  // A cut just after a word's beginning looks like a mistake; step back to the space.
  const space = kept.lastIndexOf(' ')
  return `${(space > max * 0.7 ? kept.slice(0, space) : kept).replace(/(?<![\s,;:·-])[\s,;:·-]+$/u, '')}…`
}

function wrapLine(line: string, columns: number): string[] {
  const indent = /^[ ]*(?:[-•] )?/.exec(line)?.[0] ?? ''
  // At most half a line: a number that was padded too far must not push the words out of the page.
  const carried = ' '.repeat(Math.min(indent.length, Math.floor(columns / 2)))
  const lines: string[] = []
  let begin = indent
  let words = line.slice(indent.length).trimStart()
  while (begin.length + words.length > columns) {
    const space = words.lastIndexOf(' ', Math.max(columns - begin.length, 0))
    const at = space > 0 ? space : words.indexOf(' ', 1)
    if (at === -1) break
    lines.push(begin + words.slice(0, at).trimEnd())
    begin = carried
    words = words.slice(at).trimStart()
  }
  return [...lines, begin + words]
}
