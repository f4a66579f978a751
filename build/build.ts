/**
 * Builds dist/ from src/. The TypeScript compiler writes the JavaScript; all other files that the program
 * reads at run time are copied. There are no types, because nothing imports the program.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src')
const BUILT = join(ROOT, 'dist')

const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
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
