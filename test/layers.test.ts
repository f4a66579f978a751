/**
 * Checks that the files of src import only what ARCHITECTURE.md lets them. If the design changes, change its table
 * and give the reason in the commit.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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
  undici: ['src/packages.ts', 'src/proxy.ts', 'src/service/webhooks/post.ts'],
  'better-sqlite3': ['src/packages.ts', 'src/store/', 'src/login/', 'src/service/'],
  kysely: ['src/packages.ts', 'src/store/', 'src/service/'],
  'pg-boss': ['src/packages.ts', 'src/queue/'],
  '@resvg/resvg-js': ['src/packages.ts', 'src/report/charts/png.ts'],
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

test('the table of layers names every folder and file directly in src, and those within a layer', () => {
  expect([...new Set(sources.map(({ path }) => areaOf(path)))].sort()).toEqual(AREAS.toSorted())
  expect(Object.keys(IN_ORDER)).toEqual(['upstream', 'store', 'web'])
  for (const [layer, folders] of Object.entries(IN_ORDER)) {
    const own = sources.filter(({ path }) => areaOf(path) === layer).map(({ path }) => folderOf(path))
    expect([...new Set(own)].filter((folder) => folder !== null).sort()).toEqual(folders.toSorted())
  }
})

/** The rules of all sources, each with an invented source of which the check must tell. */
const RULES: readonly {
  readonly rule: string
  readonly check: (all: readonly Source[]) => string[]
  readonly broken: Readonly<Record<string, string>>
  readonly told: readonly string[]
}[] = [
  {
    rule: 'an import is one that the table of layers allows',
    check: (all) => all.flatMap(forbiddenImports),
    broken: { 'src/store/leads/lead.ts': "import type { Source } from '../../upstream/source.ts'" },
    told: ['src/store/leads/lead.ts imports src/upstream/source.ts'],
  },
  {
    rule: 'a folder within a layer imports only those before it',
    check: (all) => all.flatMap(importsOfLater),
    broken: { 'src/store/db/rows.ts': "import { Lead } from '../leads/lead.ts'" },
    told: ['src/store/db/rows.ts imports src/store/leads/lead.ts'],
  },
  {
    rule: 'imports have no cycle, types and dynamic imports included',
    check: findCycle,
    broken: {
      'src/a/one.ts': "import type { Two } from './two.ts'",
      'src/a/two.ts': "export const load = () => import('../b/three.ts')",
      'src/b/three.ts': "export { one } from '../a/one.ts'",
    },
    told: ['src/a/one.ts', 'src/a/two.ts', 'src/b/three.ts', 'src/a/one.ts'],
  },
  {
    rule: 'packages and texts that are kept in some places stand in no other',
    check: (all) => all.flatMap(strayed),
    broken: { 'src/cli/x.ts': "import { sql } from 'kysely/migration'\nprocess.env.HOME" },
    told: ['src/cli/x.ts has kysely', 'src/cli/x.ts has process.env'],
  },
  {
    rule: 'shown commands are written by shellCommand, CALLED or the helper shell, which know how the program was started',
    check: (all) => all.flatMap(bareCommands),
    broken: { 'src/cli/x.ts': 'Run `leadsheet sync` first' },
    told: ['src/cli/x.ts: leadsheet sync'],
  },
]

test.each(RULES)('$rule', ({ check, broken, told }) => {
  expect(check(sources)).toEqual([])
  expect(check(Object.entries(broken).map(([path, text]) => readSource(path, text)))).toEqual(told)
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

test('commands of templates are written by the helper shell, and those of the pages about a clone can be pasted there', () => {
  const templates = globSync('{templates,src}/**/*.hbs', { cwd: ROOT }).map((path) => ({
    path,
    code: readFileSync(join(ROOT, path), 'utf8'),
  }))
  const sections = readPages()
    .filter(({ path }) => !INSTALLED.test(path))
    .flatMap(({ path, text }) => text.split(/^#{2,3} /m).map((code) => ({ path, code })))
    .filter(({ code }) => !code.startsWith('Run it from a crontab\n'))
  expect([...templates, ...sections].flatMap(bareCommands)).toEqual([])
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

/** Returns the folder within a layer: `db` for `src/store/db/rows.ts`. Null for a file directly in the layer. */
function folderOf(path: string): string | null {
  const parts = path.split('/')
  return parts.length > 3 ? (parts[2] ?? null) : null
}

function importsOfLater({ path, imports }: Source): string[] {
  const folders = IN_ORDER[areaOf(path)] ?? []
  const place = (of: string) => (areaOf(of) === areaOf(path) ? folders.indexOf(folderOf(of) ?? '') : -1)
  if (place(path) < 0) return []
  return imports
    .filter((imported) => place(imported) > place(path))
    .map((imported) => `${path} imports ${imported}`)
}

/** Lists the packages and texts of a file that are kept elsewhere. */
function strayed({ path, code, specifiers }: Source): string[] {
  const packages = Object.keys(KEPT_IN).filter((name) =>
    specifiers.some((each) => each === name || each.startsWith(`${name}/`)),
  )
  const texts = Object.keys(TEXT_KEPT_IN).filter((text) => code.includes(text))
  const places = { ...KEPT_IN, ...TEXT_KEPT_IN }
  return [...packages, ...texts]
    .filter((name) => !places[name]?.some((place) => path.startsWith(place)))
    .map((name) => `${path} has ${name}`)
}

/** Finds a command that only somebody who has installed leadsheet can type. */
function bareCommands({ path, code }: Pick<Source, 'path' | 'code'>): string[] {
  const names = COMMANDS.map(({ name }) => name).join('|')
  const found = new RegExp(`(?<!npx )\\bleadsheet (?:${names})\\b(?!')`).exec(code)
  return found === null ? [] : [`${path}: ${found[0]}`]
}

/** Lists the files of import cycles, each cycle as a chain. */
function findCycle(all: readonly Source[]): string[] {
  const byPath = new Map(all.map((source) => [source.path, source]))
  const finished = new Set<string>()
  const visit = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (finished.has(path)) return []
    finished.add(path)
    return (byPath.get(path)?.imports ?? []).flatMap((imported) => visit(imported, [...trail, path]))
  }
  return all.flatMap(({ path }) => visit(path, []))
}
