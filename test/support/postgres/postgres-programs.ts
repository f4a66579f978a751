/** Finds the PostgreSQL programs of this machine, the user that runs them, and their locale. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { findInstalled } from '../process/programs.ts'

/** The place of the programs in Debian, where the path contains only the clients. */
const DEBIAN = '/usr/lib/postgresql/*/bin/postgres'
const NEEDED = ['initdb', 'pg_ctl', 'postgres']

export interface Programs {
  readonly folder: string
  /** The user that runs the programs; null for the current user. PostgreSQL refuses to run as root. */
  readonly user: { readonly uid: number; readonly gid: number } | null
}

/** Returns the command that installs PostgreSQL; null if it is installed. */
export function missingPostgres(): string | null {
  return findFolder() === null ? 'apt-get install postgresql' : null
}

/** @throws Error if PostgreSQL is not installed */
export function findPrograms(): Programs {
  const folder = findFolder()
  if (folder === null) throw new Error('PostgreSQL is not installed')
  return { folder, user: process.getuid?.() === 0 ? findUser() : null }
}

/**
 * Returns the folder in the path that has all programs, or else the folder of the highest installed version.
 */
function findFolder(): string | null {
  const inPath = (process.env['PATH'] ?? '').split(delimiter)
  const installed = findInstalled(DEBIAN)
  const hasAll = (folder: string) => NEEDED.every((name) => existsSync(join(folder, name)))
  return [...inPath, ...(installed === null ? [] : [dirname(installed)])].find(hasAll) ?? null
}

/** Returns the user of the package, or `nobody` if PostgreSQL was installed in another way. */
function findUser(): Programs['user'] {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((what) => spawnSync('id', [what, name], { encoding: 'utf8' }))
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  throw new Error('PostgreSQL refuses to be run by root, and there is no user postgres or nobody')
}

/**
 * Returns the arguments of `initdb` for a locale that does not sort by bytes, also on machines where only the
 * C locale is installed.
 */
export function localeArguments(): readonly string[] {
  const known = execFileSync('locale', ['-a'], { encoding: 'utf8' }).split('\n')
  const locale =
    known.find((name) => /^en_US\.utf-?8$/i.test(name)) ??
    known.find((name) => /\.utf-?8$/i.test(name) && !name.startsWith('C.'))
  if (locale !== undefined) return ['--locale', locale]
  return ['--locale', 'C.UTF-8', '--locale-provider', 'icu', '--icu-locale', 'en-US']
}
