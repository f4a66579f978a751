/** When the daemon read its settings, and whether it went over to them. */
import { hostname } from 'node:os'
import type { Instant } from '../model.ts'
import type { Db, Trx } from './open.ts'

/** Whoever keeps asking for wrong settings must not fill the disk. */
const READINGS_MAX = 100

export interface SettingsReading {
  readonly id: number
  readonly at: Instant
  /** What was wrong with them; null where they are in force since. */
  readonly refused: string | null
  readonly pid: number
  readonly host: string
}

export async function addSettingsReading(
  trx: Trx,
  reading: { readonly at: Instant; readonly refused: string | null; readonly program: string },
): Promise<void> {
  const { id } = await trx
    .insertInto('settings_read')
    .values({
      ...{ read_at: reading.at, refused: reading.refused, program: reading.program },
      ...{ host: hostname(), pid: process.pid },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await trx
    .deleteFrom('settings_read')
    .where('id', '<=', id - READINGS_MAX)
    .execute()
}

/** The last one, or the last that came into force. */
export async function findSettingsReading(
  db: Db,
  which: 'last' | 'in_force',
): Promise<SettingsReading | undefined> {
  const query = db.selectFrom('settings_read').orderBy('id', 'desc').limit(1)
  const row = await (which === 'last' ? query : query.where('refused', 'is', null))
    .select(['id', 'read_at', 'refused', 'pid', 'host'])
    .executeTakeFirst()
  return row && { id: row.id, at: row.read_at, refused: row.refused, pid: row.pid, host: row.host }
}
