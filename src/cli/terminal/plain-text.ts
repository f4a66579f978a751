/** Makes text from other sources safe to print on a terminal. */

/** Replaces control characters by spaces, because some of them move the cursor or worse. Line breaks stay. */
export function plainText(text: string): string {
  return text.replace(/[^\P{Cc}\n]+/gu, ' ')
}

const ESCAPE = '\u001b'
// Matches a colour or weight that this program has added, or a control character.
const STYLE_OR_CONTROL = new RegExp(`(${ESCAPE}\\[\\d{1,2}m)|[^\\P{Cc}\\n\\t]`, 'gu')

/** Replaces control characters by spaces, but keeps the colours that were added around the text. */
export function styledText(text: string): string {
  return text.replace(STYLE_OR_CONTROL, (_, style: string | undefined) => style ?? ' ')
}
