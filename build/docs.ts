/**
 * Writes the generated pages of the documentation; with `--check`, only lists the pages that are out of date
 * and exits with status 1.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generatePages } from './docs/pages.ts'

const ROOT = join(import.meta.dirname, '..')
const isCheck = process.argv.includes('--check')

for (const [path, text] of await generatePages()) {
  const file = join(ROOT, path)
  if (read(file) === text) continue
  process.stdout.write(`${isCheck ? 'differs, run `npm run docs`: ' : 'written: '}${path}\n`)
  if (isCheck) process.exitCode = 1
  else {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
