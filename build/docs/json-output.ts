/** Generates the page on the output of each command with `--json`: one real example of each. */
import { listLeaves } from './commands.ts'
import examples from './json-examples.json' with { type: 'json' }
import { fenced, page } from './markdown.ts'
import { shapeOf } from './shapes.ts'

/** How many plain values of an object are shown: of a result, of an object in it, and of objects deeper inside. */
const PLAIN_MAX = [5, 3, 2]
const TEXT_MAX = 24

const OPENING = `What each command prints with \`--json\`. A result is one object: \`{"data": …}\`, with \`meta\` beside a list if there is something to say about the whole list.`

const ABOUT = `- The examples are real output of the demo, cut short: one entry of each list, and the beginnings of long objects and texts. \`…\` says how many plain values of an object are left out. [json-examples.json](../../build/docs/json-examples.json) has all fields.
- An instant is a text in UTC, such as \`2026-11-20T07:00:00.000Z\`.
- A field may be null where nothing is known.
- What an upstream or your own query returns is printed unchanged.

A later version may add fields. It does not remove or rename a field within a major version.

A failure is [one line on standard error](exit-and-error-codes.md). \`run\` prints no result.`

export async function jsonOutputPage(): Promise<string> {
  const shown: Readonly<Record<string, unknown>> = examples
  const sections = (await listLeaves()).flatMap(({ name }) =>
    Object.keys(shown).filter((line) => line === name || line.startsWith(`${name} `)),
  )
  const seen = new Map<string, string>()
  const parts = sections.map((line) => {
    const shape = JSON.stringify(shapeOf([shown[line]]))
    const same = seen.get(shape)
    if (same === undefined) seen.set(shape, line)
    const example = fenced('json', resultText(shorten(shown[line])))
    return `## ${line}\n\n${same === undefined ? example : `The same fields as \`${same}\`.`}`
  })
  return page('JSON output', OPENING, ABOUT, ...parts)
}

/** Cuts long texts, and leaves out the last plain values of long objects. */
function shorten(value: unknown, depth = 0): unknown {
  if (typeof value === 'string')
    return value.length > TEXT_MAX && value.includes(' ')
      ? `${value.slice(0, TEXT_MAX).replace(/ \S*$/, '')} …`
      : value
  if (Array.isArray(value)) return value.map((item) => shorten(item, depth))
  if (!isObject(value)) return value
  const fields = Object.entries(value)
  const isInside = ([, inner]: (typeof fields)[number]) =>
    isObject(inner) || (Array.isArray(inner) && inner.length > 0)
  const max = PLAIN_MAX[Math.max(depth, 1) - 1] ?? PLAIN_MAX.at(-1) ?? 0
  const plain = fields.filter((field) => !isInside(field))
  const left = plain.length > max + 1 ? plain.slice(max) : []
  const shown = fields
    .filter((field) => !left.includes(field))
    .map(([name, inner]) => [name, shorten(inner, depth + 1)] as const)
  return Object.fromEntries(left.length === 0 ? shown : [...shown, ['…', left.length]])
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Prints a result with the object or list that it holds on the same line. */
function resultText(result: unknown): string {
  const fields = Object.entries(result ?? {}).map(([name, value]) => `"${name}": ${compact(value)}`)
  return `{${fields.join(',\n')}}`
}

const LINE_MAX = 120

/** Prints JSON with each object and list on one line where it fits, and as many short fields on a line as fit. */
function compact(value: unknown, indent = ''): string {
  const isList = Array.isArray(value)
  const line = JSON.stringify(value, null, 1)
    .replaceAll(/(?<=[[{])\n\s*|\n\s*(?=[\]}])/g, '')
    .replaceAll(/\n\s*/g, ' ')
  if (
    typeof value !== 'object' ||
    value === null ||
    line.length + indent.length + '{"data": }'.length <= LINE_MAX
  )
    return line
  if (isList && value.length === 1) return `[${compact(value[0], indent)}]`
  const deeper = `${indent}  `
  const fields = Object.entries(value).map(
    ([name, inner]) => `${isList ? '' : `${JSON.stringify(name)}: `}${compact(inner, deeper)}`,
  )
  const lines: string[] = []
  for (const field of fields) {
    const filled = `${lines.at(-1)}, ${field}`
    const fits = lines.length > 0 && !filled.includes('\n') && deeper.length + filled.length <= LINE_MAX
    if (fits) lines.splice(-1, 1, filled)
    else lines.push(field)
  }
  return `${isList ? '[' : '{'}\n${lines.map((each) => deeper + each).join(',\n')}\n${indent}${isList ? ']' : '}'}`
}
