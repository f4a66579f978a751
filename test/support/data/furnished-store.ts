/**
 * A store with rows in most of its tables, for tests of programs that copy a store whole. The values include
 * bytes, nulls and large numbers.
 */

import { brotliCompressSync } from 'node:zlib'
import { sql } from 'kysely'
import type { Store } from '../../../src/store/db/store.ts'
import { folderWith } from '../folder.ts'
import { startService } from '../service.ts'
import { lead, OPENED_AT, openPreparedStore, save } from '../store.ts'
import { openSyncing } from '../syncing.ts'

const COMPANIES = 20
const AT = '2026-11-21T06:00:00.000Z'

/** The figures that the definitions in a snapshot ask for. */
const FIGURES = {
  period: { from: '2026-11-20T00:00:00.000Z', to: AT },
  prior: { from: '2026-11-13T00:00:00.000Z', to: '2026-11-14T00:00:00.000Z' },
  pipelines: [],
  filter: { pipelineIds: null, conditions: [] },
  stalled: { days: 7 },
  topLeads: { minScore: 80 },
}

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
    const bytes = brotliCompressSync('a message')
    await trx
      .insertInto('link_key')
      .values({ id: 1, key: Buffer.alloc(32, 0xf0), made_at: AT })
      .execute()
    await trx
      .insertInto('report_issue')
      .values({
        id: 'e1',
        report: 'daily',
        period_from: '2026-11-20T00:00:00.000Z',
        period_to: AT,
        variant: '',
        time_zone: 'Europe/Vienna',
        rendered_at: AT,
        run_id: null,
        figures: JSON.stringify(FIGURES),
        kind: 'day',
        subject: 'Übersicht',
        html: '<p>Grüße</p>',
        text: 'Grüße',
        not_sent: null,
        program_version: null,
      })
      .execute()
    await trx
      .insertInto('delivery')
      .values({
        message_id: '<1@test>',
        issue_id: 'e1',
        recipient: 'ann@example.com',
        state: 'sent',
        queued_at: AT,
        state_at: AT,
        next_attempt_at: null,
        deferred_at: null,
        reply_code: 250,
        response: '2.0.0 “Ok”\r\n\tqueued',
      })
      .execute()
    await trx
      .insertInto('message')
      .values({
        message_id: '<1@test>',
        head: JSON.stringify({ messageId: '<1@test>', to: 'ann@example.com' }),
        files: '[]',
        html: bytes,
        text: bytes,
      })
      .execute()
    // Rows with gaps: an id that is not the next one, and a lead without its fingerprint.
    await sql`INSERT INTO daemon_uptime (id, began_at, began_after, last_heartbeat_at, ended_at, host, pid)
      VALUES (41, ${AT}, 'down', ${AT}, ${AT}, 'here', 1)`.execute(trx)
    await trx.deleteFrom('lead_fingerprint').where('lead_no', '=', 2).execute()
  })
  await save(
    store,
    [lead('large', { valueAmount: 1e15 + 0.5, valueCurrency: 'EUR', contactName: '“Zoë”\\\n' })],
    AT,
  )
}
