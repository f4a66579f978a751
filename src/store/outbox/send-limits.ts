/**
 * Stores outages of mail servers. While an outage lasts, no message can be sent. A failed attempt during an
 * outage does not count as a failure of the message. This source file also has the rate limit of messages.
 */
import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { MailOutageTable } from '../tables/outbox-tables.ts'

export interface MailOutage {
  /** The address of the mail server, such as `smtp://mail.example.com:587`. */
  readonly server: string
  /**
   * `transient`: the outage passes by itself. `configuration`: the outage lasts until an operator changes a
   * setting of leadsheet or of the server. `sender`: the server takes nothing from this sender.
   */
  readonly kind: MailOutageTable['kind']
  readonly beganAt: Instant
  /** The number of failures in a row. */
  readonly failures: number
  /** No message is tried before this time. */
  readonly nextAttemptAt: Instant
  readonly replyCode: number | null
  readonly response: string
}

export async function findMailOutage(db: Db, server: string): Promise<MailOutage | undefined> {
  const row = await db.selectFrom('mail_outage').where('server', '=', server).selectAll().executeTakeFirst()
  return row && outageOf(row)
}

/** Lists the outages of all mail servers. A server has an outage until it has been reached again. */
export async function listMailOutages(db: Db): Promise<MailOutage[]> {
  return (await db.selectFrom('mail_outage').selectAll().orderBy('began_at').execute()).map(outageOf)
}

export async function saveMailOutage(trx: Trx, outage: MailOutage): Promise<void> {
  const row = {
    kind: outage.kind,
    began_at: outage.beganAt,
    failures: outage.failures,
    next_attempt_at: outage.nextAttemptAt,
    reply_code: outage.replyCode,
    response: outage.response,
  }
  await trx
    .insertInto('mail_outage')
    .values({ server: outage.server, ...row })
    .onConflict((conflict) => conflict.column('server').doUpdateSet(row))
    .execute()
}

/**
 * Reserves the next attempt to reach the mail server for this process, so that no other process makes the
 * same attempt.
 * @returns whether this process makes the attempt
 */
export async function reserveProbe(trx: Trx, known: MailOutage, until: Instant): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('mail_outage')
    .where('server', '=', known.server)
    .where('next_attempt_at', '=', known.nextAttemptAt)
    .set({ next_attempt_at: until })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Returns when a message that is due at `at` will be tried: at `at`, or as soon as all outages allow an
 * attempt. Returns null if `at` is null, because no attempt follows.
 */
export function nextTry(at: Instant | null, outages: readonly MailOutage[]): Instant | null {
  if (at === null) return null
  return [at, ...outages.map(({ nextAttemptAt }) => nextAttemptAt)].sort().at(-1) ?? at
}

/**
 * Reviews the outages when a daemon starts. The next attempt is allowed at once, because a setting may have
 * been fixed. Outages of servers that are no longer in the settings are deleted.
 */
export async function reviewMailOutages(trx: Trx, server: string, at: Instant): Promise<void> {
  await trx.deleteFrom('mail_outage').where('server', '<>', server).execute()
  await trx.updateTable('mail_outage').set({ next_attempt_at: at }).execute()
}

/** Deletes all outages once a mail server has answered, because no other mail server is in use. */
export async function deleteMailOutages(trx: Trx): Promise<void> {
  await trx.deleteFrom('mail_outage').execute()
}

function outageOf(row: Selectable<MailOutageTable>): MailOutage {
  return {
    server: row.server,
    kind: row.kind,
    beganAt: row.began_at,
    failures: row.failures,
    nextAttemptAt: row.next_attempt_at,
    replyCode: row.reply_code,
    response: row.response,
  }
}

/*
 * The rate limit of messages to a mail server. Several processes share this limit, which is possible only in
 * PostgreSQL. The limit uses the clock of the PostgreSQL server, because the clocks of the processes differ.
 */

/**
 * Asks whether one message may be sent now, so that at most `most` messages are sent within any span of
 * `withinMs` milliseconds. If it may be sent, it counts as sent. Call this function in a transaction of its
 * own.
 * @returns 0 if the message may be sent; otherwise the number of milliseconds after which to ask again
 */
export async function takeSend(
  trx: Trx,
  server: string,
  { most, withinMs }: { readonly most: number; readonly withinMs: number },
): Promise<number> {
  // Reads the present time, not the time at which the transaction began, because the transaction may have
  // waited long before it could write.
  const { rows } = await sql<{ now: number }>`
    SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now`.execute(trx)
  const now = rows[0]?.now ?? 0
  await trx
    .deleteFrom('send_rate')
    .where('taken_ms', '<=', now - withinMs)
    .execute()
  const ours = trx.selectFrom('send_rate').where('server', '=', server)
  const inTheWay = await ours
    .select('taken_ms')
    .orderBy('taken_ms', 'desc')
    .offset(most - 1)
    .limit(1)
    .executeTakeFirst()
  if (inTheWay !== undefined) return Math.max(1, Math.ceil(inTheWay.taken_ms + withinMs - now))
  await trx.insertInto('send_rate').values({ server, taken_ms: now }).execute()
  return 0
}
