/**
 * Finds programs that tests need and npm does not bring, and reports missing ones. Tests look for such
 * programs only here, so that `test/bare.sh` can hide them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Begins each line about skipped tests; `not-tested.ts` collects these lines. */
export const SKIPPED = 'SKIPPED: '

/**
 * Finds a file of a Debian package that is not in the path or is not a program.
 * @param pattern an absolute path in which * may stand for a version; the highest version is taken
 * @returns null if the file is missing, and always if ONLY_PATH is set
 */
export function findInstalled(pattern: string): string | null {
  if (process.env['ONLY_PATH']) return null
  const found = globSync(pattern).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  return found[0] ?? null
}

/** The compile cache that all started programs share, because compiling takes most of a start. */
export const COMPILED = join(import.meta.dirname, '../../../node_modules/.cache/leadsheet-compiled')

/** A folder in memory, and the free space that tests need in it. */
const MEMORY = '/dev/shm'
const MEMORY_MIN_BYTES = 2 * 1024 ** 3

/** Returns a folder for files that need not survive. Files in memory wait for no disk. */
export function quickFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize > MEMORY_MIN_BYTES ? MEMORY : tmpdir()
}

/** True if the path has a program of this name that can print its version. */
export function isInPath(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0
}

/**
 * For `describe.skipIf`. Prints what is not tested, so that somebody notices the skip.
 * @param remedies how to get each missing program, such as `apt-get install sqlite3`; null for installed
 * programs
 */
export function isSkipped(what: string, ...remedies: readonly (string | null)[]): boolean {
  const missing = remedies.filter((remedy) => remedy !== null)
  if (missing.length === 0) return false
  // biome-ignore lint/suspicious/noConsole: see above
  console.warn(`${SKIPPED}${what}: ${missing.join('; ')}`)
  return true
}

/**
 * Works like {@link isSkipped}, but fails on a build server, where nobody would read the message.
 * @throws Error on a build server if a program is missing
 */
export function isSkippedButInCi(what: string, remedy: string | null): boolean {
  if (remedy !== null && process.env['CI']) throw new Error(`${what} must be tried in CI: ${remedy}`)
  return isSkipped(what, remedy)
}
