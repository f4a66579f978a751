/**
 * Cleans text for storing and showing: removes characters that can hide or reverse the text around them.
 * Bytes that are not UTF-8 are already U+FFFD here.
 */

/** Control characters except tab and line breaks, direction marks that affect other text, and U+FEFF. */
const UNWANTED = /[^\P{Cc}\t\n\r]|[\u202A-\u202E\u2066-\u2069\uFEFF]/gu

/** Printable ASCII, which needs no closer look. */
const PLAIN = /^[ -~]*$/

/** Replaces lone surrogates by U+FFFD and removes unwanted characters. Clean text stays unchanged. */
export function cleanText(text: string): string {
  return PLAIN.test(text) ? text : text.toWellFormed().replace(UNWANTED, '')
}

/** Whether the text was broken on its way, or would be altered by {@link cleanText}. */
export function isOddText(text: string): boolean {
  return !PLAIN.test(text) && (text.includes('\uFFFD') || cleanText(text) !== text)
}
