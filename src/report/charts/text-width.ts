/**
 * Estimates the width of a text in the font Inter. The estimate is never too small and seldom a fifth too
 * large; `test/report/charts/text-width.test.ts` compares it with the font.
 */

// Widths of the semi-bold weight in ems, narrow letters first. Accents do not make a letter wider.
const WIDTHS: readonly (readonly [letters: RegExp, ems: number])[] = [
  [/[ \u00a0]/u, 0.19],
  [/[iljIft.,:;!|·'’\u202f\u2009]/u, 0.37],
  [/[r1()[\]/-]/u, 0.47],
  [/[acesvxyzkJFL]/u, 0.6],
  [/[bdghnopquß0-9PSRZBTE+−<>$€£&"]/u, 0.69],
  [/[A-LN-VX-Z]/u, 0.79],
]
// The width of the widest Latin, Greek or Cyrillic letter, and of the box for letters that Inter lacks.
const ANY_OTHER = 1.05

export function widthOf(text: string, fontSize: number): number {
  return [...text].reduce((width, letter) => width + emsOf(letter), 0) * fontSize
}

/**
 * Shortens the text to fit into `room` pixels. The ellipsis stands before the last word, because that is the
 * number.
 */
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
