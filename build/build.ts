/**
 * Builds dist/ from src/. The TypeScript compiler writes the JavaScript; all other files that the program
 * reads at run time are copied, and so are the public holidays. There are no types, because nothing imports the program.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src')
const BUILT = join(ROOT, 'dist')

const folderOf = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
const typescript = folderOf('typescript')
rmSync(BUILT, { recursive: true, force: true })
const { status } = spawnSync(
  process.execPath,
  [join(typescript, 'bin/tsc'), '-p', join(ROOT, 'tsconfig.build.json')],
  { stdio: 'inherit' },
)
if (status !== 0) process.exit(1)
// The copy fails if it would overwrite a file that the compiler wrote. Imported JSON files are skipped,
// because the compiler has already copied them.
cpSync(SOURCES, BUILT, {
  recursive: true,
  force: false,
  errorOnExist: true,
  filter: (path, target) =>
    statSync(path).isDirectory() || !(path.endsWith('.ts') || (path.endsWith('.json') && existsSync(target))),
})

// An installation takes the one file that date-holidays offers to browsers, and none of the packages that it
// asks for: 1.5 MB in place of 45. It exports the same class as the package.
const holidays = folderOf('date-holidays')
const read = (file: string) => readFileSync(join(holidays, file), 'utf8')
const bundle = read('dist/index.min.js').replace(/\/\/# sourceMappingURL=.*\n?$/, '')
writeFileSync(
  join(BUILT, 'date-holidays.cjs'),
  `${bundle}\nmodule.exports = module.exports.Holidays.default\n`,
)
writeFileSync(
  join(BUILT, 'date-holidays.LICENSE.txt'),
  `${read('LICENSE')}\n${read('dist/index.min.js.LICENSE.txt')}`,
)
