/** A copy of the project that may be broken: what is changed in it is never changed in the project itself. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** A text of a file and what takes its place; the text must stand there once. */
export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** What tests never read, or what is a link in the copy. */
const LEFT_OUT = ['.git', 'node_modules']

export interface ProjectCopy extends Disposable {
  readonly folder: string
}

export function copyProject(root: string): ProjectCopy {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-sabotage-'))
  cpSync(root, folder, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

/** Makes the edits; they are undone when the result is disposed of. */
export function applyEdits(folder: string, edits: readonly Edit[]): Disposable {
  const originals = new Map<string, string>()
  for (const edit of edits) {
    const path = join(folder, edit.file)
    const before = readFileSync(path, 'utf8')
    if (!originals.has(path)) originals.set(path, before)
    writeFileSync(path, applied(before, edit))
  }
  return {
    [Symbol.dispose]: () => {
      for (const [path, text] of originals) writeFileSync(path, text)
    },
  }
}

/** @throws Error where the text is not there, or more than once */
export function applied(text: string, { file, find, replace }: Edit): string {
  const found = text.split(find).length - 1
  if (found !== 1) throw new Error(`${file} has ${found} times, and not once: ${find}`)
  return text.replace(find, () => replace)
}
