/** Brings a database file to the present schema, all or nothing, and refuses one from the future. */
import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import * as init from '../migrations/001-init.ts'
import * as heldAndDoubted from '../migrations/002-held-and-doubted.ts'
import * as scanTruth from '../migrations/003-scan-truth.ts'
import * as history from '../migrations/004-history.ts'
import * as layout from '../migrations/005-layout.ts'
import * as details from '../migrations/006-details.ts'
import * as figures from '../migrations/007-figures.ts'
import * as retention from '../migrations/009-retention.ts'
import * as letters from '../migrations/010-letters.ts'
import * as reportIndexes from '../migrations/011-report-indexes.ts'
import * as editions from '../migrations/012-editions.ts'
import * as schedules from '../migrations/013-schedules.ts'
import * as deliveries from '../migrations/014-deliveries.ts'
import * as subscriptions from '../migrations/015-subscriptions.ts'
import * as notices from '../migrations/016-notices.ts'
import * as gate from '../migrations/017-gate.ts'
import * as detailCount from '../migrations/019-detail-count.ts'
import * as settingsRead from '../migrations/021-settings-read.ts'
import * as editionSearch from '../migrations/022-edition-search.ts'
import * as counts from '../migrations/023-counts.ts'
import * as events from '../migrations/024-events.ts'
import * as eventCounts from '../migrations/025-event-counts.ts'
import * as syncParts from '../migrations/026-sync-parts.ts'
import * as severalWorkers from '../migrations/027-several-workers.ts'
import * as moving from '../migrations/029-moving.ts'
import type { Tables } from '../tables/tables.ts'
import { findUpgradeBackup } from './upgrade-backups.ts'
import { createViews, dropViews, hasCurrentViews } from './views.ts'

export const MIGRATIONS: Record<string, Migration> = {
  '001-init': init,
  '002-held-and-doubted': heldAndDoubted,
  '003-scan-truth': scanTruth,
  '004-history': history,
  '005-layout': layout,
  '006-details': details,
  '007-figures': figures,
  '009-retention': retention,
  '010-letters': letters,
  '011-report-indexes': reportIndexes,
  '012-editions': editions,
  '013-schedules': schedules,
  '014-deliveries': deliveries,
  '015-subscriptions': subscriptions,
  '016-notices': notices,
  '017-gate': gate,
  '019-detail-count': detailCount,
  '021-settings-read': settingsRead,
  '022-edition-search': editionSearch,
  '023-counts': counts,
  '024-events': events,
  '025-event-counts': eventCounts,
  '026-sync-parts': syncParts,
  '027-several-workers': severalWorkers,
  '029-moving': moving,
}

/**
 * All in one transaction that takes the write lock first: a kill leaves the file as it was, and of two
 * processes that open it at once the second finds the work of the first.
 * @throws LeadsheetError store_newer, store_corrupt
 */
export async function migrate(db: Kysely<Tables>, file: string): Promise<void> {
  if (await isCurrent(db, file)) return
  // Cannot be changed inside a transaction; with it on, a table cannot be made anew that others refer to.
  await sql`PRAGMA foreign_keys = OFF`.execute(db)
  try {
    await db.transaction().execute(async (trx) => {
      if (await isCurrent(trx, file)) return
      const others = await dropViews(trx)
      const migrator = new Migrator({ db: trx, provider: { getMigrations: async () => MIGRATIONS } })
      const { error } = await migrator.migrateToLatest()
      if (error !== undefined) throw error
      await createViews(trx, others)
    })
  } finally {
    await sql`PRAGMA foreign_keys = ON`.execute(db)
  }
}

/**
 * The changes that a file of an older version lacks; none of a file that has no tables yet.
 * @throws LeadsheetError store_newer, store_corrupt
 */
export async function listPending(db: Kysely<Tables>, file: string): Promise<string[]> {
  const done = await readDone(db, file)
  return done.size === 0 ? [] : Object.keys(MIGRATIONS).filter((name) => !done.has(name))
}

async function isCurrent(db: Kysely<Tables>, file: string): Promise<boolean> {
  const done = await readDone(db, file)
  return Object.keys(MIGRATIONS).every((name) => done.has(name)) && (await hasCurrentViews(db))
}

/** The names of the migrations that the file has; refuses a file that is not ours or is from the future. */
async function readDone(db: Kysely<Tables>, file: string): Promise<Set<string>> {
  const { rows: tables } = await sql<{
    name: string
  }>`SELECT name FROM sqlite_schema WHERE type = 'table'`.execute(db)
  if (tables.length === 0) return new Set()
  if (!tables.some((table) => table.name === 'kysely_migration')) {
    throw new LeadsheetError('store_corrupt', `${file} is a SQLite database, but not one of leadsheet`, {
      hint: 'Choose another data_dir (LEADSHEET_DATA_DIR); nothing was changed.',
    })
  }
  const { rows: done } = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(
    db,
  )
  const unknown = done.find((migration) => !(migration.name in MIGRATIONS))
  if (unknown === undefined) return new Set(done.map((migration) => migration.name))
  const backup = findUpgradeBackup(file, (name) => name in MIGRATIONS)
  throw new LeadsheetError(
    'store_newer',
    `${file} was written by a newer leadsheet (its schema has ${unknown.name})`,
    {
      hint:
        backup === null
          ? 'Run that newer leadsheet, or restore a backup from before the upgrade; nothing was changed.'
          : `Run that newer leadsheet, or go back to before the upgrade, without all that came since: ${shellCommand(`restore ${backup}`)}. Nothing was changed.`,
    },
  )
}
