/** Troubles that operators are told of, each from when it is first seen until some time after it has passed. */
import type { Selectable } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { NoticeTable } from '../tables/alert-tables.ts'

export interface Notice {
  readonly id: number
  readonly reason: string
  /** What it is about; empty where the reason says it. */
  readonly subject: string
  /** `watched` was seen, but not often enough to count. */
  readonly state: NoticeTable['state']
  /** How often in a row it was seen before it counted. */
  readonly seen: number
  readonly message: string
  readonly hint: string
  readonly firstSeenAt: Instant
  /** Since when it counts; null for one that never has. */
  readonly openedAt: Instant | null
  /** When it last came back soon after it had passed. */
  readonly reopenedAt: Instant | null
  readonly closedAt: Instant | null
  /** What operators know of it: nothing, that it is there, or all there is to know. */
  readonly told: NoticeTable['told']
  /** When they were last told. */
  readonly toldAt: Instant | null
  /** When an operator said that they know of it. */
  readonly acknowledgedAt: Instant | null
}

/** Those that are not over, those that closed since an instant, and those of which it has not been told that they are. */
export async function listLiveNotices(db: Db, closedSince: Instant): Promise<Notice[]> {
  const rows = await db
    .selectFrom('notice')
    .where((eb) =>
      eb.or([eb('state', '<>', 'closed'), eb('closed_at', '>=', closedSince), eb('told', '=', 'raised')]),
    )
    .selectAll()
    .orderBy('id')
    .execute()
  return rows.map(noticeOf)
}

/** Those that are open, oldest first; or also those that were, newest first behind them. */
export async function listNotices(db: Db, which: 'open' | 'all', limit: number): Promise<Notice[]> {
  const rows = await db
    .selectFrom('notice')
    .where('state', 'in', which === 'open' ? ['open'] : ['open', 'closed'])
    .where('opened_at', 'is not', null)
    .selectAll()
    .orderBy('state', 'desc')
    .orderBy('closed_at', 'desc')
    .orderBy('opened_at')
    .limit(limit)
    .execute()
  return rows.map(noticeOf)
}

/** The number that the next trouble gets. */
export async function findNextNoticeId(db: Db): Promise<number> {
  const { last } = await db
    .selectFrom('notice')
    .select((eb) => eb.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  return (last ?? 0) + 1
}

/**
 * Writes troubles as they are now. That an operator knows of one is theirs to say, and stays.
 */
export async function saveNotices(trx: Trx, notices: readonly Notice[]): Promise<void> {
  for (const notice of notices) {
    const { id, acknowledged_at, ...row } = rowOf(notice)
    await trx
      .insertInto('notice')
      .values({ id, acknowledged_at, ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute()
  }
}

export async function deleteNotices(trx: Trx, ids: readonly number[]): Promise<void> {
  for (const id of ids) await trx.deleteFrom('notice').where('id', '=', id).execute()
}

/** Those that were over before an instant. */
export async function deleteNoticesBefore(trx: Trx, closedBefore: Instant): Promise<void> {
  await trx.deleteFrom('notice').where('state', '=', 'closed').where('closed_at', '<', closedBefore).execute()
}

/** @returns the trouble; undefined where no open one has that number */
export async function acknowledgeNotice(trx: Trx, id: number, at: Instant): Promise<Notice | undefined> {
  const row = await trx
    .updateTable('notice')
    .where('id', '=', id)
    .where('state', '=', 'open')
    .set((eb) => ({ acknowledged_at: eb.fn.coalesce('acknowledged_at', eb.val(at)) }))
    .returningAll()
    .executeTakeFirst()
  return row && noticeOf(row)
}

function rowOf(notice: Notice): Selectable<NoticeTable> {
  return {
    id: notice.id,
    reason: notice.reason,
    subject: notice.subject,
    state: notice.state,
    seen: notice.seen,
    message: notice.message,
    hint: notice.hint,
    first_seen_at: notice.firstSeenAt,
    opened_at: notice.openedAt,
    reopened_at: notice.reopenedAt,
    closed_at: notice.closedAt,
    told: notice.told,
    told_at: notice.toldAt,
    acknowledged_at: notice.acknowledgedAt,
  }
}

function noticeOf(row: Selectable<NoticeTable>): Notice {
  return {
    id: row.id,
    reason: row.reason,
    subject: row.subject,
    state: row.state,
    seen: row.seen,
    message: row.message,
    hint: row.hint,
    firstSeenAt: row.first_seen_at,
    openedAt: row.opened_at,
    reopenedAt: row.reopened_at,
    closedAt: row.closed_at,
    told: row.told,
    toldAt: row.told_at,
    acknowledgedAt: row.acknowledged_at,
  }
}
