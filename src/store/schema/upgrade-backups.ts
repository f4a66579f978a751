/** The backups that were made before upgrades, in a folder beside the database. */
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'

/** Each is as large as the database was. */
const KEPT = 3
/** `leadsheet-before-0.2.0-20261121T060000Z.db`: before the upgrade to that version. */
const NAME = /^leadsheet-before-.+-(\d{8}T\d{6}Z)\.db$/
const HALF_MADE = /^leadsheet-before-.+\.db\.tmp-\d+$/

/** @param program the version that upgrades */
export function upgradeBackup(database: string, program: string, now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  return join(folderOf(database), `leadsheet-before-${program}-${time}.db`)
}

/** Removes all but the last few, and what was left half-made by a kill. */
export async function pruneUpgradeBackups(database: string): Promise<void> {
  const halfMade = listNames(database).filter((name) => HALF_MADE.test(name))
  const gone = [
    ...listUpgradeBackups(database).slice(KEPT),
    ...halfMade.map((name) => join(folderOf(database), name)),
  ]
  for (const file of gone) await rm(file, { force: true })
}

/**
 * The newest that a version can open which knows only these migrations; null where there is none.
 * @param isKnown by the name of a migration
 */
export function findUpgradeBackup(database: string, isKnown: (migration: string) => boolean): string | null {
  return listUpgradeBackups(database).find((file) => migrationsOf(file)?.every(isKnown)) ?? null
}

/** The newest first. */
function listUpgradeBackups(database: string): string[] {
  return listNames(database)
    .flatMap((name) => {
      const [, time] = NAME.exec(name) ?? []
      return time === undefined ? [] : [{ time, file: join(folderOf(database), name) }]
    })
    .sort((a, b) => b.time.localeCompare(a.time))
    .map(({ file }) => file)
}

function listNames(database: string): string[] {
  const folder = folderOf(database)
  return existsSync(folder) ? readdirSync(folder) : []
}

function folderOf(database: string): string {
  return join(dirname(database), 'backups')
}

/** Null of a file that is none of ours, or damaged: nobody is told to restore that. */
function migrationsOf(file: string): string[] | null {
  let database: Database.Database | undefined
  try {
    database = new Database(file, { readonly: true })
    return database.prepare<[], string>('SELECT name FROM kysely_migration').pluck().all()
  } catch {
    return null
  } finally {
    database?.close()
  }
}
