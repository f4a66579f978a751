/**
 * Prints the shape of data as a TypeScript type, for the page on JSON output and the page on report blocks.
 */

export type Shape =
  | string
  | { readonly list: Shape }
  | { readonly either: readonly Shape[] }
  | { readonly fields: readonly Field[] }

export interface Field {
  readonly name: string
  readonly shape: Shape
  readonly isOptional: boolean
  readonly meaning?: string
}

const WIDTH = 100

/** @param indent the spaces before each line after the first */
export function printShape(shape: Shape, indent = ''): string {
  if (typeof shape === 'string') return shape
  if ('list' in shape) {
    const inner = printShape(shape.list, indent)
    return /^[^{]* \| /.test(inner) ? `(${inner})[]` : `${inner}[]`
  }
  if ('either' in shape) return shape.either.map((each) => printShape(each, indent)).join(' | ')
  const deeper = `${indent}  `
  const fields = shape.fields.map(({ name, shape: inner, isOptional, meaning }) => {
    const key = /^(?:[\w$]+|\[.*)$/.test(name) ? name : `'${name}'`
    return { line: `${key}${isOptional ? '?' : ''}: ${printShape(inner, deeper)}`, meaning }
  })
  const short = `{ ${fields.map(({ line }) => line).join('; ')} }`
  const isShort = indent !== '' && short.length + indent.length <= WIDTH && !short.includes('\n')
  if (isShort && fields.every(({ meaning }) => meaning === undefined)) return short
  const lines = fields.map(({ line, meaning }) => {
    if (meaning === undefined) return `${deeper}${line}`
    return line.includes('\n') || line.length + meaning.length > WIDTH
      ? `${deeper}// ${meaning}\n${deeper}${line}`
      : `${deeper}${line}  // ${meaning}`
  })
  return `{\n${lines.join('\n')}\n${indent}}`
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
