import { join } from 'node:path'
import { expect, it } from 'vitest'
import { reportSchedule, type ScheduledReportDeps } from '../../../src/jobs/reports/enqueue-report.ts'
import { SYNC_PARTS } from '../../../src/jobs/sync/run-sync.ts'
import { type ScheduledSyncDeps, syncSchedule } from '../../../src/jobs/sync/scheduled-sync.ts'
import type { SyncOptions } from '../../../src/jobs/sync/sync-context.ts'
import { openStore } from '../../../src/store/open.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { addScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'
import { openSource } from '../../../src/upstream/source.ts'
import { folderWith } from '../../support/folder.ts'
import { DAILY, recipient, reportDeps } from '../../support/mail/reports.ts'
import { dueAt, scheduleOf } from '../../support/schedule/schedule.ts'
import { SILENT } from '../../support/syncing.ts'
import { startUpstream } from '../../support/upstream.ts'

it('the daemon reads the details of leads with a sync of its own, and lets no report wait for them', async () => {
  await using upstream = await startUpstream(20)
  const folder = folderWith()
  const now = new Date('2026-11-21T07:00:00Z')
  await using store = await openStore(join(folder, 'leadsheet.db'), now)
  const source = openSource({ baseUrl: upstream.url, apiKey: 'test-key', maxWaitMs: 0, log: SILENT })
  let onProgress: NonNullable<SyncOptions['onProgress']> = () => undefined
  const work: ScheduledReportDeps & ScheduledSyncDeps = {
    ...reportDeps(store, () => now),
    source,
    log: SILENT,
    publish: async () => {},
    wake: () => {},
    timeZones: [],
    retention: { dailyAfterDays: 365 },
    syncOptions: (signal) => ({
      full: false,
      parts: SYNC_PARTS,
      pageSize: 100,
      overlapMs: 0,
      pipelineIds: [],
      signal,
      details: { perRun: 5, concurrency: 1 },
      onProgress,
    }),
  }
  const countDetails = async () =>
    (await store.db.selectFrom('lead_detail').select('lead_id').execute()).length
  const { signal } = new AbortController()
  const due = dueAt(now)
  const lease = await claimLease(store, 'report:daily', () => now)
  const recipients = [recipient('ana@example.com')]
  const report = reportSchedule(work, DAILY, { ...scheduleOf(), recipients })
  expect((await report.run(due, lease, signal)).message).toContain('1 message to send')
  expect(await countDetails()).toBe(0)

  await syncSchedule(work, { ...scheduleOf({ name: 'sync' }), full: false }).run(due, lease, signal)
  expect(await countDetails()).toBe(5)

  // A report that comes due during the details does not wait for the rest of them.
  const asked: Promise<unknown>[] = []
  onProgress = ({ part, done }) => {
    if (part !== 'details' || done !== 2) return
    const scheduledRun = { schedule: 'report:daily', due_at: now.toISOString(), noted_at: now.toISOString() }
    asked.push(
      store.write((trx) =>
        addScheduledRun(trx, { ...scheduledRun, state: 'pending', not_before: null, message: null }),
      ),
    )
  }
  const ended = await syncSchedule(work, { ...scheduleOf({ name: 'sync' }), full: false }).run(
    due,
    lease,
    signal,
  )
  expect(ended.state).toBe('done')
  await Promise.all(asked)
  expect(await countDetails()).toBeLessThan(5 + 5)
  await lease.release()
  await source.close()
})
