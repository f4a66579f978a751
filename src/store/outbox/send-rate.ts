/**
 * The rate limit of messages to a mail server shared by several processes, in PostgreSQL only. It uses the
 * server's clock, because the clocks of the processes differ.
 */
import { sql } from 'kysely'
import type { Trx } from '../db/store.ts'

/**
 * Takes the permission to send one message, in a transaction of its own. At most `most` messages are sent
 * within any span of `withinMs`.
 * @returns 0, or the milliseconds after which to try again
 */
export async function takeSend(
  trx: Trx,
  server: string,
  { most, withinMs }: { readonly most: number; readonly withinMs: number },
): Promise<number> {
  // The clock is read by this statement, because the transaction may have begun long before it could write.
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
