/**
 * Stores outages of mail servers. While an outage lasts, no message can be sent. A failed attempt during an
 * outage does not count as a failure of the message.
 */
import type { Instant } from '../../domain/model.ts'
import { type Model, modelsIn } from '../db/model.ts'
import type { Db, Trx } from '../db/store.ts'

export type MailOutage = Model<'mail_outage'>

export function findMailOutage(db: Db, server: string): Promise<MailOutage | undefined> {
  return modelsIn(db).selectFrom('mail_outage').where('server', '=', server).selectAll().executeTakeFirst()
}

/** Lists the outages of all mail servers. A server has an outage until it has been reached again. */
export function listMailOutages(db: Db): Promise<MailOutage[]> {
  return modelsIn(db).selectFrom('mail_outage').selectAll().orderBy('beganAt').execute()
}

export async function saveMailOutage(trx: Trx, { server, ...outage }: MailOutage): Promise<void> {
  await modelsIn(trx)
    .insertInto('mail_outage')
    .values({ server, ...outage })
    .onConflict((conflict) => conflict.column('server').doUpdateSet(outage))
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
