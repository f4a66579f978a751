/** The retired words of `docs/explanation/glossary.md` stand in no name that people read. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { COMMANDS } from '../src/cli/commands.ts'
import { openStore } from '../src/store/open.ts'

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

const SOURCES = globSync('src/**/*.ts')
const OURS = SOURCES.filter((path) => !path.startsWith('src/service/'))

function namesIn(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(pattern)].map(([, name = '']) => name),
  )
}

async function namesOfTables(): Promise<string[]> {
  await using store = await openStore(':memory:', new Date('2026-11-22T00:00:00Z'))
  const tables = await store.db.introspection.getTables()
  return tables.flatMap(({ name, columns }) => [name, ...columns.map((each) => each.name)])
}

/** The names that people read, and the least number of them. */
const NAMES: readonly (readonly [of: string, least: number, names: readonly string[]])[] = [
  [
    'a file',
    1000,
    [...SOURCES, ...globSync('{test,templates,docs}/**/*.*', { exclude: ['test/foreign/**'] })],
  ],
  ['an export', 500, namesIn(OURS, /^export (?:async )?(?:function\*?|const|interface|type|class) (\w+)/gm)],
  ['a table or a column', 100, await namesOfTables()],
  ['a setting', 50, namesIn(['docs/reference/leadsheet.schema.json'], /"(\w+)": \{/g)],
  ['a command', 10, COMMANDS.map(({ name }) => name)],
  ['a metric', 20, namesIn(OURS, /\b(leadsheet_[a-z_]+)/g)],
]

it.each(NAMES)('no retired word is in the name of %s', (_, least, names) => {
  expect(names.length).toBeGreaterThan(least)
  expect(retiredIn(names)).toEqual([])
})

it('no retired word would get by', () => {
  expect(retiredIn(['readLetter', 'held_row', 'store/edition.ts', 'deadLetters', 'invoice'])).toEqual([
    'held_row',
    'readLetter',
    'store/edition.ts',
  ])
})
