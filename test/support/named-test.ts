/** A test that is named elsewhere: by the README's table of failures, or by a sabotage that it must catch. */
import { readFileSync } from 'node:fs'

export interface NamedTest {
  /** From the root of the project. */
  readonly file: string
  /** As it stands in the file, `${…}`, `$name` and `%s` included. */
  readonly title: string
}

export function isThere({ file, title }: NamedTest): boolean {
  const code = readFileSync(file, 'utf8')
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
