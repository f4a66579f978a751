/**
 * Text as it may be stored and shown: without what can hide or turn round what stands beside it. Bytes that
 * are no UTF-8 have become U+FFFD before they come here.
 */

/** Controls other than tab and line breaks, marks of direction that reach beyond themselves, and U+FEFF. */
const UNWANTED = /[^\P{Cc}\t\n\r]|[\u202A-\u202E\u2066-\u2069\uFEFF]/gu

/** What most texts are made of, which spares them a closer look. */
const PLAIN = /^[ -~]*$/

/** Lone surrogates become U+FFFD, unwanted characters go. Clean text comes back as it is. */
export function cleanText(text: string): string {
  return PLAIN.test(text) ? text : text.toWellFormed().replace(UNWANTED, '')
}

/** Whether the text was broken on its way, or would be altered by {@link cleanText}. */
export function isOddText(text: string): boolean {
  return !PLAIN.test(text) && (text.includes('\uFFFD') || cleanText(text) !== text)
}
