/**
 * Upgrades a database of an older version of leadsheet, after a backup. Both steps run in child processes, so
 * that a signal can interrupt them. An interrupted upgrade leaves the file unchanged.
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sql } from 'kysely'
import { LeadsheetError } from '../../errors.ts'
import { type Room, readRoom } from '../db/file-system.ts'
import { hasBytes, openSqlite } from '../db/sqlite.ts'
import type { Db, Trx } from '../db/store.ts'
import { askChild, programFile } from '../db/subprocess.ts'
import { retryWhileBusy } from '../open.ts'
import { claimLease, listHeldLeases } from '../schedule/lease.ts'
import { listPending, pruneUpgradeBackups, upgradeBackup } from '../schema/migrate.ts'
import { makeBackup, megabytes } from './backup.ts'
import type { UpgradeJob } from './upgrade-child.ts'

const LEASE = 'migration'
/**
 * The free space that an upgrade needs, as a multiple of the size of the database. Half of it is for the
 * backup. The other half is for the write-ahead log, which may grow to hold every table again.
 */
const ROOM_SHARE = 2
const TELL_EVERY_MS = 10_000

export interface Upgrade {
  /** The version of leadsheet to which the database is upgraded. */
  readonly program: string
  readonly now: () => Date
  /** Shows a sentence to the person who waits. */
  readonly tell: (step: string) => void
  readonly signal: AbortSignal
}

/**
 * Upgrades an older database. Does nothing if the file does not exist, if no sync has run, or if the schema
 * is the present one.
 * @throws LeadsheetError store_newer, store_corrupt, store_busy; job_busy where a process uses the database;
 * data_unwritable, also where there is too little space; the reason of an aborted signal
 */
export async function upgradeIfOlder(file: string, upgrade: Upgrade): Promise<void> {
  if (!hasBytes(file)) return
  const db = await retryWhileBusy(async () => openSqlite(file, 'refuse'))
  try {
    const pending = await retryWhileBusy(() => listPending(db, file))
    if (pending.length > 0 && (await hasData(db))) await upgradeAlone(db, file, upgrade)
  } finally {
    await db.destroy()
  }
}

async function hasData(db: Db): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM sync_run LIMIT 1`.execute(db)
  return rows.length > 0
}

async function upgradeAlone(db: Db, file: string, upgrade: Upgrade): Promise<void> {
  const store = {
    place: { kind: 'sqlite', file } as const,
    write: <T>(work: (trx: Trx) => Promise<T>) => db.transaction().execute(work),
  }
  const lease = await claimLease(store, LEASE, upgrade.now)
  try {
    await refuseWhileUsed(db, file, upgrade.now())
    const fault = roomFault(dirname(file), await readRoom(file))
    if (fault !== null) throw fault
    const backup = upgradeBackup(file, upgrade.program, upgrade.now())
    await mkdir(dirname(backup), { recursive: true, mode: 0o700 })
    await telling(upgrade, `the database is of an older version: it is copied to ${backup} first`, () =>
      makeBackup(file, backup, { replaces: true, signal: upgrade.signal }),
    )
    await telling(upgrade, `it is brought to the schema of ${upgrade.program}`, () =>
      askChild<UpgradeJob, null>(
        programFile(import.meta.url, 'upgrade-child'),
        { file },
        { folder: dirname(file), signal: upgrade.signal },
      ),
    )
    await pruneUpgradeBackups(file)
  } finally {
    await lease.release()
  }
}

/**
 * Refuses a database that another process uses, because that process of the older version expects the old
 * schema.
 */
async function refuseWhileUsed(db: Db, file: string, now: Date): Promise<void> {
  const other = (await listHeldLeases(db, now)).find(({ name }) => name !== LEASE)
  if (other === undefined) return
  throw new LeadsheetError(
    'job_busy',
    `${file} has to be brought to the schema of this version, but a ${other.name} of an older one is running on it: process ${other.pid} on ${other.host}`,
    { hint: 'Stop it first; one that was killed elsewhere counts as gone after 90 s. Nothing was changed.' },
  )
}

/** Returns the error where there is too little space for an upgrade; null where there is enough. */
export function roomFault(folder: string, { free, database, log }: Room): LeadsheetError | null {
  const wanted = ROOM_SHARE * (database + log)
  if (free >= wanted) return null
  return new LeadsheetError(
    'data_unwritable',
    `an upgrade needs ${megabytes(wanted)} in ${folder}, for a backup and for tables made anew; ${megabytes(free)} are free`,
    { hint: 'Make room there, and start again; nothing was changed.' },
  )
}

/** Runs a step. Shows its description at the start, and every 10 seconds with the time spent so far. */
async function telling(
  { tell }: Pick<Upgrade, 'tell'>,
  step: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const began = performance.now()
  const seconds = (): number => Math.round((performance.now() - began) / 1000)
  tell(step)
  const again = setInterval(() => tell(`${step}: ${seconds()} s so far`), TELL_EVERY_MS)
  try {
    await work()
  } finally {
    clearInterval(again)
  }
}
