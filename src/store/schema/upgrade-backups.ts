/** The backups made before upgrades, in a folder beside the database. */
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'

/** The number of backups kept. Each is as large as the database was. */
const KEPT = 3
/**
 * Matches names such as `leadsheet-before-0.2.0-20261121T060000Z.db`, the backup before the upgrade to 0.2.0.
 */
const NAME = /^leadsheet-before-.+-(\d{8}T\d{6}Z)\.db$/
const HALF_MADE = /^leadsheet-before-.+\.db\.tmp-\d+$/

/**
 * Returns the path of a new backup.
 * @param program the version that upgrades
 */
export function upgradeBackup(database: string, program: string, now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  return join(folderOf(database), `leadsheet-before-${program}-${time}.db`)
}

/** Deletes all but the last few backups, and unfinished files left by a kill. */
export async function pruneUpgradeBackups(database: string): Promise<void> {
  const halfMade = listNames(database).filter((name) => HALF_MADE.test(name))
  const gone = [
    ...listUpgradeBackups(database).slice(KEPT),
    ...halfMade.map((name) => join(folderOf(database), name)),
  ]
  for (const file of gone) await rm(file, { force: true })
}

/**
 * Finds the newest backup that a version with only these migrations can open; null where there is none.
 * @param isKnown tells whether the version has a migration, by its name
 */
export function findUpgradeBackup(database: string, isKnown: (migration: string) => boolean): string | null {
  return listUpgradeBackups(database).find((file) => migrationsOf(file)?.every(isKnown)) ?? null
}

/** Lists the backups, newest first. */
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

/**
 * Reads the migrations of a backup; null for a damaged file or one of another program, which must not be
 * suggested for restoring.
 */
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
