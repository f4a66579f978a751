/** A copy of the project that may be broken. The project itself never changes. */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

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
