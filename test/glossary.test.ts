/** The retired words of `docs/explanation/glossary.md` stand in no name that people read. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../src/store/open.ts'
import { folderWith } from './support/folder.ts'
import { runWarm } from './support/process/warm-leadsheet.ts'

const ROOT = join(import.meta.dirname, '..')

/** Retired words as parts of names. */
const RETIRED = [
  'letters? editions? notices? troubled?s? deeds? slots? wish(es)? subscriptions? held verdicts? readings? gone',
  'absences? removals? is_removed leads_removed thin(ned|ning) pulse daemon_spans? last_tick(_at)? sign_of_life life',
  'lives lanes? poke nudge crew in_doubt doubts? doubt(ed|ful) own_(form|names) voice (un)?told mailings? attendance',
  'surprises? weighed stretch(es)? glances? heed way_(on|out) mail_turn touch(es)? met',
]
  .join(' ')
  .split(' ')
/** Names in which a retired word means something else. */
const ALLOWED = /dead_letters?|lower_case|first_letter|subscription_id|held_(back|text|leases)|invoice/

/** Lists the names with a retired word, which stands between capitals, underlines or slashes. */
function retiredIn(names: Iterable<string>): string[] {
  const retired = new RegExp(`(^|_)(${RETIRED.join('|')})(_|$)`)
  return [...new Set(names)]
    .filter((name) => {
      const parts = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
      const rest = parts.replace(/[^a-z0-9]+/g, '_').replaceAll(new RegExp(ALLOWED, 'g'), '')
      return retired.test(rest)
    })
    .sort()
}

const SOURCES = globSync('src/**/*.ts', { cwd: ROOT })
const OURS = SOURCES.filter((path) => !path.startsWith('src/service/'))
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const matches = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([, name = '']) => name)

/** The names that people read, and the least number of them. */
const NAMES: readonly (readonly [of: string, least: number, list: () => string[] | Promise<string[]>])[] = [
  [
    'a file',
    1000,
    () =>
      [...SOURCES, ...globSync('{test,templates,docs}/**/*.*', { cwd: ROOT })].filter(
        (path) => !path.startsWith('test/foreign/'),
      ),
  ],
  [
    'an export',
    500,
    () =>
      OURS.flatMap((path) =>
        matches(/^export (?:async )?(?:function\*?|const|interface|type|class) (\w+)/gm, textOf(path)),
      ),
  ],
  [
    'a table or a column',
    100,
    async () => {
      await using store = await openStore(
        join(folderWith(), 'leadsheet.db'),
        new Date('2026-11-22T00:00:00Z'),
      )
      const tables = await store.db.introspection.getTables()
      return tables.flatMap(({ name, columns }) => [name, ...columns.map((each) => each.name)])
    },
  ],
  [
    'a setting',
    50,
    () => {
      const names: string[] = []
      JSON.stringify(JSON.parse(textOf('docs/reference/leadsheet.schema.json')), (key, value: unknown) => {
        if (key === 'properties' && typeof value === 'object') names.push(...Object.keys(value ?? {}))
        return value
      })
      return names
    },
  ],
  [
    'a command',
    10,
    async () => matches(/^ {2}([a-z-]+)/gm, (await runWarm(['--help'], { cwd: folderWith() })).stdout),
  ],
  ['a metric', 20, () => OURS.flatMap((path) => matches(/\b(leadsheet_[a-z_]+)/g, textOf(path)))],
]

describe('no retired word', () => {
  it.each(NAMES)('is in the name of %s', async (_, least, list) => {
    const names = await list()
    expect(names.length).toBeGreaterThan(least)
    expect(retiredIn(names)).toEqual([])
  })

  it('would get by', () => {
    expect(retiredIn(['readLetter', 'held_row', 'store/edition.ts', 'deadLetters', 'invoice'])).toEqual([
      'held_row',
      'readLetter',
      'store/edition.ts',
    ])
  })
})

describe('a page for maintainers', () => {
  it('names only files that are there', () => {
    const inSources = matches(/`([\w/-]+\.ts)`/g, textOf('docs/explanation/how-it-works.md')).map(
      (path) => `src/${path}`,
    )
    expect(inSources.length).toBeGreaterThan(30)
    const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/explanation/*.md', { cwd: ROOT })]
    const named = pages.flatMap((page) =>
      matches(/`((?:src|test|build|docs|templates)\/[\w./-]*)`/g, textOf(page)),
    )
    expect(named.length).toBeGreaterThan(50)
    const files = named.filter((path) => !/NAME|GROUP|LANGUAGE/.test(path))
    expect([...inSources, ...files].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })
})
