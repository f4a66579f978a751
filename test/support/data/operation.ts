/** The traces of operation in a store: syncs that ended, scheduled runs, heartbeats, and a mail server that is away. */
import type { LeadCounts, ScanResult, SyncResult } from '../../../src/domain/sync.ts'
import type { Store, Trx } from '../../../src/store/db/store.ts'
import type { MailOutage } from '../../../src/store/outbox/send-limits.ts'
import { addScheduledRun, type ScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'
import { beginUptime, recordHeartbeat } from '../../../src/store/schedule/uptime.ts'
import { addCounts, finishRun, noteLeadsAsOf, startRun } from '../../../src/store/sync/sync-run.ts'
import { saveScanResult } from '../../../src/store/sync/watermark.ts'

const NO_LEADS = { seen: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, quarantined: 0 }
const SCAN: Omit<ScanResult, 'startedAt'> = {
  mode: 'full',
  result: 'complete',
  stop: 'end',
  reportedTotal: null,
  distinct: 0,
  pages: 1,
  passes: 1,
  moved: 0,
  cleaned: 0,
  cut: 0,
  heldBack: 0,
  warnings: [],
  drift: [],
}

type SyncChange = Partial<Omit<SyncResult, 'runId' | 'scan' | 'leads'> & Pick<ScanResult, 'mode'>> & {
  readonly leads?: Partial<LeadCounts>
}

/**
 * Saves a sync that began and ended at an instant. Without a problem, it has read all leads.
 * @param scan how the result of its scan differs from that of a whole one; null without a scan
 */
export async function saveSync(
  trx: Trx,
  at: string,
  { mode = 'full', problems = [], leads = {}, ...change }: SyncChange = {},
  scan: Partial<ScanResult> | null = null,
): Promise<string> {
  const runId = await startRun(trx, { mode, parts: ['leads'], at })
  if (problems.length === 0) await noteLeadsAsOf(trx, runId, at)
  const counts = { ...NO_LEADS, ...leads }
  const columns = Object.entries(counts).map(([name, n]) => [`leads_${name}`, n])
  await addCounts(trx, runId, Object.fromEntries(columns))
  await finishRun(
    trx,
    {
      runId,
      outcome: 'ok',
      complete: problems.length === 0,
      leads: counts,
      scan: null,
      stats: 0,
      agents: 0,
      details: { read: 0, notFound: 0, failed: 0 },
      pages: 0,
      requests: 1,
      retries: 0,
      durationMs: 1000,
      problems,
      notBefore: null,
      ...change,
    },
    at,
  )
  if (scan !== null) await saveScanResult(trx, runId, { ...SCAN, startedAt: at, ...scan }, at)
  return runId
}

/**
 * Notes a run that is due at an instant, by default at that instant and without a message.
 * @returns whether it was noted anew
 */
export async function noteRun(
  store: Store,
  run: Pick<ScheduledRun, 'schedule' | 'due_at' | 'state'> & Partial<ScheduledRun>,
): Promise<boolean> {
  const { schedule, due_at, state, noted_at = due_at, not_before = null, message = null } = run
  return store.write((trx) =>
    addScheduledRun(trx, { schedule, due_at, state, noted_at, not_before, message }),
  )
}

/** Saves the time of a daemon from its start to its last heartbeat, and returns its number. */
export async function saveUptime(store: Store, began: string, last: string): Promise<number> {
  return store.write(async (trx) => {
    const id = await beginUptime(trx, { at: began, after: 'down' })
    await recordHeartbeat(trx, id, last)
    return id
  })
}

export function mailOutage(beganAt: string, change: Partial<MailOutage> = {}): MailOutage {
  return {
    server: 'smtp://mail.example.com:587',
    kind: 'transient',
    beganAt,
    failures: 4,
    nextAttemptAt: beganAt,
    replyCode: null,
    response: 'ECONNREFUSED',
    ...change,
  }
}
