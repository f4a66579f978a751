/** Makes dist/ of src/: JavaScript and types as tsc writes them, and beside them what the program reads there. */
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
// Copying over something that was built is refused; only JSON that is imported for its types is built and the same.
cpSync(SOURCES, BUILT, {
  ...{ recursive: true, force: false, errorOnExist: true },
  filter: (path, target) =>
    statSync(path).isDirectory() || !(path.endsWith('.ts') || (path.endsWith('.json') && existsSync(target))),
})
