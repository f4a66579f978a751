/**
 * Builds dist/ from src/, or the folder that is named. Rolldown puts our JavaScript into few files, because a start
 * mostly waits for files to be found and loaded. All other files that the program reads at run time are copied, and
 * so are the public holidays. There are no types, because nothing imports the program.
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src')
const BUILT = process.argv[2] ?? join(ROOT, 'dist')
/**
 * Packages whose many files most commands would load. With their code among ours, a start takes a fifth less time.
 * With that of commander, croner, yaml and pino too, it took as long.
 */
const INLINED = ['kysely', 'zod']

/**
 * Lets each module find the files beside it as if it stood where it stands in src/, because `import.meta` tells of
 * the file that Rolldown puts it into.
 */
const keepPlaces: Plugin = {
  name: 'keep-places',
  transform: {
    filter: { id: `${SOURCES}/**`, code: 'import.meta.' },
    handler: (code, id) =>
      code.replaceAll(/\bimport\.meta\.(url|dirname)\b/g, `import.meta.$1_of['${relative(SOURCES, id)}']`),
  },
  renderChunk: (code, { fileName }) =>
    code.replaceAll(
      /\bimport\.meta\.(url|dirname)_of\["(.*?)\.ts"\]/g,
      (_, asked: string, source: string) => {
        const place = relative(dirname(fileName), `${source}.js`)
        if (asked === 'url') return `new URL("${place}", import.meta.url).href`
        return `(import.meta.dirname + "/${dirname(place)}")`
      },
    ),
}

rmSync(BUILT, { recursive: true, force: true })
const programs = globSync('{main,**/*-child}.ts', { cwd: SOURCES })
const bundle = await rolldown({
  input: Object.fromEntries(programs.map((file) => [file.replace(/\.ts$/, ''), join(SOURCES, file)])),
  platform: 'node',
  tsconfig: false,
  // A program holds nothing that others import. They would wait for main.ts, which waits for its commands.
  preserveEntrySignatures: 'strict',
  external: (id) =>
    !(id.startsWith('.') || isAbsolute(id) || INLINED.some((name) => `${id}/`.startsWith(`${name}/`))),
  plugins: [keepPlaces],
})
await bundle.write({
  dir: BUILT,
  chunkFileNames: 'shared/[name].js',
  minifyInternalExports: false,
  comments: { annotation: false, jsdoc: false },
})
for (const file of globSync('**/*.*', { cwd: SOURCES }))
  if (!file.endsWith('.ts')) cpSync(join(SOURCES, file), join(BUILT, file))
for (const name of INLINED)
  cpSync(join(ROOT, 'node_modules', name, 'LICENSE'), join(BUILT, `${name}.LICENSE.txt`))

// An installation takes the one file that date-holidays offers to browsers, and none of the packages that it
// asks for: 1.5 MB in place of 45. It exports the same class as the package.
const holidays = dirname(createRequire(import.meta.url).resolve('date-holidays/package.json'))
const read = (file: string) => readFileSync(join(holidays, file), 'utf8')
const script = read('dist/index.min.js').replace(/\/\/# sourceMappingURL=.*\n?$/, '')
writeFileSync(
  join(BUILT, 'date-holidays.cjs'),
  `${script}\nmodule.exports = module.exports.Holidays.default\n`,
)
writeFileSync(
  join(BUILT, 'date-holidays.LICENSE.txt'),
  `${read('LICENSE')}\n${read('dist/index.min.js.LICENSE.txt')}`,
)
