/** Makes a folder for a test and deletes it afterwards. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** @param files content by path, relative to the folder */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  return fill(mkdtempSync(join(tmpdir(), 'leadsheet-')), files)
}

/**
 * Makes a folder on disk. The usual temporary folder may be in memory, where tests of durability would prove
 * nothing.
 */
export function folderOnDisk(files: Readonly<Record<string, string>> = {}): string {
  return fill(mkdtempSync('/var/tmp/leadsheet-'), files)
}

function fill(folder: string, files: Readonly<Record<string, string>>): string {
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content, { mode: 0o600 })
  }
  return folder
}
