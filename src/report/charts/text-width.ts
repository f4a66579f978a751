/**
 * How much room a text takes in Inter, without asking the font: never less than it really is, seldom a fifth more.
 * `test/report/charts/text-width.test.ts` holds this against the font.
 */

/** The widths of the bolder weight, in ems, the narrow ones first; accents do not widen a letter. */
const WIDTHS: readonly (readonly [letters: RegExp, ems: number])[] = [
  [/[ \u00a0]/u, 0.19],
  [/[iljIft.,:;!|·'’\u202f\u2009]/u, 0.37],
  [/[r1()[\]/-]/u, 0.47],
  [/[acesvxyzkJFL]/u, 0.6],
  [/[bdghnopquß0-9PSRZBTE+−<>$€£&"]/u, 0.69],
  [/[A-LN-VX-Z]/u, 0.79],
]
/** The widest of Latin, Greek and Cyrillic; and the box that stands for a letter that Inter lacks. */
const ANY_OTHER = 1.05

export function widthOf(text: string, fontSize: number): number {
  return [...text].reduce((width, letter) => width + emsOf(letter), 0) * fontSize
}

/** The text cut to what goes into `room`, with an ellipsis before its last word, which is its number. */
export function fitInto(text: string, room: number, fontSize: number): string {
  if (widthOf(text, fontSize) <= room) return text
  const end = text.lastIndexOf(' ')
  const tail = end < 0 ? '…' : `…${text.slice(end)}`
  const letters = [...text.slice(0, end < 0 ? text.length : end)]
  while (letters.length > 0 && widthOf(letters.join('').trimEnd() + tail, fontSize) > room) letters.pop()
  return letters.join('').trimEnd() + tail
}

function emsOf(letter: string): number {
  const [base = letter] = letter.normalize('NFD')
  return WIDTHS.find(([letters]) => letters.test(base))?.[1] ?? ANY_OTHER
}
