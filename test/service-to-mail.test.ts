import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { deliverIssues } from '../src/jobs/outbox/send-due.ts'
import { openTransport } from '../src/mail/transport.ts'
import { folderWith } from './support/folder.ts'
import { enqueueDue, recipient, reportDeps } from './support/mail/reports.ts'
import { openMailServer } from './support/mail-server.ts'
import { startService } from './support/service.ts'
import { openSyncing, SILENT, type Syncing } from './support/syncing.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const FROM = '2026-11-20T00:00:00.000Z'
const TO = '2026-11-21T00:00:00.000Z'
const RECIPIENTS = ['ana@example.com', 'ben@example.com']

it('a sync and a report bring every lead into the store and the figures that SQL gives into each recipient’s mail', async () => {
  await using service = await startService(folderWith(), NOW, 60)
  await using syncing = await openSyncing(
    service.url,
    await service.createKey({ name: 'test', scope: 'read' }),
  )
  syncing.clock.now = NOW
  const result = await syncing.sync({ pageSize: 200 })
  expect(result).toMatchObject({ outcome: 'ok', complete: true, stats: 4, agents: 12, retries: 0 })
  expect(result.leads.quarantined).toBe(0)
  const { rows } = await sql`SELECT difference FROM pipeline_overview`.execute(syncing.store.db)
  expect(rows).toEqual(Array.from({ length: 4 }, () => ({ difference: 0 })))

  const deps = { ...reportDeps(syncing.store, () => NOW), log: SILENT }
  await using server = await openMailServer()
  await using transport = openTransport(server.url, { log: SILENT })
  const enqueued = await enqueueDue(
    deps,
    RECIPIENTS.map((address) => recipient(address)),
  )
  const issues = enqueued.map(({ issue }) => issue)
  const deliveries = await deliverIssues({ ...deps, transport }, issues, new AbortController().signal)
  expect(deliveries.map((one) => [one.recipient, one.state])).toEqual(RECIPIENTS.map((to) => [to, 'sent']))

  expect(server.received.map((one) => one.to)).toEqual(RECIPIENTS.map((to) => [to]))
  const expected = await expectedFigures(syncing)
  expect(expected.new_leads).toBeGreaterThan(0)
  for (const { mail } of server.received) {
    expect(mail.subject).toContain(`${expected.new_leads} new`)
    const text = mail.text ?? ''
    expect(figureOf(text, 'New')).toBe(expected.new_leads)
    expect(figureOf(text, 'Won')).toBe(expected.won)
    expect(mail.html).toContain(`>${expected.new_leads}<`)
  }
})
/** Returns the first number after a label in the text part. */
function figureOf(text: string, label: string): number {
  const found = new RegExp(`^${label} +([\\d,]+)`, 'm').exec(text)
  return Number(found?.[1]?.replaceAll(',', ''))
}

/** Computes the figures with plain SQL on the table, without the product's views and queries. */
async function expectedFigures({ store }: Syncing) {
  const { rows } = await sql<{ new_leads: number; won: number }>`SELECT
    count(*) FILTER (WHERE created_at >= ${FROM} AND created_at < ${TO}) AS new_leads,
    count(*) FILTER (WHERE status = 'won' AND status_changed_at >= ${FROM} AND status_changed_at < ${TO}) AS won
    FROM lead`.execute(store.db)
  return rows[0] ?? expect.unreachable('no figures')
}
