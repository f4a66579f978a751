/** Whether the database can be written, and has room; and whether analysts see what is in it. */

import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import { shellCommand } from '../../errors.ts'
import { readRoom } from '../../store/db/file-system.ts'
import type { Db } from '../../store/db/store.ts'
import { listHeldLeases } from '../../store/schedule/lease.ts'
import { readSnapshotInfo } from '../../store/snapshot/snapshot.ts'
import { fail, ok, warn } from '../../upstream/checkup.ts'
import type { Trouble } from '../notice.ts'
import { diskLow, logLarge, megabytes, snapshotOld } from '../troubles/machine.ts'
import { type HealthCheck, type Installation, type Subject, tellSpan } from './installation.ts'
import { checkServer } from './server.ts'

/** Less than a commit and its log may take: nothing can be written any more. */
const FULL_BYTES = 16_000_000

/** @returns none for a store in memory, which has neither */
export async function checkMachine(installation: Installation, now: Date): Promise<HealthCheck[]> {
  const { db, place } = installation.store
  if (place.kind === 'postgres') return [await checkServer(db), ...(await checkSnapshot(installation, now))]
  if (place.file === ':memory:') return []
  return [...(await checkFile(db, place.file, now)), ...(await checkSnapshot(installation, now))]
}

async function checkFile(db: Db, file: string, now: Date): Promise<HealthCheck[]> {
  if (!(await mayWrite(file))) {
    return [
      fail(
        'database',
        'the database is gone or cannot be written',
        'see that data_dir is there, that this user may write to it, and that its disk is not mounted read-only',
      ),
    ]
  }
  const room = await readRoom(file)
  const isSyncing = (await listHeldLeases(db, now)).some(({ name }) => name === 'sync')
  return [
    room.free >= FULL_BYTES
      ? ok('database', 'can be written')
      : fail(
          'database',
          'the disk is full',
          `make room: ${shellCommand('db prune')}, fewer snapshots, or a larger disk`,
        ),
    checkOf('disk', diskLow(room), `${gigabytes(room.free)} free`),
    checkOf('log', isSyncing ? null : logLarge(room), megabytes(room.log)),
  ]
}

/**
 * Asks for the right to write, and writes nothing itself: /readyz is open to all, and whoever asks it must not make
 * the disk work. The daemon does write, and flush, its beat each minute; where that fails, the check of it tells.
 */
async function mayWrite(file: string): Promise<boolean> {
  try {
    // The folder, too: SQLite keeps its log beside the file.
    for (const path of [file, dirname(file)]) await access(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function checkSnapshot(
  { store, snapshotAfterSync }: Installation,
  now: Date,
): Promise<readonly HealthCheck[]> {
  if (snapshotAfterSync === null) return []
  const info = readSnapshotInfo(snapshotAfterSync)
  const age =
    info === null ? 'there is none yet' : `made ${tellSpan(now.getTime() - Date.parse(info.madeAt))} ago`
  return [checkOf('snapshot', await snapshotOld(store.db, info, now), age)]
}

function checkOf(what: Subject, trouble: Trouble | null, found: string): HealthCheck {
  return trouble === null ? ok(what, found) : warn(what, trouble.message, trouble.hint)
}

function gigabytes(bytes: number): string {
  return bytes < 1e9 ? megabytes(bytes) : `${(bytes / 1e9).toFixed(1)} GB`
}
