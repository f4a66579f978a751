/** Which rows to write so that a table has these and no other: most of what is made anew is stored already. */

/** Rows have the same columns in both; two of the same key are the same row, perhaps changed. */
export function rowDifference<T extends object>(
  stored: readonly T[],
  wanted: readonly T[],
  keyOf: (row: T) => string,
): { written: T[]; gone: T[] } {
  const left = new Map(stored.map((row) => [keyOf(row), row]))
  const written = wanted.filter((row) => {
    const same = left.get(keyOf(row))
    left.delete(keyOf(row))
    return !same || Object.entries(row).some(([column, value]) => Reflect.get(same, column) !== value)
  })
  return { written, gone: [...left.values()] }
}
