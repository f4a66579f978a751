/**
 * Stores outages of mail servers. While an outage lasts, no message can be sent. A failed attempt during an
 * outage does not count as a failure of the message.
 */
import type { Instant } from '../../domain/model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

export interface MailOutage {
  /** The address of the mail server, such as `smtp://mail.example.com:587`. */
  readonly server: string
  /**
   * `transient`: the outage passes by itself. `configuration`: the outage lasts until an operator changes a
   * setting of leadsheet or of the server. `sender`: the server takes nothing from this sender.
   */
  readonly kind: Row<'mail_outage'>['kind']
  readonly beganAt: Instant
  readonly failures: number
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

function outageOf(row: Row<'mail_outage'>): MailOutage {
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
