/** Makes dist/ of src/: JavaScript and types as tsc writes them, and beside them what the program reads there. */
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync, statSync } from 'node:fs'
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
// What is copied in the place of something built would take it away without a word.
cpSync(SOURCES, BUILT, {
  ...{ recursive: true, force: false, errorOnExist: true },
  filter: (path) => statSync(path).isDirectory() || !path.endsWith('.ts'),
})
