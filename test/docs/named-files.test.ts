/** The files that pages and lists of tests name are there. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const textOf = (path: string) => readFileSync(path, 'utf8')
const matches = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([, name = '']) => name)

/** The faults that leadsheet promises to handle, by their numbers. */
const faults: readonly { readonly row: number; readonly test: string }[] = JSON.parse(
  textOf('test/faults.json'),
)
/** The headings of the page about failures, with the files of their tests. */
const failures: readonly { readonly what: string; readonly tests: readonly string[] }[] = JSON.parse(
  textOf('test/failures.json'),
)

/** A path begins at the root. A name without a folder is in the folder of the file named before it. */
function namedBySecurity(): string[] {
  const files: string[] = []
  for (const name of matches(/`((?:src|test|deploy)\/[\w./-]+|[\w-]+\.test\.ts)`/g, textOf('SECURITY.md')))
    files.push(name.includes('/') ? name : join(dirname(files.at(-1) ?? ''), name))
  return files
}

const FOR_MAINTAINERS = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/explanation/*.md')]

it.each([
  ['the claims of SECURITY.md', 25, namedBySecurity()],
  [
    'docs/explanation/how-it-works.md',
    30,
    matches(/`([\w/-]+\.ts)`/g, textOf('docs/explanation/how-it-works.md')).map((path) => `src/${path}`),
  ],
  [
    'the pages for maintainers',
    50,
    FOR_MAINTAINERS.flatMap((page) =>
      matches(/`((?:src|test|build|docs|templates)\/[\w./-]*)`/g, textOf(page)),
    ).filter((path) => !/NAME|GROUP|LANGUAGE/.test(path)),
  ],
  ['test/faults.json', 60, faults.map(({ test }) => test)],
  ['test/failures.json', 60, failures.flatMap(({ tests }) => tests)],
])('the files that %s name are there', (_, least, files) => {
  expect(files.length).toBeGreaterThan(least)
  expect(files.filter((file) => !existsSync(file))).toEqual([])
})

it('test/faults.json has each row once, in order', () => {
  const numbers = faults.map(({ row }) => row)
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
})

it('test/failures.json has tests for each failure that the page tells of, and for no other', () => {
  const headings = matches(/^### (.*)$/gm, textOf('docs/explanation/failures.md'))
  expect(headings).toEqual(failures.map(({ what }) => what))
  expect(failures.filter(({ tests }) => tests.length === 0)).toEqual([])
})
