/** The store and what lies in the data directory, opened for one command. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/config.ts'
import { errorText, LeadsheetError, shellCommand } from '../errors.ts'
import type { Log } from '../log.ts'
import { refuseNetworkFileSystem } from '../store/file-system.ts'
import { openStore, type Store } from '../store/open.ts'
import { placeOf, type StorePlace } from '../store/place.ts'
import { isStoreThere } from '../store/there.ts'
import { upgradeIfOlder } from '../store/upgrade.ts'
import { readVersion } from './version.ts'

export const TEMPLATES = fileURLToPath(new URL('../../templates', import.meta.url))

export const COMPANIES = fileURLToPath(new URL('../../data/companies.ndjson', import.meta.url))

/** The ready queries of analysts. */
export const QUERIES = fileURLToPath(new URL('../../docs/queries', import.meta.url))

/** What the settings say of where data are. */
export type DataSettings = Pick<Config, 'dataDir' | 'store' | 'allowNetworkFs'>

/** As the store is opened by: never to be shown, for there may be a password in it. */
export function storeAddressOf({ dataDir, store }: Pick<DataSettings, 'dataDir' | 'store'>): string {
  return store?.reveal() ?? join(dataDir, 'leadsheet.db')
}

export function storePlaceOf(settings: Pick<DataSettings, 'dataDir' | 'store'>): StorePlace {
  return placeOf(storeAddressOf(settings))
}

/** What is under the data directory, wherever the store is. */
export function pathsIn(dataDir: string) {
  return {
    snapshot: join(dataDir, 'snapshot.db'),
    metadata: join(dataDir, 'metadata.json'),
    archive: join(dataDir, 'archive'),
    outbox: join(dataDir, 'outbox'),
  }
}

/**
 * The snapshot, for commands that read it.
 * @throws LeadsheetError snapshot_missing
 */
export function requireSnapshot(dataDir: string): string {
  const { snapshot } = pathsIn(dataDir)
  if (existsSync(snapshot)) return snapshot
  throw new LeadsheetError('snapshot_missing', `There is no snapshot ${snapshot} yet`, {
    hint: `A complete sync makes it, and ${shellCommand('snapshot')} makes it now.`,
  })
}

/** Who hears of what takes long when a database is opened, and can break it off. */
export interface Opening {
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * Opens the store, making the data directory if there is none. What an older version has left is backed up and brought
 * to the present schema.
 * @throws LeadsheetError data_unwritable, data_network, job_busy, store_*
 */
export async function openData(settings: DataSettings, opening: Opening | null = null): Promise<Store> {
  const { dataDir, allowNetworkFs } = settings
  await mkdir(dataDir, { recursive: true }).catch((cause: unknown) => {
    throw new LeadsheetError(
      'data_unwritable',
      `The data directory ${dataDir} cannot be made: ${errorText(cause)}`,
      {
        hint: 'Set data_dir (LEADSHEET_DATA_DIR) to a folder that this user may write to.',
        cause,
      },
    )
  })
  const place = storePlaceOf(settings)
  if (place.kind === 'sqlite') {
    if (!allowNetworkFs) await refuseNetworkFileSystem(dataDir)
    await upgradeIfOlder(place.file, {
      program: readVersion(),
      now: () => new Date(),
      tell: (step) => opening?.log.info(step),
      signal: opening?.signal ?? new AbortController().signal,
    })
  }
  return openStore(storeAddressOf(settings), new Date())
}

/**
 * As {@link openData}, for commands that only look: where there is no database yet they find an empty one, and a
 * mistyped data directory, or schema of PostgreSQL, is not made.
 */
export async function openDataIfThere(settings: DataSettings): Promise<Store> {
  return (await isStoreThere(storePlaceOf(settings))) ? openData(settings) : openStore(':memory:', new Date())
}

/**
 * As {@link openDataIfThere}, but other processes too can open the empty one: it is a file while it is in use. In
 * PostgreSQL it is made where it will be, since nothing else can tell whether SQL is understood there.
 */
export async function openDataOrEmpty(settings: DataSettings): Promise<Store> {
  const place = storePlaceOf(settings)
  if (place.kind === 'postgres' || existsSync(place.file)) return openData(settings)
  const folder = await mkdtemp(join(tmpdir(), 'leadsheet-empty-'))
  const store = await openStore(join(folder, 'leadsheet.db'), new Date())
  const close = async (): Promise<void> => {
    await store.close()
    await rm(folder, { recursive: true })
  }
  return { ...store, close, [Symbol.asyncDispose]: close }
}
