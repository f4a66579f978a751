/**
 * Checks that the files of src import only what ARCHITECTURE.md lets them. If the design changes, change its table
 * and give the reason in the commit.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../src/cli/commands.ts'
import { readPages } from './support/docs/docs.ts'

/** Pages for people who have installed leadsheet, and type `leadsheet` without `npx`. */
const INSTALLED = /^docs\/how-to\/(?:install-|postgresql-and-workers)/
const ROOT = join(import.meta.dirname, '..')

const ARCHITECTURE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
const ROWS = [...ARCHITECTURE.matchAll(/^\| `([\w-]+)(?:\/|\.ts)` \| .* \| (.*?) ?\|$/gm)]
const AREAS = ROWS.map(([, area = '']) => area)

/** For each folder or file of src, the other folders and files that it may import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ROWS.map(([, area = '', may = '']) => [
    area,
    may === 'all but main' ? AREAS.filter((each) => each !== 'main') : may.split(', '),
  ]),
)

/**
 * The folders of a layer in order. Each may import those before it, and the files that stand directly in the
 * layer.
 */
const IN_ORDER: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  [...ARCHITECTURE.matchAll(/^- `(\w+)\/`: ([\w, ]+)$/gm)].map(([, layer = '', folders = '']) => [
    layer,
    folders.split(', '),
  ]),
)

/** Packages and texts that only some paths may hold. Each path is the beginning of a file's path. */
const KEPT_IN: Readonly<Record<string, readonly string[]>> = {
  undici: ['src/proxy.ts', 'src/service/webhooks/post.ts'],
  'better-sqlite3': ['src/store/', 'src/login/', 'src/service/'],
  kysely: ['src/store/', 'src/service/'],
  'pg-boss': ['src/queue/'],
  '@resvg/resvg-js': ['src/report/charts/png.ts'],
}
const TEXT_KEPT_IN: Readonly<Record<string, readonly string[]>> = {
  'process.env': ['src/config/'],
  // The allowed texts are our own: the columns of LEAD_FIELDS and of the views, and the SQL of figures.
  'sql.raw': [
    'src/store/schema/001-initial.ts',
    'src/store/schema/views.ts',
    'src/store/leads/lead-day.ts',
    'src/store/leads/reached.ts',
    'src/store/invariants/invariants.ts',
    'src/store/leads/level-change.ts',
  ],
}

interface Source {
  /** The path from the root of the project, such as `src/cli/terminal/table.ts`. */
  readonly path: string
  readonly code: string
  /** The specifiers as written, such as `./table.ts` and `kysely/migration`. */
  readonly specifiers: readonly string[]
  /** The imported files of the project, from its root. */
  readonly imports: readonly string[]
}

const sources = globSync('src/**/*.ts', { cwd: ROOT })
  .sort()
  .map((path) => readSource(path, readFileSync(join(ROOT, path), 'utf8')))

describe('the table of layers', () => {
  test('names every folder and file directly in src', () => {
    const areas = new Set(sources.map(({ path }) => areaOf(path)))
    expect([...areas].sort()).toEqual(AREAS.toSorted())
    expect(Object.keys(IN_ORDER)).toEqual(['upstream', 'store', 'web'])
  })

  test('is kept by every import', () => {
    expect(sources.flatMap(forbiddenImports)).toEqual([])
  })

  test('would tell of an import that breaks it', () => {
    const source = readSource(
      'src/store/leads/lead.ts',
      "import type { Source } from '../../upstream/source.ts'\n",
    )
    expect(forbiddenImports(source)).toEqual(['src/store/leads/lead.ts imports src/upstream/source.ts'])
  })
})

describe('the folders within a layer', () => {
  test.each(Object.entries(IN_ORDER))('of %s import only those before them', (layer, folders) => {
    expect(sources.flatMap((source) => importsOfLater(source, layer, folders))).toEqual([])
    const there = sources.map(({ path }) => folderOf(path, layer)).filter((folder) => folder !== null)
    expect([...new Set(there)].sort()).toEqual(folders.toSorted())
  })

  test('would tell of an import of a later one', () => {
    const source = readSource('src/store/db/rows.ts', "import { Lead } from '../leads/lead.ts'\n")
    expect(importsOfLater(source, 'store', IN_ORDER.store ?? [])).toEqual([
      'src/store/db/rows.ts imports src/store/leads/lead.ts',
    ])
  })
})

describe('imports between files', () => {
  test('have no cycle', () => {
    expect(findCycle(sources)).toBeNull()
  })

  test('would tell of a cycle, types and dynamic imports included', () => {
    const loop = [
      readSource('src/a/one.ts', "import type { Two } from './two.ts'"),
      readSource('src/a/two.ts', "export const load = () => import('../b/three.ts')"),
      readSource('src/b/three.ts', "export { one } from '../a/one.ts'"),
    ]
    expect(findCycle(loop)).toBe('src/a/one.ts -> src/a/two.ts -> src/b/three.ts -> src/a/one.ts')
  })
})

test('no line is packed by spreading a literal', () => {
  const files = globSync('{src,test,build}/**/*.ts', {
    cwd: ROOT,
    exclude: (path) => path.includes('node_modules'),
  })
  expect(files.length).toBeGreaterThan(500)
  const packed = files.filter((path) => readFileSync(join(ROOT, path), 'utf8').includes(`...${'{'}`))
  expect(packed).toEqual([])
})

describe('what is kept in one place', () => {
  test.each(Object.entries(KEPT_IN))('%s is imported only in %s', (name, places) => {
    const users = sources.filter((source) =>
      source.specifiers.some((each) => each === name || each.startsWith(`${name}/`)),
    )
    expect(outside(users, ['src/packages.ts', ...places])).toEqual([])
  })

  test.each(Object.entries(TEXT_KEPT_IN))('%s stands only in %s', (text, places) => {
    expect(
      outside(
        sources.filter(({ code }) => code.includes(text)),
        places,
      ),
    ).toEqual([])
  })
})

describe('commands that are shown', () => {
  const names = COMMANDS.map(({ name }) => name).join('|')
  const bare = new RegExp(`(?<!npx )\\bleadsheet (?:${names})\\b(?!')`)
  const withBare = (texts: readonly { readonly path: string; readonly code: string }[]) =>
    texts.flatMap(({ path, code }) => {
      const found = bare.exec(code)
      return found === null ? [] : [`${path}: ${found[0]}`]
    })

  test('are written by shellCommand, CALLED or the helper shell, which know how the program was started', () => {
    const templates = globSync('{templates,src}/**/*.hbs', { cwd: ROOT }).map((path) => ({
      path,
      code: readFileSync(join(ROOT, path), 'utf8'),
    }))
    expect(withBare([...sources, ...templates])).toEqual([])
  })

  test('can be pasted in a clone wherever the documentation is about one', () => {
    const sections = readPages()
      .filter(({ path }) => !INSTALLED.test(path))
      .flatMap(({ path, text }) => text.split(/^#{2,3} /m).map((code) => ({ path, code })))
    const installed = /^Run it from a crontab\n/
    expect(withBare(sections.filter(({ code }) => !installed.test(code)))).toEqual([])
  })

  test('would be told of', () => {
    expect(withBare([{ path: 'a', code: 'Run `leadsheet sync` first' }])).toEqual(['a: leadsheet sync'])
  })
})

function readSource(path: string, text: string): Source {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const specifiers = [...code.matchAll(/\b(?:from|import|loadPackage)\s*\(?\s*'([^'\n]+)'/g)].map(
    (match) => match[1] ?? '',
  )
  const imports = specifiers.filter((each) => each.startsWith('.')).map((each) => join(path, '..', each))
  return { path, code, specifiers, imports }
}

/** Returns the area of a file: `cli` for `src/cli/terminal/table.ts`, `log` for `src/log.ts`. */
function areaOf(path: string): string {
  return (path.split('/')[1] ?? '').replace(/\.ts$/, '')
}

function forbiddenImports({ path, imports }: Source): string[] {
  const allowed = [areaOf(path), ...(MAY_IMPORT[areaOf(path)] ?? [])]
  return imports
    .filter((imported) => !imported.startsWith('src/') || !allowed.some(isOf(imported)))
    .map((imported) => `${path} imports ${imported}`)
}

function isOf(path: string): (area: string) => boolean {
  return (area) => area === areaOf(path) || path === `src/${area}.ts`
}

/**
 * Returns the folder within a layer: `db` for `src/store/db/rows.ts`. Null for a file directly in the layer,
 * or in another layer.
 */
function folderOf(path: string, layer: string): string | null {
  const parts = path.split('/')
  return parts[1] === layer && parts.length > 3 ? (parts[2] ?? null) : null
}

function importsOfLater({ path, imports }: Source, layer: string, folders: readonly string[]): string[] {
  const folder = folderOf(path, layer)
  if (folder === null) return []
  return imports
    .filter((imported) => folders.indexOf(folderOf(imported, layer) ?? '') > folders.indexOf(folder))
    .map((imported) => `${path} imports ${imported}`)
}

function outside(users: readonly Source[], places: readonly string[]): string[] {
  return users.map(({ path }) => path).filter((path) => !places.some((place) => path.startsWith(place)))
}

/** Finds the first import cycle, as a chain of files. */
function findCycle(all: readonly Source[]): string | null {
  const byPath = new Map(all.map((source) => [source.path, source]))
  const finished = new Set<string>()
  const visit = (path: string, trail: readonly string[]): string | null => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path].join(' -> ')
    if (finished.has(path)) return null
    for (const imported of byPath.get(path)?.imports ?? []) {
      const cycle = visit(imported, [...trail, path])
      if (cycle !== null) return cycle
    }
    finished.add(path)
    return null
  }
  for (const { path } of all) {
    const cycle = visit(path, [])
    if (cycle !== null) return cycle
  }
  return null
}
