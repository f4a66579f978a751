/** The activity histories of leads. What was once read stays, also where the upstream cuts its histories short. */
import { createHash } from 'node:crypto'
import type { Activity, HeldRow, Instant } from '../model.ts'
import type { Observation } from './observation.ts'
import type { Trx } from './open.ts'
import { insertRows, listOf } from './rows.ts'

/** Merges the entries of a lead by their id; of one that comes twice the last stands. */
export async function saveActivity(
  trx: Trx,
  leadId: string,
  entries: readonly Activity[],
  seen: Observation,
): Promise<void> {
  const rows = entries.map((entry) => ({
    lead_id: leadId,
    id: entry.id,
    at: entry.at,
    type: entry.type,
    agent_id: entry.agentId,
    summary: entry.summary,
    from_status: entry.fromStatus,
    to_status: entry.toStatus,
    first_seen_at: seen.at,
    run_id: seen.runId,
  }))
  await insertRows(trx, 'activity', rows, {
    key: ['lead_id', 'id'],
    update: ['at', 'type', 'agent_id', 'summary', 'from_status', 'to_status'],
  })
}

/** Holds the entries of a lead that cannot be read, and forgets those held before that are not among them. */
export async function holdActivity(
  trx: Trx,
  leadId: string,
  held: readonly HeldRow[],
  at: Instant,
): Promise<void> {
  const rows = held.map(({ reason, raw }) => ({
    resource: 'activity',
    raw_sha256: createHash('sha256').update(raw).digest('hex'),
    record_id: leadId,
    reason,
    raw,
    is_whole: 1,
    first_seen_at: at,
    last_seen_at: at,
  }))
  await trx
    .deleteFrom('held_row')
    .where('resource', '=', 'activity')
    .where('record_id', '=', leadId)
    .where('raw_sha256', 'not in', listOf(rows.map((row) => row.raw_sha256)))
    .execute()
  await insertRows(trx, 'held_row', rows, {
    key: ['resource', 'raw_sha256'],
    update: ['reason', 'last_seen_at'],
  })
}
