/** The retired words of `docs/explanation/glossary.md` stand in no name that people read. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../src/store/open.ts'
import { folderWith } from './support/folder.ts'
import { runWarm } from './support/process/warm-leadsheet.ts'

const ROOT = join(import.meta.dirname, '..')

/** Retired words as parts of names. `allowed` matches names in which the word means something else. */
const RETIRED: readonly { readonly word: RegExp; readonly allowed?: RegExp }[] = [
  { word: /letters?/, allowed: /dead_letters?|lower_case|first_letter/ },
  { word: /editions?/ },
  { word: /notices?/ },
  { word: /troubled?s?/ },
  { word: /deeds?/ },
  { word: /slots?/ },
  { word: /wish(?:es)?/ },
  { word: /subscriptions?/, allowed: /subscription_id/ },
  { word: /held/, allowed: /held_(?:back|text|leases)/ },
  { word: /verdicts?/ },
  { word: /readings?/ },
  { word: /gone|absences?/ },
  { word: /removals?|is_removed|leads_removed/ },
  { word: /thin(?:ned|ning)/ },
  { word: /pulse|daemon_spans?|last_tick(?:_at)?|sign_of_life|li(?:fe|ves)/ },
  { word: /lanes?/ },
  { word: /poke|nudge/ },
  { word: /crew/ },
  { word: /in_doubt|doubts?|doubt(?:ed|ful)/ },
  { word: /own_(?:form|names)/ },
  { word: /voice/, allowed: /invoice/ },
  { word: /(?:un)?told/ },
  { word: /mailings?/ },
  { word: /attendance/ },
  { word: /surprises?/ },
  { word: /weighed/ },
  { word: /stretch(?:es)?/ },
  { word: /glances?|heed|way_(?:on|out)|mail_turn|touch(?:es)?|met/ },
]

const parts = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')

function retiredIn(names: Iterable<string>): string[] {
  const found = [...new Set(names)].filter((name) => {
    const plain = parts(name)
    return RETIRED.some(
      ({ word, allowed }) =>
        new RegExp(`(?:^|_)(?:${word.source})(?:_|$)`).test(plain) && !(allowed?.test(plain) ?? false),
    )
  })
  return found.sort()
}

const SOURCES = globSync('src/**/*.ts', { cwd: ROOT })
const OURS = SOURCES.filter((path) => !path.startsWith('src/service/'))
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

describe('no retired word', () => {
  it('is in the name of a file', () => {
    const files = [...SOURCES, ...globSync('{test,templates,docs}/**/*.*', { cwd: ROOT })]
    expect(retiredIn(files.filter((path) => !path.startsWith('test/foreign/')))).toEqual([])
  })

  it('is in the name of an export', () => {
    const exported = OURS.flatMap((path) =>
      [...textOf(path).matchAll(/^export (?:async )?(?:function\*?|const|interface|type|class) (\w+)/gm)].map(
        ([, name]) => name ?? '',
      ),
    )
    expect(exported.length).toBeGreaterThan(500)
    expect(retiredIn(exported)).toEqual([])
  })

  it('is in the name of a table or a column', async () => {
    await using store = await openStore(join(folderWith(), 'leadsheet.db'), new Date('2026-11-22T00:00:00Z'))
    const tables = await store.db.introspection.getTables()
    expect(
      retiredIn(tables.flatMap(({ name, columns }) => [name, ...columns.map((each) => each.name)])),
    ).toEqual([])
  })

  it('is in the name of a setting', () => {
    const schema = JSON.parse(textOf('docs/reference/leadsheet.schema.json')) as unknown
    const names: string[] = []
    JSON.stringify(schema, (key, value: unknown) => {
      if (key === 'properties' && typeof value === 'object' && value !== null)
        names.push(...Object.keys(value))
      return value
    })
    expect(names.length).toBeGreaterThan(50)
    expect(retiredIn(names)).toEqual([])
  })

  it('is in the name of a command or a metric', async () => {
    const { stdout } = await runWarm(['--help'], { cwd: folderWith() })
    expect(retiredIn([...stdout.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name ?? ''))).toEqual([])
    const metrics = OURS.flatMap((path) => textOf(path).match(/\bleadsheet_[a-z_]+/g) ?? [])
    expect(metrics.length).toBeGreaterThan(20)
    expect(retiredIn(metrics)).toEqual([])
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
    const inSources = [...textOf('docs/explanation/how-it-works.md').matchAll(/`([\w/-]+\.ts)`/g)].map(
      ([, path]) => `src/${path}`,
    )
    expect(inSources.length).toBeGreaterThan(30)
    const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/explanation/*.md', { cwd: ROOT })]
    const named = pages.flatMap((page) =>
      [...textOf(page).matchAll(/`((?:src|test|build|docs|templates)\/[\w./-]*)`/g)].map(
        ([, path]) => path ?? '',
      ),
    )
    expect(named.length).toBeGreaterThan(50)
    const files = named.filter((path) => !/NAME|GROUP|LANGUAGE/.test(path))
    expect([...inSources, ...files].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })
})
