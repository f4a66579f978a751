/** Writes random JSON as servers do or could: with spaces, escapes, odd names and large numbers. */

export interface JsonWriter {
  readonly random: () => number
  /** The spaces between tokens, chosen anew each time. */
  readonly spaces: readonly string[]
}

const NAMES = ['id', 'name', 'a', '__proto__', 'data', 'x"y', '},{"id"', '', 'ü😀', 'items']
const TEXTS = [
  '',
  'plain',
  '},{"id":',
  ']}',
  '"',
  '\\',
  '\n\r\t',
  'ü',
  '😀',
  '\u2028',
  '\uFEFF',
  '{[',
  '\\"}]',
  '\uD800',
]
const NUMBERS = [
  '0',
  '-0',
  '1.5',
  '1e3',
  '-12E-2',
  '9007199254740993',
  '-123456789012345678901',
  '1e400',
  '2.0',
]

export function pick<T>(random: () => number, of: readonly T[]): T {
  return of[Math.floor(random() * of.length)] as T
}

export function writeValue(writer: JsonWriter, depth: number): string {
  const { random } = writer
  const dice = random()
  if (depth > 0 && dice < 0.2) return writeObject(writer, depth - 1)
  if (depth > 0 && dice < 0.35)
    return writeList(
      writer,
      randomList(random, 3, () => writeValue(writer, depth - 1)),
    )
  if (dice < 0.6) return writeText(random, pick(random, TEXTS) + pick(random, TEXTS))
  return dice < 0.8 ? pick(random, NUMBERS) : pick(random, ['true', 'false', 'null'])
}

/** @param first the members that come before the others */
export function writeObject(writer: JsonWriter, depth: number, first: readonly string[] = []): string {
  const { random } = writer
  const others = randomList(random, 4, () =>
    writeMember(writer, writeText(random, pick(random, NAMES)), writeValue(writer, depth)),
  )
  return wrapMembers(writer, [...first, ...others])
}

export function wrapMembers(writer: JsonWriter, members: readonly string[]): string {
  return `{${joined(writer, members)}}`
}

/** @param name the name as JSON */
export function writeMember(writer: JsonWriter, name: string, value: string): string {
  return `${name}${space(writer)}:${space(writer)}${value}`
}

export function writeList(writer: JsonWriter, items: readonly string[]): string {
  return `[${joined(writer, items)}]`
}

export function space({ random, spaces }: JsonWriter): string {
  return pick(random, spaces)
}

function joined(writer: JsonWriter, parts: readonly string[]): string {
  return parts.map((part) => `${space(writer)}${part}${space(writer)}`).join(',') || space(writer)
}

function randomList<T>(random: () => number, most: number, make: () => T): T[] {
  return Array.from({ length: Math.floor(random() * (most + 1)) }, make)
}

/** Writes a text as JSON, sometimes with an escape for a character that needs none. */
function writeText(random: () => number, text: string): string {
  const json = JSON.stringify(text)
  return random() < 0.9 ? json : json.replace(/[a-z](?=[^\\]*$)/, (message) => escaped(message))
}

function escaped(message: string): string {
  return `\\u${message.charCodeAt(0).toString(16).padStart(4, '0')}`
}
