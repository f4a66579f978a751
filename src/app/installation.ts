/** Opens the store, which is the database of this program, and finds the files in the data directory. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/config.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { Log } from '../log.ts'
import { readVersion } from '../packages.ts'
import { upgradeIfOlder } from '../store/backup/upgrade.ts'
import { DATA_MODE, makeFolder, refuseNetworkFileSystem } from '../store/db/file-system.ts'
import { placeOf, type StorePlace } from '../store/db/place.ts'
import { hasBytes, notThere } from '../store/db/sqlite.ts'
import type { Store } from '../store/db/store.ts'
import { isStoreThere } from '../store/db/store-exists.ts'
import { openStore, openStoreToRead } from '../store/open.ts'
import { takePreferences } from '../store/reports/preference.ts'

export const TEMPLATES = fileURLToPath(new URL('../../templates', import.meta.url))

/** The folder with examples of queries. */
export const QUERIES = fileURLToPath(new URL('../../docs/queries', import.meta.url))

export const COMPANIES = fileURLToPath(new URL('../../data/companies.ndjson', import.meta.url))

/** The settings that say where data is stored. */
type DataSettings = Pick<Config, 'dataDir' | 'databaseUrl'>

const FOLDER_HINT = 'Set data_dir (LEADSHEET_DATA_DIR) to a folder that this user may write to.'
/** If one of these files is in the data directory, the installation has had a database before. */
const LOSS_FILE = 'database-lost.txt'
const TRACES = ['archive', 'snapshot.db', 'preferences.json', LOSS_FILE]

/** Returns the address of the store. The address must never be shown, because it may contain a password. */
export function storeAddressOf({
  dataDir,
  databaseUrl,
}: Pick<DataSettings, 'dataDir' | 'databaseUrl'>): string {
  return databaseUrl?.reveal() ?? join(dataDir, 'leadsheet.db')
}

export function storePlaceOf(settings: Pick<DataSettings, 'dataDir' | 'databaseUrl'>): StorePlace {
  return placeOf(storeAddressOf(settings))
}

/** Returns the paths of the files that are in the data directory even if the store is in PostgreSQL. */
export function pathsIn(dataDir: string) {
  return {
    snapshot: join(dataDir, 'snapshot.db'),
    archive: join(dataDir, 'archive'),
    outbox: join(dataDir, 'outbox'),
  }
}

/** @throws LeadsheetError snapshot_missing */
export function requireSnapshot(dataDir: string): string {
  const { snapshot } = pathsIn(dataDir)
  if (existsSync(snapshot)) return snapshot
  throw new LeadsheetError('snapshot_missing', `There is no snapshot ${snapshot} yet`, {
    hint: `A complete sync makes it, and ${shellCommand('snapshot')} makes it now.`,
  })
}

/** Options for opening a database. An upgrade, which may take long, uses the log and the signal. */
export interface Opening {
  readonly log: Log
  readonly signal: AbortSignal
  /** True if a new database may be made in the place of a lost database. */
  readonly isNew?: boolean
}

/**
 * Opens the store and makes the data directory if there is none. An SQLite file of an older version is first
 * backed up, then upgraded.
 * @param opening given by the commands that may begin a new database: `sync`, `run`, `init` and `demo`
 * @throws LeadsheetError report_no_data if there is no database and none may be begun, data_unwritable, data_network, job_busy, store_*, among them store_lost
 */
export async function openData(settings: DataSettings, opening: Opening | null = null): Promise<Store> {
  const { dataDir } = settings
  await makeFolder(dataDir, FOLDER_HINT, DATA_MODE)
  const place = storePlaceOf(settings)
  const isMissing = place.kind === 'sqlite' && !hasBytes(place.file)
  if (place.kind === 'sqlite') {
    if (isMissing && opening?.isNew !== true) refuseLost(place.file, dataDir)
    if (isMissing && opening === null) throw notThere(place.file)
    await refuseNetworkFileSystem(dataDir)
    await upgradeIfOlder(place.file, {
      program: readVersion(),
      now: () => new Date(),
      tell: (step) => opening?.log.info(step),
      signal: opening?.signal ?? new AbortController().signal,
    })
  }
  const store = await openStore(storeAddressOf(settings), new Date(), isMissing ? 'create' : 'refuse')
  if (isMissing) await takePreferences(store, dataDir)
  return store
}

/** With a new, empty database, every report would be sent again. Throws LeadsheetError store_lost. */
function refuseLost(file: string, dataDir: string): void {
  const traces = TRACES.filter((name) => hasBytes(join(dataDir, name)))
  if (traces.length === 0) return
  const found = existsSync(file) ? 'is empty' : 'is not there'
  const backup = newestBackup(dataDir)
  const restore =
    backup === null
      ? `Put a backup back by ${shellCommand('db restore FILE')}`
      : `${shellCommand(`db restore ${backup}`)} puts back the newest backup that lies there`
  throw new LeadsheetError(
    'store_lost',
    `The database ${file} ${found}, though ${dataDir} has ${traces.join(', ')}`,
    {
      hint: `${restore}; ${shellCommand('sync --new')} begins a new one, and reports may come a second time.`,
    },
  )
}

/** A supervisor may start the daemon again in a folder in which nothing else is left. */
export async function noteLoss(dataDir: string, { message, hint }: LeadsheetError, at: Date): Promise<void> {
  if (hasBytes(storeAddressOf({ dataDir, databaseUrl: null }))) return
  await makeFolder(dataDir, FOLDER_HINT, DATA_MODE)
  await writeFile(join(dataDir, LOSS_FILE), `${at.toISOString()} ${message}\n${hint}\n`)
}

/** Made before an upgrade or a restore; null if there is none. */
function newestBackup(dataDir: string): string | null {
  const folders = [dataDir, join(dataDir, 'backups')].filter((folder) => existsSync(folder))
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  const backups = files
    .filter((path) => /\/leadsheet-before-[^/]+\.db$|\.db\.before-restore-\w+$/.test(path) && hasBytes(path))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  return backups[0] ?? null
}

/**
 * Opens the store for commands that only read. If there is no database, returns an empty store in memory, so
 * that a mistyped data directory or PostgreSQL schema is not created. Throws the errors of {@link openData}.
 */
export async function openDataIfThere(settings: DataSettings): Promise<Store> {
  return (await isDataThere(settings)) ? openData(settings) : openStore(':memory:', new Date())
}

/**
 * Opens the store for commands that only look: it is neither created, upgraded nor written, and the folder of
 * an SQLite file may be read-only. If there is no database, returns an empty store in memory.
 * @throws LeadsheetError store_lost, store_older, data_network, store_*
 */
export async function openDataToRead(settings: DataSettings): Promise<Store> {
  if (!(await isDataThere(settings))) return openStore(':memory:', new Date())
  const place = storePlaceOf(settings)
  if (place.kind === 'sqlite') await refuseNetworkFileSystem(settings.dataDir)
  return openStoreToRead(place)
}

/** @throws LeadsheetError store_lost if other files show that there was a database */
async function isDataThere(settings: DataSettings): Promise<boolean> {
  const place = storePlaceOf(settings)
  if (place.kind === 'postgres') return isStoreThere(place)
  if (hasBytes(place.file)) return true
  refuseLost(place.file, settings.dataDir)
  return false
}
