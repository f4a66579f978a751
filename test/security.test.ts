/** Every claim of SECURITY.md names a file or a test that exists. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const paper = readFileSync('SECURITY.md', 'utf8')
const FILE = /`((?:src|test|deploy)\/[\w./-]+|[\w-]+\.test\.ts)`/g

/**
 * Lists the named files. A path begins at the root. A name without a folder is in the folder of the file
 * named before it.
 */
function filesNamed(): string[] {
  const files: string[] = []
  for (const [, name = ''] of paper.matchAll(FILE))
    files.push(name.includes('/') ? name : join(dirname(files.at(-1) ?? ''), name))
  return files
}

it('each file that SECURITY.md names is there', () => {
  expect(filesNamed().length).toBeGreaterThan(25)
  expect(filesNamed().filter((file) => !existsSync(file))).toEqual([])
})
