/** The path of a setting in the settings tree: `['reports', 0, 'name']`, written `reports[0].name`. */

export type SettingPath = readonly (string | number)[]
export type SettingTree = { [key: string]: unknown }

export function pathText(path: SettingPath): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`),
    '',
  )
}

export function isTree(value: unknown): value is SettingTree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function valueAt(tree: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    tree,
  )
}

/**
 * Sets a value, and creates the groups above it if they are missing. Changes nothing if a text or a number
 * stands where such a group should be.
 */
export function setValueAt(tree: SettingTree, path: SettingPath, value: unknown): void {
  const parent = path.slice(0, -1).reduce<unknown>((group, key) => {
    if (!isTree(group) || typeof key === 'number') return valueAt(group, [key])
    group[key] ??= {}
    return group[key]
  }, tree)
  const key = path.at(-1)
  if (typeof parent === 'object' && parent !== null && key !== undefined) Reflect.set(parent, key, value)
}

/** Yields the path and value of every leaf. An empty list is a leaf; an empty group is not. */
export function* leavesOf(
  value: unknown,
  path: SettingPath = [],
): Generator<readonly [SettingPath, unknown]> {
  if (Array.isArray(value) && value.length > 0) {
    for (const [index, item] of value.entries()) yield* leavesOf(item, [...path, index])
  } else if (isTree(value)) {
    for (const [key, item] of Object.entries(value)) yield* leavesOf(item, [...path, key])
  } else {
    yield [path, value]
  }
}

/**
 * Finds the known name that a user probably meant by a mistyped name. This is the candidate that needs the
 * fewest edits to become `name`, ignoring case. Returns null if it needs more edits than a third of the
 * characters of `name`; one edit is always allowed.
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
 * Counts the edits that turn `a` into `b`. An edit inserts, deletes or replaces a character, or swaps two
 * neighbours. The usual table of distances is computed row by row, and only the last three rows are kept.
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
