/** Draws parts of SVG charts and defines their colours. In the coordinates, y grows downwards. */

export interface Point {
  readonly x: number
  readonly y: number
}

/** The points of a line without gaps. There is at least one point. */
export type Run = readonly Point[]

/** Splits points into lines without gaps. Each null is a gap. */
export function splitAtGaps(points: readonly (Point | null)[]): readonly Run[] {
  const runs: Point[][] = []
  for (const [index, point] of points.entries()) {
    if (point === null) continue
    const isContinued = index > 0 && points[index - 1] !== null
    if (isContinued) runs.at(-1)?.push(point)
    else runs.push([point])
  }
  return runs
}

/** A single point becomes a dot. `attributes` are those of the stroke, such as `stroke="#2f5bea"`. */
export function line(runs: readonly Run[], width: number, attributes: string): string {
  const path = runs.filter((run) => run.length > 1).map(pathOf)
  // A path with a single point paints nothing, so a dot is drawn.
  const dots = runs.filter((run) => run.length === 1).map(([point]) => point && dot(point, width / 2, ''))
  return `<g fill="none" stroke-width="${width}" stroke-linejoin="round" stroke-linecap="round" ${attributes}>${
    path.length > 0 ? `<path d="${path.join('')}"/>` : ''
  }${dots.join('')}</g>`
}

export function dot({ x, y }: Point, radius: number, attributes: string): string {
  return `<circle cx="${tenth(x)}" cy="${tenth(y)}" r="${radius}" ${attributes}/>`
}

export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\ufffe\uffff]/gu, ' ')
    .replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
}

export function tenth(length: number): string {
  return String(Math.round(length * 10) / 10)
}

/** Formats the attribute `d` of a path: `M1 2L3 4`. */
export function pathOf(run: Run): string {
  return run.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${tenth(x)} ${tenth(y)}`).join('')
}

// The colours match the mail (`templates/layout`). The contrast to the background is at least 4.5 for texts
// and at least 3 for lines.
export type Scheme = 'light' | 'dark'

interface Colours {
  readonly background: string
  readonly text: string
  readonly grid: string
  readonly axis: string
  readonly newLeads: string
  /** The opacity of the thin daily lines behind the thick lines. */
  readonly dailyOpacity: number
}

export const COLOURS: Readonly<Record<Scheme, Colours>> = {
  light: {
    background: '#ffffff',
    text: '#5b6472',
    grid: '#e9ecf1',
    axis: '#aab2bf',
    newLeads: '#2f5bea',
    dailyOpacity: 0.32,
  },
  dark: {
    background: '#191d23',
    text: '#a4adba',
    grid: '#2d343e',
    axis: '#5f6977',
    newLeads: '#7f9fff',
    dailyOpacity: 0.42,
  },
}

/** Estimates widths in Inter, never too small and seldom more than 20% too large, as a test checks. */

// The widths of characters in semi-bold, in ems, narrow characters first. Accents make no character wider.
const WIDTHS: readonly (readonly [letters: RegExp, ems: number])[] = [
  [/[ \u00a0]/u, 0.19],
  [/[iljIft.,:;!|·'’\u202f\u2009]/u, 0.37],
  [/[r1()[\]/-]/u, 0.47],
  [/[acesvxyzkJFL]/u, 0.6],
  [/[bdghnopquß0-9PSRZBTE+−<>$€£&"]/u, 0.69],
  [/[A-LN-VX-Z]/u, 0.79],
]
// The width of all other characters. It suffices for the widest Latin, Greek or Cyrillic letter, and for the
// box that replaces a letter that Inter lacks.
const ANY_OTHER = 1.05

export function widthOf(text: string, fontSize: number): number {
  return [...text].reduce((width, letter) => width + emsOf(letter), 0) * fontSize
}

/** Keeps the last word after the ellipsis, because it is the number of a label such as `New 50`. */
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
