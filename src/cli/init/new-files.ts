/** Writes several new files, all of them or none, and each of them completely. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { faultText, LeadsheetError } from '../../errors.ts'

export interface NewFile {
  /** The absolute path. */
  readonly path: string
  readonly text: string
  /** Whether only the owner may read the file, and its folder if that is new. */
  readonly isSecret: boolean
}

/**
 * Writes the files in the given order, so that a file comes before the files that name it.
 * @param keepsOld renames existing files to `.bak`; otherwise an existing file is an error
 * @param check inspects the result; if `check` throws, everything is undone
 * @returns the result of `check`
 * @throws LeadsheetError usage_invalid if a file exists, data_unwritable, and whatever `check` throws
 */
export function writeNewFiles<T>(
  files: readonly NewFile[],
  { keepsOld, check }: { readonly keepsOld: boolean; readonly check: () => T },
): T {
  if (!keepsOld) refuseTaken(files.map(({ path }) => path))
  const undo: (() => unknown)[] = []
  try {
    for (const file of files) write(file, undo)
    return check()
  } catch (thrown) {
    for (const step of undo.reverse()) step()
    throw thrown
  }
}

/** @throws LeadsheetError usage_invalid if one of the files exists */
export function refuseTaken(paths: readonly string[]): void {
  const taken = paths.find((path) => existsSync(path))
  if (taken === undefined) return
  throw new LeadsheetError('usage_invalid', `${taken} is there already`, {
    hint: '--force puts it aside as .bak and writes a new one.',
  })
}

/** @param undo receives the steps that undo the writing */
function write({ path, text, isSecret }: NewFile, undo: (() => unknown)[]): void {
  const unfinished = `${path}.${randomUUID()}.part`
  try {
    makeFolder(dirname(path), isSecret, undo)
    undo.push(() => existsSync(unfinished) && rmSync(unfinished))
    writeFileSync(unfinished, text, { flag: 'wx', mode: isSecret ? 0o600 : 0o644, flush: true })
    if (existsSync(path)) {
      const aside = freeName(`${path}.bak`)
      renameSync(path, aside)
      undo.push(() => renameSync(aside, path))
    }
    renameSync(unfinished, path)
    undo.push(() => rmSync(path))
  } catch (cause) {
    throw new LeadsheetError('data_unwritable', `${path} cannot be written: ${faultText(cause)}`, {
      hint: 'Name a file in a folder that this user may write to with --config.',
      cause,
    })
  }
}

function makeFolder(folder: string, isSecret: boolean, undo: (() => unknown)[]): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder), false, undo)
  mkdirSync(folder, { mode: isSecret ? 0o700 : 0o755 })
  undo.push(() => rmdirSync(folder))
}

function freeName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}${number}`
    if (!existsSync(name)) return name
  }
}
