/** The documentation as its tests read it: `README.md` and every page of `docs/`, whichever page a fact stands on. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')

export interface Page {
  /** From the root of the project, such as `docs/how-to/webhooks.md`. */
  readonly path: string
  readonly text: string
}

export function readPages(): Page[] {
  const paths = globSync(['README.md', 'docs/**/*.md'], {
    cwd: ROOT,
    exclude: (path) => path.includes('node_modules'),
  })
  return paths.sort().map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

/** Every page, one below the other. */
export function readAllText(): string {
  return readPages()
    .map(({ text }) => text)
    .join('\n')
}

/** The rows below the one table of all pages whose first heading is `heading`, as lines. */
export function rowsUnder(heading: string): string[] {
  const lines = readAllText().split('\n')
  const starts = lines.flatMap((line, index) => (line.startsWith(`| ${heading} |`) ? [index] : []))
  expect(starts, `tables headed ${heading}`).toHaveLength(1)
  const rows = lines.slice((starts[0] ?? 0) + 2)
  return rows.slice(
    0,
    rows.findIndex((line) => !line.startsWith('|')),
  )
}

/** The same as lists of cells, without the marks of code. */
export function tableUnder(heading: string): string[][] {
  return rowsUnder(heading).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

/** The fenced blocks of a language, of all pages. */
export function codeBlocks(language: string): string[] {
  return [...readAllText().matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  )
}

/** The text below the one heading of this title, down to the next heading of its level or a higher one. */
export function readSection(title: string): string {
  const found = readPages().flatMap(({ text }) => {
    const [, marks = '', rest] = new RegExp(`^(#+) ${title}\n(.*)`, 'ms').exec(text) ?? []
    return rest === undefined ? [] : [rest.split(new RegExp(`^#{1,${marks.length}} `, 'm'))[0] ?? '']
  })
  expect(found, `sections named ${title}`).toHaveLength(1)
  return found[0] ?? ''
}
