/** Upgrades an older database after a backup. A killed upgrade leaves the file unchanged. */
import { dirname } from 'node:path'
import { sql } from 'kysely'
import { LeadsheetError } from '../../errors.ts'
import { makeFolders } from '../../folder.ts'
import { removeLeftovers } from '../db/file-system.ts'
import { hasBytes, openSqlite } from '../db/sqlite.ts'
import type { Db, Trx } from '../db/store.ts'
import { retryWhileBusy } from '../open.ts'
import { listHeldLeases, withLease } from '../schedule/lease.ts'
import { listPending, migrate, upgradeBackup } from '../schema/migrate.ts'
import { makeBackup } from './backup.ts'

const LEASE = 'migration'

export interface Upgrade {
  readonly program: string
  readonly now: () => Date
  readonly tell: (step: string) => void
  readonly signal: AbortSignal
}

/**
 * Upgrades an older database. Does nothing if the file does not exist, if no sync has run, or if the schema
 * is the present one.
 * @throws LeadsheetError store_newer, store_corrupt, store_busy; job_busy where a process uses the database;
 * data_unwritable; the reason of an aborted signal
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
  await withLease(store, LEASE, upgrade.now, async () => {
    await refuseWhileUsed(db, file, upgrade.now())
    const backup = upgradeBackup(file, upgrade.program)
    makeFolders(dirname(backup), 0o700)
    upgrade.tell(`the database is of an older version: it is copied to ${backup} first`)
    await removeLeftovers(backup)
    await makeBackup(file, backup, { replaces: true, signal: upgrade.signal })
    upgrade.tell(`it is brought to the schema of ${upgrade.program}`)
    await migrate(db, file)
  })
}

/** A process of the older version expects the old schema. */
async function refuseWhileUsed(db: Db, file: string, now: Date): Promise<void> {
  const other = (await listHeldLeases(db, now)).find(({ name }) => name !== LEASE)
  if (other === undefined) return
  throw new LeadsheetError(
    'job_busy',
    `${file} has to be brought to the schema of this version, but a ${other.name} of an older one is running on it: process ${other.pid} on ${other.host}`,
    { hint: 'Stop it first; one that was killed elsewhere counts as gone after 90 s. Nothing was changed.' },
  )
}
