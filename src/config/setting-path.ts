/** Paths of settings in their tree: `['reports', 0, 'name']`, written `reports[0].name`. */

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
 * Sets a value and creates groups on the way. Changes nothing where another value stands in place of a group.
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

/** The value at every leaf: everything except groups and lists with items. */
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
