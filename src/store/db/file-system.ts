/**
 * Makes folders, and checks whether a folder can hold a database. SQLite's write-ahead log needs locks and
 * shared memory. Network file systems provide neither, and sooner or later damage the file unnoticed.
 */
import type { StatsFs } from 'node:fs'
import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { faultText, LeadsheetError } from '../../errors.ts'
import { makeFolders } from '../../folder.ts'

/** Sizes in bytes: the free disk space, the database, and its write-ahead log. */
export interface Room {
  readonly free: number
  readonly database: number
  readonly log: number
}

/** The keys are `f_type` of statfs(2), from include/uapi/linux/magic.h and other sources. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x00006969, 'NFS'],
  [0x0000517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p, as WSL and virtual machines share folders'],
  [0x65735546, 'FUSE, as sshfs, rclone and Docker Desktop share folders'],
  [0x786f4256, 'VirtualBox shared folders'],
  [0xbacbacbc, 'VMware shared folders'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
])

/** The keys are `f_type`. Files there are lost when the machine or container ends. */
const PASSING_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x794c7630, 'overlay'],
])

/** Other users may open files whose names they know and that they may read, such as the snapshot of their group, but not list the folder. */
export const DATA_MODE = 0o711

/**
 * Makes a folder and the folders above it, unless they are there.
 * @param mode the mode of the folder itself
 * @throws LeadsheetError data_unwritable with the given `hint`
 */
export async function makeFolder(path: string, hint: string, mode = 0o777): Promise<void> {
  try {
    makeFolders(path, mode)
  } catch (cause) {
    throw new LeadsheetError('data_unwritable', `The folder ${path} cannot be made: ${faultText(cause)}`, {
      hint,
      cause,
    })
  }
}

/** Returns the name of a file system whose files are lost when the machine or container ends; null for others. */
export async function findPassingFileSystem(folder: string): Promise<string | null> {
  return PASSING_FILE_SYSTEMS.get(unsigned(await statfs(folder))) ?? null
}

/** Makes the number unsigned, because it is signed on systems with 32-bit words. */
function unsigned({ type }: Pick<StatsFs, 'type'>): number {
  return type >>> 0
}

/**
 * Refuses an existing folder on a network file system.
 * @throws LeadsheetError data_network
 */
export async function refuseNetworkFileSystem(folder: string): Promise<void> {
  const fault = networkFault(folder, await statfs(folder))
  if (fault !== null) throw fault
}

export function networkFault(folder: string, found: Pick<StatsFs, 'type'>): LeadsheetError | null {
  const name = NETWORK_FILE_SYSTEMS.get(unsigned(found))
  if (name === undefined) return null
  return new LeadsheetError(
    'data_network',
    `The data directory ${folder} lies on a network file system (${name})`,
    {
      hint: 'SQLite can lose data there: set data_dir (LEADSHEET_DATA_DIR) to a local disk or volume.',
    },
  )
}

/** Reads the free disk space and the sizes of an existing database. */
export async function readRoom(file: string): Promise<Room> {
  const [{ bavail, bsize }, database, log] = await Promise.all([
    statfs(dirname(file)),
    stat(file),
    // Because the log exists only while a process has the database open, a missing file is no error.
    stat(`${file}-wal`).catch(() => null),
  ])
  return { free: bavail * bsize, database: database.size, log: log?.size ?? 0 }
}

/**
 * Deletes what killed processes left unfinished under `file.tmp-*`. The caller must have a lease, so that no other
 * process is making the file.
 */
export async function removeLeftovers(file: string): Promise<void> {
  const leftovers = (await readdir(dirname(file))).filter((name) => name.startsWith(`${basename(file)}.tmp-`))
  for (const name of leftovers) await rm(join(dirname(file), name), { force: true })
}
