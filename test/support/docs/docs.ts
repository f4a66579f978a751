/**
 * Reads the documentation for its tests: `README.md` and every page of `docs/`. Tests need not know which
 * page holds a fact.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')

export interface Page {
  /** The path from the root of the project, such as `docs/how-to/webhooks.md`. */
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

/** Returns the text of all pages, one after the other. */
export function readAllText(): string {
  return readPages()
    .map(({ text }) => text)
    .join('\n')
}

/**
 * Returns the rows of the only table, in any page, whose first column is headed `heading`, as lists of cells without
 * backquotes. The head is left out.
 */
export function tableUnder(heading: string): string[][] {
  const [, ...tables] = readAllText().split(`\n| ${heading} |`)
  expect(tables, `tables headed ${heading}`).toHaveLength(1)
  const [, , ...lines] = (tables[0] ?? '').split('\n')
  return lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
}

/** Returns the fenced code blocks of a language from all pages. */
export function codeBlocks(language: string): string[] {
  return [...readAllText().matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  )
}

/**
 * Returns the text below the only heading with this title, down to the next heading of the same or a higher
 * level.
 */
export function readSection(title: string): string {
  const found = readPages().flatMap(({ text }) => {
    const [, marks = '', rest] = new RegExp(`^(#+) ${title}\n(.*)`, 'ms').exec(text) ?? []
    return rest === undefined ? [] : [rest.split(new RegExp(`^#{1,${marks.length}} `, 'm'))[0] ?? '']
  })
  expect(found, `sections named ${title}`).toHaveLength(1)
  return found[0] ?? ''
}
