/** When the daemon read its settings, and whether it went over to them. */
import { hostname } from 'node:os'
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'

/** Whoever keeps asking for wrong settings must not fill the disk. */
const READINGS_MAX = 100

export interface ConfigLoad {
  readonly id: number
  readonly at: Instant
  /** What was wrong with them; null where they are in force since. */
  readonly refused: string | null
  /** The names of those that differ from the ones in force before; null where there were none. */
  readonly changed: readonly string[] | null
  readonly pid: number
  readonly host: string
}

export async function addConfigLoad(
  trx: Trx,
  reading: Pick<ConfigLoad, 'at' | 'refused' | 'changed'> & { readonly program: string },
): Promise<void> {
  const { at, refused, changed, program } = reading
  const { id } = await trx
    .insertInto('config_load')
    .values({
      ...{ read_at: at, refused, changed: changed && JSON.stringify(changed), program },
      ...{ host: hostname(), pid: process.pid },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await trx
    .deleteFrom('config_load')
    .where('id', '<=', id - READINGS_MAX)
    .execute()
}

/** A daemon, where several may run. */
export type ReadBy = Pick<ConfigLoad, 'host' | 'pid'>

/** The last one, or the last that came into force; of any daemon, or of one. */
export async function findConfigLoad(
  db: Db,
  which: 'last' | 'in_force',
  by: ReadBy | null = null,
): Promise<ConfigLoad | undefined> {
  const all = readings(db).orderBy('id', 'desc')
  const last = by === null ? all : all.where('host', '=', by.host).where('pid', '=', by.pid)
  return readingOf(await (which === 'last' ? last : last.where('refused', 'is', null)).executeTakeFirst())
}

/** The one of the same daemon that came after one. */
export async function findNextReading(
  db: Db,
  { id, host, pid }: Pick<ConfigLoad, 'id'> & ReadBy,
): Promise<ConfigLoad | undefined> {
  const own = readings(db).where('host', '=', host).where('pid', '=', pid)
  return readingOf(await own.where('id', '>', id).orderBy('id').executeTakeFirst())
}

function readings(db: Db) {
  return db
    .selectFrom('config_load')
    .select(['id', 'read_at as at', 'refused', 'changed', 'pid', 'host'])
    .limit(1)
}

function readingOf(
  row: Awaited<ReturnType<ReturnType<typeof readings>['executeTakeFirst']>>,
): ConfigLoad | undefined {
  return row && { ...row, changed: row.changed === null ? null : JSON.parse(row.changed) }
}
