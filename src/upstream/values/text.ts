/**
 * Cleans text before it is stored and shown. Characters that can hide or reverse the text around them are
 * removed. Bytes that are not UTF-8 have become U+FFFD earlier.
 */

/**
 * Matches control characters except tab and line breaks, direction marks that affect other text, and U+FEFF.
 */
const UNWANTED = /[^\P{Cc}\t\n\r]|[\u202A-\u202E\u2066-\u2069\uFEFF]/gu

/** Matches printable ASCII, which needs no cleaning. */
const PLAIN = /^[ -~]*$/

/** Replaces lone surrogates by U+FFFD and removes unwanted characters. Clean text stays unchanged. */
export function cleanText(text: string): string {
  return PLAIN.test(text) ? text : text.toWellFormed().replace(UNWANTED, '')
}

/** Returns whether the text was damaged on its way, or would be changed by {@link cleanText}. */
export function isOddText(text: string): boolean {
  return !PLAIN.test(text) && (text.includes('\uFFFD') || cleanText(text) !== text)
}
