/** Stores the alerts: one row for each problem that a check found, until 90 days after it was resolved. */
import type { Instant } from '../../domain/model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

export interface Alert {
  readonly id: number
  readonly check: string
  /** The report, recipient or field that the alert is about; empty where it is about none of these. */
  readonly subject: string
  /** `pending` means that the problem was found, but not often enough to be announced. */
  readonly state: Row<'alert'>['state']
  /** The number of times in a row that the check has found the problem, counted until the alert opens. */
  readonly seen: number
  readonly message: string
  readonly hint: string
  readonly firstSeenAt: Instant
  /** The time at which the alert was opened; null for an alert that was never opened. */
  readonly openedAt: Instant | null
  /** The last time at which the problem came back soon after it was resolved; null if that never happened. */
  readonly reopenedAt: Instant | null
  readonly resolvedAt: Instant | null
  /** The state of the alert in the last message to operators; `nothing` if no message was about the alert. */
  readonly announced: Row<'alert'>['announced']
  /** The time of the last message to operators about the alert; null if there was none. */
  readonly announcedAt: Instant | null
  readonly acknowledgedAt: Instant | null
}

/** Lists alerts that are unresolved, were resolved since an instant, or whose resolution is unannounced. */
export async function listUnsettledAlerts(db: Db, resolvedSince: Instant): Promise<Alert[]> {
  const rows = await db
    .selectFrom('alert')
    .where((eb) =>
      eb.or([
        eb('state', '<>', 'resolved'),
        eb('resolved_at', '>=', resolvedSince),
        eb('announced', '=', 'open'),
      ]),
    )
    .selectAll()
    .orderBy('id')
    .execute()
  return rows.map(alertOf)
}

/** Lists the open alerts, oldest first. With `all`, the resolved alerts follow, newest first. */
export async function listAlerts(db: Db, which: 'open' | 'all', limit: number): Promise<Alert[]> {
  const rows = await db
    .selectFrom('alert')
    .where('state', 'in', which === 'open' ? ['open'] : ['open', 'resolved'])
    .where('opened_at', 'is not', null)
    .selectAll()
    .orderBy('state')
    .orderBy('resolved_at', 'desc')
    .orderBy('opened_at')
    .limit(limit)
    .execute()
  return rows.map(alertOf)
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
    const { id, acknowledged_at, ...row } = rowOf(alert)
    await trx
      .insertInto('alert')
      .values({ id, acknowledged_at, ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
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
export async function markAcknowledged(trx: Trx, id: number, at: Instant): Promise<Alert | undefined> {
  const row = await trx
    .updateTable('alert')
    .where('id', '=', id)
    .where('state', '=', 'open')
    .set((eb) => ({ acknowledged_at: eb.fn.coalesce('acknowledged_at', eb.val(at)) }))
    .returningAll()
    .executeTakeFirst()
  return row && alertOf(row)
}

function rowOf(alert: Alert): Row<'alert'> {
  return {
    id: alert.id,
    check_id: alert.check,
    subject: alert.subject,
    state: alert.state,
    seen: alert.seen,
    message: alert.message,
    hint: alert.hint,
    first_seen_at: alert.firstSeenAt,
    opened_at: alert.openedAt,
    reopened_at: alert.reopenedAt,
    resolved_at: alert.resolvedAt,
    announced: alert.announced,
    announced_at: alert.announcedAt,
    acknowledged_at: alert.acknowledgedAt,
  }
}

function alertOf(row: Row<'alert'>): Alert {
  return {
    id: row.id,
    check: row.check_id,
    subject: row.subject,
    state: row.state,
    seen: row.seen,
    message: row.message,
    hint: row.hint,
    firstSeenAt: row.first_seen_at,
    openedAt: row.opened_at,
    reopenedAt: row.reopened_at,
    resolvedAt: row.resolved_at,
    announced: row.announced,
    announcedAt: row.announced_at,
    acknowledgedAt: row.acknowledged_at,
  }
}

/* The last ping to the heartbeat monitor, an outside service that raises an alarm when no ping arrives. */

export type HeartbeatSignal = Row<'heartbeat_ping'>['signal']

export interface HeartbeatPing {
  readonly runId: string
  readonly signal: HeartbeatSignal
  readonly attempts: number
  /** The time of the next attempt; null where the monitor has accepted the ping. */
  readonly nextAttemptAt: Instant | null
  /** The last answer of the monitor, or the reason why there was no answer. */
  readonly response: string | null
}

export async function findHeartbeatPing(db: Db): Promise<HeartbeatPing | undefined> {
  const row = await db.selectFrom('heartbeat_ping').selectAll().executeTakeFirst()
  return (
    row && {
      runId: row.run_id,
      signal: row.signal,
      attempts: row.attempts,
      nextAttemptAt: row.next_attempt_at,
      response: row.response,
    }
  )
}

export async function upsertHeartbeatPing(trx: Trx, ping: HeartbeatPing): Promise<void> {
  const row = {
    run_id: ping.runId,
    signal: ping.signal,
    attempts: ping.attempts,
    next_attempt_at: ping.nextAttemptAt,
    response: ping.response,
  }
  await trx
    .insertInto('heartbeat_ping')
    .values({ id: 1, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}
