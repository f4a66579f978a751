/** Stores the alerts: one row for each problem that a check found, until 90 days after it was resolved. */
import type { Instant } from '../../domain/model.ts'
import { type Model, modelsIn } from '../db/model.ts'
import type { Db, Trx } from '../db/store.ts'

export type Alert = Model<'alert'>

/** Lists alerts that are unresolved, were resolved since an instant, or whose resolution is unannounced. */
export function listUnsettledAlerts(db: Db, resolvedSince: Instant): Promise<Alert[]> {
  return modelsIn(db)
    .selectFrom('alert')
    .where((eb) =>
      eb.or([
        eb('state', '<>', 'resolved'),
        eb('resolvedAt', '>=', resolvedSince),
        eb('announced', '=', 'open'),
      ]),
    )
    .selectAll()
    .orderBy('id')
    .execute()
}

/** Lists the open alerts, oldest first. With `all`, the resolved alerts follow, newest first. */
export function listAlerts(db: Db, which: 'open' | 'all', limit: number): Promise<Alert[]> {
  return modelsIn(db)
    .selectFrom('alert')
    .where('state', 'in', which === 'open' ? ['open'] : ['open', 'resolved'])
    .where('openedAt', 'is not', null)
    .selectAll()
    .orderBy('state')
    .orderBy('resolvedAt', 'desc')
    .orderBy('openedAt')
    .limit(limit)
    .execute()
}

export async function findNextAlertId(db: Db): Promise<number> {
  const { last } = await db
    .selectFrom('alert')
    .select((eb) => eb.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  return (last ?? 0) + 1
}

/** Inserts or updates alerts. An update does not change whether an operator has acknowledged the alert. */
export async function upsertAlerts(trx: Trx, alerts: readonly Alert[]): Promise<void> {
  for (const alert of alerts) {
    const { id, acknowledgedAt, ...changes } = alert
    await modelsIn(trx)
      .insertInto('alert')
      .values(alert)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(changes))
      .execute()
  }
}

export async function deleteAlerts(trx: Trx, ids: readonly number[]): Promise<void> {
  for (const id of ids) await trx.deleteFrom('alert').where('id', '=', id).execute()
}

export async function deleteAlertsBefore(trx: Trx, resolvedBefore: Instant): Promise<void> {
  await trx
    .deleteFrom('alert')
    .where('state', '=', 'resolved')
    .where('resolved_at', '<', resolvedBefore)
    .execute()
}

/** Marks an open alert as acknowledged. Returns undefined where no open alert has this id. */
export function markAcknowledged(trx: Trx, id: number, at: Instant): Promise<Alert | undefined> {
  return modelsIn(trx)
    .updateTable('alert')
    .where('id', '=', id)
    .where('state', '=', 'open')
    .set((eb) => ({ acknowledgedAt: eb.fn.coalesce('acknowledgedAt', eb.val(at)) }))
    .returningAll()
    .executeTakeFirst()
}

/* The last ping to the heartbeat monitor, an outside service that raises an alarm when no ping arrives. */

type HeartbeatPing = Omit<Model<'heartbeat_ping'>, 'id'>
export type HeartbeatSignal = HeartbeatPing['signal']

export function findHeartbeatPing(db: Db): Promise<HeartbeatPing | undefined> {
  return modelsIn(db).selectFrom('heartbeat_ping').selectAll().executeTakeFirst()
}

export async function upsertHeartbeatPing(trx: Trx, ping: HeartbeatPing): Promise<void> {
  await modelsIn(trx)
    .insertInto('heartbeat_ping')
    .values({ ...ping, id: 1 })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(ping))
    .execute()
}
