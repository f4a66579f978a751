/** Text that came from elsewhere, made harmless for a terminal. */

/** Control characters, which could move the cursor or worse, become spaces; line breaks stay. */
export function plainText(text: string): string {
  return text.replace(/[^\P{Cc}\n]+/gu, ' ')
}
