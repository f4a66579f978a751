/** The known name that a mistyped one was meant to be. */

/**
 * The candidate with the fewest edits from `name`, case aside; null when none is near: more than a third of
 * the letters, and more than one, differ.
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

/** Letters to insert, delete or replace to make `a` into `b` (Levenshtein), a row of the table at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [i, letter] of [...a].entries()) {
    const above = row
    row = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = (above[j] ?? 0) + (letter === b[j] ? 0 : 1)
      row.push(Math.min(replaced, (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
  }
  return row.at(-1) ?? 0
}
