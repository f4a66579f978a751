/** The mail server while it cannot be talked to: no message can be sent then, and none is to blame. */
import type { Selectable } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { MailOutageTable } from '../tables/outbox-tables.ts'

export interface MailOutage {
  /** Such as `smtp://mail.example.com:587`. */
  readonly server: string
  /** `configuration`: not until a setting changes, here or there. */
  readonly kind: MailOutageTable['kind']
  readonly beganAt: Instant
  /** In a row. */
  readonly failures: number
  /** No message is tried before. */
  readonly nextAttemptAt: Instant
  readonly replyCode: number | null
  readonly response: string
}

export async function findMailOutage(db: Db, server: string): Promise<MailOutage | undefined> {
  const row = await db.selectFrom('mail_outage').where('server', '=', server).selectAll().executeTakeFirst()
  return row && outageOf(row)
}

/** Of every server that was ever written to and has not been reached since. */
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

/** One of several processes finds out whether the server is back. @returns whether it is this one */
export async function reserveProbe(trx: Trx, known: MailOutage, until: Instant): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('mail_outage')
    .where('server', '=', known.server)
    .where('next_attempt_at', '=', known.nextAttemptAt)
    .set({ next_attempt_at: until })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** When a message that is to be tried at some time is tried: not before its server is. */
export function nextTry(at: Instant | null, outages: readonly MailOutage[]): Instant | null {
  if (at === null) return null
  return [at, ...outages.map(({ nextAttemptAt }) => nextAttemptAt)].sort().at(-1) ?? at
}

/**
 * At the start of a daemon: who has mended a setting is not to wait for an hour, and a server that the settings name no
 * more is of no matter.
 */
export async function reviewMailOutages(trx: Trx, server: string, at: Instant): Promise<void> {
  await trx.deleteFrom('mail_outage').where('server', '<>', server).execute()
  await trx.updateTable('mail_outage').set({ next_attempt_at: at }).execute()
}

/** A server has answered; another one is of no matter then. */
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
