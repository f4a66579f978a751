/** Stores which sessions of the dashboard were ended, so that a copy of their cookie opens nothing any more. */
import type { Store } from '../db/store.ts'

export function endedSessionsIn(store: Pick<Store, 'db' | 'write'>) {
  return {
    has: async (id: string): Promise<boolean> => {
      const found = await store.db
        .selectFrom('ended_session')
        .select('id')
        .where('id', '=', id)
        .executeTakeFirst()
      return found !== undefined
    },
    /** Adds a session, and forgets those that have expired by now. */
    add: async (id: string, expiresAt: Date, now: Date): Promise<void> => {
      await store.write(async (trx) => {
        await trx.deleteFrom('ended_session').where('expires_at', '<=', now.toISOString()).execute()
        const ended = { id, expires_at: expiresAt.toISOString() }
        await trx
          .insertInto('ended_session')
          .values(ended)
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      })
    },
  }
}
