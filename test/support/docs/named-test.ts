/**
 * Finds a test that is named elsewhere: by the page about failures, or by a sabotage that the test must
 * catch.
 */
import { globSync, readFileSync } from 'node:fs'

export interface NamedTest {
  /** The path from the root of the project. */
  readonly file: string
  /** The title as written in the file, including `${…}`, `$name` and `%s`. */
  readonly title: string
}

export function isThere({ file, title }: NamedTest): boolean {
  return hasTitle(readFileSync(file, 'utf8'), title)
}

/**
 * Finds the only test with a title in all files.
 * @throws Error if there is no such test, or more than one
 */
export function findTest(title: string): NamedTest {
  const files = globSync('test/**/*.test.ts').filter((file) => hasTitle(readFileSync(file, 'utf8'), title))
  const [file] = files
  if (file === undefined || files.length > 1)
    throw new Error(`${title}: found in ${files.length} files (${files.join(', ')}), expected one`)
  return { file, title }
}

function hasTitle(code: string, title: string): boolean {
  return ["'", '`', '"'].some(
    (quote) => code.includes(`(${quote}${title}${quote},`) || opensLine(code, `${quote}${title}${quote},`),
  )
}

/** True if the line opens a test whose title was too long for the line of `it(`. */
function opensLine(code: string, text: string): boolean {
  return code.split('\n').some((line) => line.trim() === text)
}

/** Returns a pattern that matches the title in the output of a run, with any values filled in. */
export function titlePattern(title: string): string {
  return title
    .split(/\$\{[^}]*\}|\$[\w.]+|%[sdifjo]/)
    .map((part) => RegExp.escape(part))
    .join('.*')
}
