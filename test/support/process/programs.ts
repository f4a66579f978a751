/**
 * Programs that tests need and npm does not bring: where they are, and what is said where one is missing. A test looks
 * for them nowhere else, so that `npm run test:bare` can do without them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** Begins each line of what a run leaves out; `not-tested.ts` gathers them. */
export const SKIPPED = 'SKIPPED: '

/**
 * A file of a Debian package, outside of the path or not a program.
 * @param pattern an absolute path, in which * may stand for a version: the highest is taken
 * @returns null where it is not there, and wherever ONLY_PATH is set
 */
export function findInstalled(pattern: string): string | null {
  if (process.env['ONLY_PATH']) return null
  const found = globSync(pattern).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  return found[0] ?? null
}

/** A folder of files in memory, and what has to be free there. */
const MEMORY = '/dev/shm'
const MEMORY_MIN_BYTES = 2 * 1024 ** 3

/** For files that nobody keeps: what is written in memory waits for no disk. */
export function quickFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize > MEMORY_MIN_BYTES ? MEMORY : tmpdir()
}

/** Whether the path has a program that can tell its version. */
export function isInPath(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0
}

/**
 * For `describe.skipIf`: says aloud what is not tested, for a skip that nobody reads about is a test that nobody runs.
 * @param remedies of what is missing, such as `apt-get install sqlite3`; null for what is there
 */
export function isSkipped(what: string, ...remedies: readonly (string | null)[]): boolean {
  const missing = remedies.filter((remedy) => remedy !== null)
  if (missing.length === 0) return false
  // biome-ignore lint/suspicious/noConsole: see above
  console.warn(`${SKIPPED}${what}: ${missing.join('; ')}`)
  return true
}

/**
 * As {@link isSkipped}.
 * @throws Error on a build server, where nobody would read what was said
 */
export function isSkippedButInCi(what: string, remedy: string | null): boolean {
  if (remedy !== null && process.env['CI']) throw new Error(`${what} must be tried in CI: ${remedy}`)
  return isSkipped(what, remedy)
}
