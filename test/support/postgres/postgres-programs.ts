/** Where PostgreSQL's programs are on this machine, whom they are run as, and how they are told to sort. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { findInstalled } from '../process/programs.ts'

/** As Debian has them, whose path names none but those of clients. */
const DEBIAN = '/usr/lib/postgresql/*/bin/postgres'
const NEEDED = ['initdb', 'pg_ctl', 'postgres']

export interface Programs {
  readonly folder: string
  /** Null for whoever we are. PostgreSQL refuses to be root's. */
  readonly user: { readonly uid: number; readonly gid: number } | null
}

/** How to get them; null where they are there. */
export function missingPostgres(): string | null {
  return findFolder() === null ? 'apt-get install postgresql' : null
}

/** @throws Error where there are none */
export function findPrograms(): Programs {
  const folder = findFolder()
  if (folder === null) throw new Error('PostgreSQL is not installed')
  return { folder, user: process.getuid?.() === 0 ? findUser() : null }
}

/** That of the path, or else the one of the highest version. */
function findFolder(): string | null {
  const inPath = (process.env['PATH'] ?? '').split(delimiter)
  const installed = findInstalled(DEBIAN)
  const hasAll = (folder: string) => NEEDED.every((name) => existsSync(join(folder, name)))
  return [...inPath, ...(installed === null ? [] : [dirname(installed)])].find(hasAll) ?? null
}

/** The package's own; nobody where PostgreSQL came another way. */
function findUser(): Programs['user'] {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((what) => spawnSync('id', [what, name], { encoding: 'utf8' }))
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  throw new Error('PostgreSQL refuses to be run by root, and there is no user postgres or nobody')
}

/** For `initdb`: as people sort, and not by bytes, on machines too that know no locale but C. */
export function localeArguments(): readonly string[] {
  const known = execFileSync('locale', ['-a'], { encoding: 'utf8' }).split('\n')
  const locale =
    known.find((name) => /^en_US\.utf-?8$/i.test(name)) ??
    known.find((name) => /\.utf-?8$/i.test(name) && !name.startsWith('C.'))
  if (locale !== undefined) return ['--locale', locale]
  return ['--locale', 'C.UTF-8', '--locale-provider', 'icu', '--icu-locale', 'en-US']
}
