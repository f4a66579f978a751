/** Generates the page on the output of each command with `--json`: one real example of each. */
import { listLeaves } from './commands.ts'
import examples from './json-examples.json' with { type: 'json' }
import { fenced, page } from './markdown.ts'

const OPENING = `What each command prints with \`--json\`. A result is one object: \`{"data": …}\`, with \`meta\` beside a list if there is something to say about the whole list.`

const ABOUT = `- The examples are real output of the demo. They show the first entry of each list, and cut long texts. A test runs each command and compares its fields with those of the example.
- An instant is a text in UTC, such as \`2026-11-20T07:00:00.000Z\`.
- A field may be null where nothing is known.
- What an upstream or your own query returns is printed unchanged.

A later version may add fields. It does not remove or rename a field within a major version.

A failure is one line on standard error: \`{"error": {"code", "message", "hint"}}\`. An error with several mistakes also has \`mistakes\`. If the upstream asks for a wait, the error has \`not_before\`. [Exit status and error codes](exit-and-error-codes.md) lists the codes.

\`run\` prints no result.`

export async function jsonOutputPage(): Promise<string> {
  const shown: Readonly<Record<string, unknown>> = examples
  const sections = (await listLeaves()).flatMap(({ name }) =>
    Object.entries(shown)
      .filter(([line]) => line === name || line.startsWith(`${name} `))
      .map(([line, example]) => `## ${line}\n\n${fenced('json', compact(example))}`),
  )
  return page('JSON output', OPENING, ABOUT, ...sections)
}

const LINE_MAX = 120

/** Prints JSON with each object and list on one line where it fits, and as many short fields on a line as fit. */
function compact(value: unknown, indent = ''): string {
  const isList = Array.isArray(value)
  const line = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ')
  if (
    typeof value !== 'object' ||
    value === null ||
    (indent !== '' && line.length + indent.length <= LINE_MAX)
  )
    return line
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
