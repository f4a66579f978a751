/**
 * Makes text of others harmless where it leaves the program: in mails, on terminals, in the log and as names of
 * columns. Control characters could move a cursor, and direction controls show a text in another order.
 */

// Matches what a terminal or a mail program may obey. Line breaks and tabs are not matched.
const OBEYED = /[^\P{Cc}\n\t]+|[\p{Zl}\p{Zp}]+/gu
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Replaces control characters by spaces, and removes direction controls. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(OBEYED, ' ').replace(DIRECTIONS, '')
}

/** Writes such characters as JSON escapes, so that the text keeps its value. */
export function printableJson(json: string): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  return json.replace(/[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}]/gu, escaped).replace(DIRECTIONS, escaped)
}
