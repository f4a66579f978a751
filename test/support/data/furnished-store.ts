/**
 * A store with rows in most of its tables, for tests of programs that copy a store whole. The values include
 * bytes, nulls and large numbers.
 */

import { sql } from 'kysely'
import type { Store } from '../../../src/store/db/store.ts'
import { enqueueMessage } from '../../../src/store/outbox/delivery.ts'
import { saveIssue } from '../../../src/store/reports/issue.ts'
import { folderWith } from '../folder.ts'
import { MESSAGE, unsavedIssue } from '../mail/message.ts'
import { busyDay } from '../reports/figures.ts'
import { startService } from '../service.ts'
import { lead, OPENED_AT, openPreparedStore, save } from '../store.ts'
import { openSyncing } from '../syncing.ts'

const COMPANIES = 20
const AT = '2026-11-21T06:00:00.000Z'

/**
 * Returns a store with two syncs from the reference service, which began at six and at eight. Each call
 * returns a copy of the same installation.
 */
export function openFurnishedStore(): Promise<Store> {
  return openPreparedStore('furnished', furnish)
}

async function furnish(at: string): Promise<void> {
  await using service = await startService(folderWith(), OPENED_AT, COMPANIES)
  const key = await service.createKey({ name: 'test', scope: 'read' })
  await using syncing = await openSyncing(service.url, key, { store: at })
  const { store, clock, sync } = syncing
  await sync({ pageSize: 50, details: { perRun: 20, concurrency: 4 } })
  clock.now = new Date('2026-11-21T08:00:00Z')
  await sync({ pageSize: 50, full: true })
  await store.write(async (trx) => {
    const key = { id: 1, key: Buffer.alloc(32, 0xf0), made_at: AT } as const
    await trx.insertInto('link_key').values(key).execute()
    const figures = busyDay()
    const unsaved = unsavedIssue({
      renderedAt: AT,
      figures: { ...figures, freshness: { ...figures.freshness, runId: null } },
      programVersion: '1.2.3',
      subject: 'Übersicht',
      html: '<p>Grüße</p>',
      text: 'Grüße',
    })
    const { id } = await saveIssue(trx, unsaved)
    await enqueueMessage(trx, id, MESSAGE, AT)
    const sent = { state: 'sent', next_attempt_at: null, reply_code: 250 } as const
    await trx
      .updateTable('delivery')
      .set({ ...sent, response: '2.0.0 “Ok”\r\n\tqueued' })
      .execute()
    // Rows with gaps: an id that is not the next one, and a lead without its fingerprint.
    await sql`INSERT INTO daemon_uptime (id, began_at, began_after, last_heartbeat_at, ended_at, host, pid)
      VALUES (41, ${AT}, 'down', ${AT}, ${AT}, 'here', 1)`.execute(trx)
    await trx.deleteFrom('lead_fingerprint').where('lead_no', '=', 2).execute()
  })
  const large = { valueAmount: 1e15 + 0.5, valueCurrency: 'EUR', contactName: '“Zoë”\\\n' }
  await save(store, [lead('large', large)], AT)
}
