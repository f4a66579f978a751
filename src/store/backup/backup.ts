/** Makes backups of the whole store. A backup is one file, which is checked before it gets its name. */
import { existsSync, statSync } from 'node:fs'
import { access, chmod, constants, open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { errorText, faultText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { Room } from '../db/file-system.ts'
import { readRoom } from '../db/file-system.ts'
import { readSchemaSize } from '../db/postgres.ts'
import type { Store } from '../db/store.ts'
import { askChild, programFile } from '../db/subprocess.ts'
import type { BackupContent } from './backup-check.ts'
import type { BackupJob } from './backup-child.ts'

const CHILD = programFile(import.meta.url, 'backup-child')
/** The mode of a backup file. Only its owner may read it, because it contains addresses and messages. */
const MODE = 0o600

/**
 * Makes a backup. A sync may run meanwhile: the backup has the state of the store at the moment when the
 * backup began.
 * @param options.replaces whether an existing file may be replaced
 * @throws LeadsheetError usage_invalid, data_unwritable, store_corrupt; the reason of an aborted signal
 */
export async function makeBackup(
  live: string,
  file: string,
  options: { readonly replaces: boolean; readonly signal: AbortSignal },
): Promise<BackupContent> {
  const target = resolve(file)
  if (existsSync(target) && statSync(target).isDirectory()) {
    throw new LeadsheetError('usage_invalid', `${target} is a folder`, { hint: 'Name a file in it.' })
  }
  if (existsSync(target) && !options.replaces) {
    throw new LeadsheetError('usage_invalid', `${target} is there already`, {
      hint: 'Choose another name, or say --force to replace it.',
    })
  }
  const unfinished = `${target}.tmp-${process.pid}`
  try {
    await access(dirname(target), constants.W_OK)
    await removeUnfinished(unfinished)
    const content = await readBackup({ live: resolve(live), file: unfinished }, options.signal)
    await chmod(unfinished, MODE)
    await flush(unfinished)
    await rename(unfinished, target)
    await flush(dirname(target))
    return content
  } catch (thrown) {
    // The folder itself may be closed to this user.
    await removeUnfinished(unfinished).catch(() => undefined)
    options.signal.throwIfAborted()
    throw (await diskFull(resolve(live), target, thrown)) ?? fileSystemFailure(target, thrown) ?? thrown
  }
}

/** Removes an unfinished backup with its journal, which a killed process may also have left. */
async function removeUnfinished(file: string): Promise<void> {
  for (const side of ['', '-journal']) await rm(`${file}${side}`, { force: true })
}

/**
 * Checks every page of a backup. Where `job.live` names a store, first copies that store into the backup.
 * @throws LeadsheetError usage_invalid where the file does not exist, store_corrupt; the reason of an aborted
 * signal
 */
export async function readBackup(job: BackupJob, signal: AbortSignal): Promise<BackupContent> {
  if (job.live === null) {
    await access(job.file, constants.R_OK).catch((cause: unknown) => {
      throw new LeadsheetError('usage_invalid', `${job.file} cannot be read: ${faultText(cause)}`, {
        hint: `Name a file that ${shellCommand('db backup')} has made, and that this user may read.`,
        cause,
      })
    })
  }
  return askChild<BackupJob, BackupContent>(CHILD, job, { folder: dirname(job.file), signal })
}

/** Flushes a file or folder, so that its content or a new name in it outlives a power cut. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function diskFull(live: string, target: string, thrown: unknown): Promise<LeadsheetError | null> {
  if (!/ENOSPC|disk is full/.test(errorText(thrown))) return null
  const folder = dirname(target)
  const { bavail, bsize } = await statfs(folder)
  const { size } = await stat(live)
  const room = `a backup needs about ${megabytes(size)}, of which ${megabytes(bavail * bsize)} are free`
  return new LeadsheetError('data_unwritable', `the disk of ${folder} is full: ${room}`, {
    hint: `Make room there, or name another folder: ${shellCommand('db backup FILE')}.`,
    cause: thrown,
  })
}

export function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000).toLocaleString('en')} MB`
}

/** Turns a failure of the file system into an error with a hint; returns null for any other failure. */
export function fileSystemFailure(file: string, thrown: unknown): LeadsheetError | null {
  if (!(thrown instanceof Error && 'syscall' in thrown)) return null
  return new LeadsheetError('data_unwritable', `${file} cannot be written: ${errorText(thrown)}`, {
    hint: 'Choose a folder that is there, is writable and has space for a second copy.',
    cause: thrown,
  })
}

export interface StoreSize {
  readonly database: number
  /** The sizes of an SQLite store and the free space; null for PostgreSQL, whose server has its own disk. */
  readonly room: Room | null
}

export async function readSize({ db, place }: Pick<Store, 'db' | 'place'>): Promise<StoreSize> {
  if (place.kind === 'postgres') return { database: await readSchemaSize(db), room: null }
  const room = await readRoom(place.file)
  return { database: room.database, room }
}
