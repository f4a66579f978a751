/** Sentences as the program says them everywhere, with commands between backticks, as `{{> window-said}}` shows them. */

export type Said = readonly { readonly text: string; readonly isCode: boolean }[]

export function said(sentence: string): Said {
  return sentence
    .split('`')
    .map((text, index) => ({ text, isCode: index % 2 === 1 }))
    .filter(({ text }) => text !== '')
}
