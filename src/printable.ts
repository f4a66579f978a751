/**
 * Makes text of others harmless where it leaves the program: in mails, on terminals, in the log and as names of
 * columns. Control characters could move a cursor, and direction controls show a text in another order.
 */

// Matches what a terminal or a mail program may obey. Line breaks and tabs are not matched.
const OBEYED = /[^\P{Cc}\n\t]+|[\p{Zl}\p{Zp}]+/gu
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

// Matches right-to-left letters and digits, such as those of Hebrew and Arabic (classes R, AL and AN of UAX #9).
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const [ISOLATE, END] = ['\u2068', '\u2069']
const ISOLATED = /(\u2068[^\u2066-\u2069]*\u2069)/g

/** Replaces control characters by spaces, and removes direction controls. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(OBEYED, ' ').replace(DIRECTIONS, '')
}

/**
 * Isolates a text with right-to-left characters (U+2068 and U+2069, UAX #9), so that the figures beside it stay
 * where they are. Other texts, and those whose right-to-left parts are isolated already, stay as they are.
 */
export function isolate(text: string): string {
  if (!RIGHT_TO_LEFT.test(text.replace(ISOLATED, ''))) return text
  return `${ISOLATE}${text.replace(DIRECTIONS, '')}${END}`
}

/** Cleans a text by a function that removes direction controls, but leaves right-to-left parts isolated. */
export function keepIsolated(text: string, clean: (part: string) => string): string {
  return text
    .split(ISOLATED)
    .map((part, index) => (index % 2 === 1 ? isolate(clean(part)) : clean(part)))
    .join('')
}

/** Returns whether a text was cut within an isolated part. */
export function isIsolateOpen(text: string): boolean {
  return text.lastIndexOf(ISOLATE) > text.lastIndexOf(END)
}

// Matches isolated texts, and before them what can have no tag inside.
const ISOLATED_IN_HTML = /<(?:title|option)\b[^<>]*>[^<]*|<[^<>]*>|\u2068([^<\u2066-\u2069]*)\u2069/g

/** Turns isolated texts into `<bdi>`, except for those in attributes and other places that can have no tag. */
export function isolateHtml(html: string): string {
  return html.replace(ISOLATED_IN_HTML, (found, text?: string) =>
    text === undefined ? found : `<bdi>${text}</bdi>`,
  )
}

/** Writes such characters as JSON escapes, so that the text keeps its value. */
export function printableJson(json: string): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  return json.replace(/[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}]/gu, escaped).replace(DIRECTIONS, escaped)
}
