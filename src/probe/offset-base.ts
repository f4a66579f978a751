/** Finds out whether a parameter counts pages or records, from 0 or from 1. */
import { isDisjoint, type Page } from './probed-page.ts'

interface Reading {
  readonly kind: 'page' | 'offset'
  readonly start: number
  /** The index of the first record that a value of the parameter leads to, from 0. */
  readonly begins: (value: number, size: number) => number
}

const READINGS: readonly Reading[] = [
  { kind: 'page', start: 1, begins: (value, size) => (value - 1) * size },
  { kind: 'page', start: 0, begins: (value, size) => value * size },
  { kind: 'offset', start: 0, begins: (value) => value },
  { kind: 'offset', start: 1, begins: (value) => value - 1 },
]

/** Values that tell the readings apart. */
const VALUES = [2, 1, 3] as const

export interface Position {
  readonly kind: 'page' | 'offset'
  readonly start: number
  readonly second: Page
  /** The value of the parameter that brought the second page. */
  readonly value: number
}

/**
 * @param first a page at least as large as `small`, which gives the order of the first records
 * @param read fetches the page at a value of the parameter, in the size of `small`
 */
export async function positionOf(
  small: Page,
  first: Page,
  read: (value: number) => Promise<Page | null>,
): Promise<Position | null> {
  const size = small.ids.length
  const known = first.ids[0] === small.ids[0] && first.ids.length > size ? first.ids : small.ids
  let left = READINGS
  for (const value of VALUES) {
    const page = await read(value)
    left = left.filter((reading) => fits(page, reading.begins(value, size), known))
    if (left.length <= 1) break
  }
  const [reading] = left
  if (reading === undefined) return null
  const value = reading.kind === 'page' ? reading.start + 1 : reading.start + size
  const second = await read(value)
  return second && isDisjoint(second, small.ids)
    ? { kind: reading.kind, start: reading.start, second, value }
    : null
}

/**
 * Whether a page begins with the record at this place of the list. A place behind the known records only
 * needs unknown records.
 */
function fits(page: Page | null, place: number, known: readonly string[]): boolean {
  const expected = known[place]
  if (page === null) return false
  return expected === undefined ? isDisjoint(page, known) : page.ids[0] === expected
}
