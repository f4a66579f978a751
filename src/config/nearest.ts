/** Finds the known name that a mistyped name was meant to be. */

/**
 * The candidate with the fewest edits from `name`, ignoring case; null when more than one letter and more
 * than a third of the letters differ.
 */
export function nearest(name: string, candidates: Iterable<string>): string | null {
  let best: string | null = null
  let fewest = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of candidates) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (edits < fewest) [best, fewest] = [candidate, edits]
  }
  return best
}

/**
 * Counts the letters to insert, delete, replace or swap with the next to turn `a` into `b`, one row of the
 * table at a time.
 */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  let before: number[] = []
  for (const [i, message] of [...a].entries()) {
    const aboveThat = before
    const above = row
    before = above
    row = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = (above[j] ?? 0) + (message === b[j] ? 0 : 1)
      const isSwapped = i > 0 && j > 0 && message === b[j - 1] && a[i - 1] === b[j]
      const swapped = isSwapped ? (aboveThat[j - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(replaced, swapped, (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
  }
  return row.at(-1) ?? 0
}
