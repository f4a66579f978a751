/** Text that came from elsewhere, made harmless for a terminal. */

/** Control characters, which could move the cursor or worse, become spaces; line breaks stay. */
export function plainText(text: string): string {
  return text.replace(/[^\P{Cc}\n]+/gu, ' ')
}

const ESCAPE = '\u001b'
/** A colour or weight of ours, or a control character. */
const STYLE_OR_CONTROL = new RegExp(`(${ESCAPE}\\[\\d{1,2}m)|[^\\P{Cc}\\n\\t]`, 'gu')

/** The same, but the colours stay that were put around it. */
export function styledText(text: string): string {
  return text.replace(STYLE_OR_CONTROL, (_, style: string | undefined) => style ?? ' ')
}
