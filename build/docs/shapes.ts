/** Finds and prints the shape of data, for the pages on report blocks and JSON output. */

export type Shape =
  | string
  | { readonly list: Shape }
  | { readonly either: readonly Shape[] }
  | { readonly fields: readonly Field[] }

export interface Field {
  readonly name: string
  readonly shape: Shape
  readonly isOptional: boolean
}

/** Prints the names of the fields of a shape. A name without a type is a text, and `[]` follows the name of a list. */
export function printFields(shape: Shape): string {
  if (typeof shape === 'string') return shape === 'string' ? '' : `: ${shape}`
  if ('list' in shape) return `[]${printFields(shape.list)}`
  if ('either' in shape)
    return shape.either
      .map((each) => printFields(each))
      .join(' or ')
      .replace(/ or : /g, ' or ')
  const fields = shape.fields.map(
    ({ name, shape: inner, isOptional }) => `${name}${isOptional ? '?' : ''}${printFields(inner)}`,
  )
  return ` { ${fields.join(', ')} }`
}

/** Finds one shape that describes all the given values. */
export function shapeOf(values: readonly unknown[]): Shape {
  const lists = values.filter(Array.isArray)
  const objects = values.filter(
    (value): value is Readonly<Record<string, unknown>> =>
      typeof value === 'object' && value !== null && !Array.isArray(value),
  )
  const names = [...new Set(objects.flatMap((each) => Object.keys(each)))]
  const shapes = new Set<string>(
    values.flatMap((value) => (value === null ? [] : typeof value === 'object' ? [] : [typeof value])),
  )
  const either: Shape[] = [
    ...shapes,
    ...(objects.length === 0 ? [] : [{ fields: names.map((name) => fieldOf(name, objects)) }]),
    ...(lists.length === 0 ? [] : [{ list: shapeOf(lists.flat()) }]),
    ...(values.includes(null) ? ['null'] : []),
  ]
  return either.length === 1 ? (either[0] ?? 'unknown') : either.length === 0 ? 'unknown' : { either }
}

function fieldOf(name: string, objects: readonly Readonly<Record<string, unknown>>[]): Field {
  const having = objects.filter((each) => each[name] !== undefined)
  return {
    name,
    shape: shapeOf(having.map((each) => each[name])),
    isOptional: having.length < objects.length,
  }
}
