/** Generates the page on the output of each command with `--json`, from the schemas of the results. */
import { z } from 'zod'
import { RESULTS, type ResultName } from '../../src/cli/json/results.ts'
import { CALLED } from '../../src/errors.ts'
import { listLeaves } from './commands.ts'
import examples from './json-examples.json' with { type: 'json' }
import { fenced, page } from './markdown.ts'
import { type Field, printShape, type Shape } from './shapes.ts'

const OPENING = `What each command prints with \`--json\`. A result is one object: \`{"data": …}\`, with \`meta\` beside a list if there is something to say about the whole list. A test compares every command with the shape on this page.`

const ABOUT = `## How to read the shapes

A shape is a type of TypeScript. These rules hold for all of them:

- \`Instant\` is a text in UTC, such as \`2026-11-20T07:00:00.000Z\`.
- A field that is not marked with \`?\` is always there. It may be null where its type says so.
- \`unknown\` is data of the upstream or of your own query, unchanged.
- Examples are real output of the demo. They show the first entry of each list, and cut long texts.

A later version may add fields. It does not remove or rename a field within a major version.

A failure is one line on standard error: \`{"error": {"code", "message", "hint"}}\`. An error with several mistakes also has \`mistakes\`. If the upstream asks for a wait, the error has \`not_before\`. [Exit status and error codes](exit-and-error-codes.md) lists the codes.

\`completion\`, \`config schema\`, \`report watch\` and \`run\` print no result.`

export async function jsonOutputPage(): Promise<string> {
  const leaves = await listLeaves()
  const shown: Readonly<Record<string, unknown>> = examples
  const sections = leaves.flatMap(({ name }) => {
    if (!isResultName(name)) return []
    const schema = z.toJSONSchema(RESULTS[name], { reused: 'inline' }) as Schema
    const variants = (schema.anyOf ?? [schema]).map((each) => fenced('ts', printShape(shapeOf(each))))
    const example = shown[name] === undefined ? [] : [exampleOf(name, shown[name])]
    return [[`## ${name}`, variants.join('\n\nOr:\n\n'), ...example].join('\n\n')]
  })
  return page('JSON output', OPENING, ABOUT, ...sections)
}

function exampleOf(name: ResultName, example: unknown): string {
  return `\`${CALLED} ${name} --json\` prints, for example:\n\n${fenced('json', compact(example))}`
}

/** Prints JSON with each object and list on one line where it fits. */
function compact(value: unknown, indent = ''): string {
  const isList = Array.isArray(value)
  const line = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ')
  if (typeof value !== 'object' || value === null || (indent !== '' && line.length + indent.length <= 100))
    return line
  const deeper = `${indent}  `
  const lines = Object.entries(value).map(
    ([name, inner]) => `${deeper}${isList ? '' : `${JSON.stringify(name)}: `}${compact(inner, deeper)}`,
  )
  return `${isList ? '[' : '{'}\n${lines.join(',\n')}\n${indent}${isList ? ']' : '}'}`
}

function isResultName(name: string): name is ResultName {
  return Object.hasOwn(RESULTS, name)
}

/** The parts of JSON Schema that zod writes for the results. */
interface Schema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly description?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}

function shapeOf(schema: Schema): Shape {
  const { type, anyOf, items, properties, required = [], additionalProperties } = schema
  if (anyOf) return { either: anyOf.map(shapeOf) }
  if (schema.enum) return { either: schema.enum.map((value) => `'${value}'`) }
  if (schema.const !== undefined) return String(schema.const)
  if (items) return { list: shapeOf(items) }
  if (properties) {
    const fields = Object.entries(properties).map(([name, inner]): Field => {
      const meaning = inner.description === undefined ? {} : { meaning: inner.description }
      return { name, shape: shapeOf(inner), isOptional: !required.includes(name), ...meaning }
    })
    return { fields }
  }
  if (typeof additionalProperties === 'object' && additionalProperties.type) {
    return { fields: [{ name: '[name: string]', shape: shapeOf(additionalProperties), isOptional: false }] }
  }
  if (type === 'object') return { fields: [{ name: '[name: string]', shape: 'unknown', isOptional: false }] }
  if (schema.format === 'date-time') return 'Instant'
  const types = [type ?? 'unknown'].flat()
  return { either: types.map((each) => (each === 'integer' ? 'number' : each)) }
}
