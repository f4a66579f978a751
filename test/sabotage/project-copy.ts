/** A copy of the project that may be broken. The project itself never changes. */
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/**
 * A text of the program and its replacement. The text must stand in the program exactly once, in any file.
 */
export interface Edit {
  readonly find: string
  readonly replace: string
}

/** Folders that tests never read, or that are links in the copy. */
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

/** Makes the edits. They are undone when the result is disposed of. */
export function applyEdits(folder: string, edits: readonly Edit[]): Disposable {
  const originals = new Map<string, string>()
  for (const edit of edits) {
    const path = fileOf(folder, edit)
    const before = readFileSync(path, 'utf8')
    if (!originals.has(path)) originals.set(path, before)
    writeFileSync(
      path,
      before.replace(edit.find, () => edit.replace),
    )
  }
  return {
    [Symbol.dispose]: () => {
      for (const [path, text] of originals) writeFileSync(path, text)
    },
  }
}

/** @throws Error if the text is not in the program, or more than once */
export function fileOf(folder: string, { find }: Edit): string {
  const files = globSync(['src/**/*.ts', 'templates/**/*.hbs'], { cwd: folder }).map((file) =>
    join(folder, file),
  )
  const found = files.flatMap((file) => {
    const count = readFileSync(file, 'utf8').split(find).length - 1
    return Array.from({ length: count }, () => file)
  })
  const [file] = found
  if (file === undefined || found.length > 1) {
    throw new Error(`found ${found.length} times (${found.join(', ')}), expected once: ${find}`)
  }
  return file
}
