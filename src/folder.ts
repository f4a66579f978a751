/** Makes folders. */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and the folders above it, unless they are there. Node's own `recursive` tries for ever where a parent
 * can hold no folder, such as /proc.
 * @param mode the mode of the folder itself
 * @throws the error of the file system
 */
export function makeFolders(path: string, mode = 0o777): void {
  if (isFolder(path)) return
  try {
    mkdirSync(path, { mode })
  } catch (thrown) {
    // Another process may have made the folder meanwhile.
    if (isFolder(path)) return
    if (Object(thrown).code !== 'ENOENT' || isFolder(dirname(path))) throw thrown
    makeFolders(dirname(path))
    makeFolders(path, mode)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
