/**
 * How fast messages go to a mail server where several processes send to it, which is in PostgreSQL alone: by its clock,
 * since theirs differ.
 */
import { sql } from 'kysely'
import type { Trx } from '../db/store.ts'

/**
 * Takes a turn, in a transaction of its own: so many at most within any such time.
 * @returns 0; where none is to be had, after how many milliseconds to try again
 */
export async function takeSend(
  trx: Trx,
  server: string,
  { most, withinMs }: { readonly most: number; readonly withinMs: number },
): Promise<number> {
  // Not that of the transaction, which has waited for its turn to write.
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
