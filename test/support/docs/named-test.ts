/** A test that is named elsewhere: by the page about failures, or by a sabotage that it must catch. */
import { globSync, readFileSync } from 'node:fs'

export interface NamedTest {
  /** From the root of the project. */
  readonly file: string
  /** As it stands in the file, `${…}`, `$name` and `%s` included. */
  readonly title: string
}

export function isThere({ file, title }: NamedTest): boolean {
  return hasTitle(readFileSync(file, 'utf8'), title)
}

/**
 * The one test of a title, wherever it is.
 * @throws Error where there is none, or several
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

/** A title that is too long to stand behind `it(`. */
function opensLine(code: string, text: string): boolean {
  return code.split('\n').some((line) => line.trim() === text)
}

/** What a run calls it: what is filled in may be anything. */
export function titlePattern(title: string): string {
  return title
    .split(/\$\{[^}]*\}|\$[\w.]+|%[sdifjo]/)
    .map((part) => RegExp.escape(part))
    .join('.*')
}
