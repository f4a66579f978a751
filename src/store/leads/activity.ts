/** The activity histories of leads. What was once read stays, also where the upstream cuts its histories short. */
import { createHash } from 'node:crypto'
import type { Activity, QuarantinedRecord } from '../../model.ts'
import { insertRows, listOf } from '../db/rows.ts'
import type { Observation, Trx } from '../db/store.ts'

/** What was read of the activity of a lead, and what of it cannot be read. */
export interface ActivityRead {
  readonly leadId: string
  readonly entries: readonly Activity[]
  readonly held: readonly QuarantinedRecord[]
}

/**
 * Merges the entries of each lead by their id; of one that comes twice the last stands. Those that cannot be read are
 * held, and those held before that are not among them forgotten.
 */
export async function saveActivity(
  trx: Trx,
  read: readonly ActivityRead[],
  seen: Observation,
): Promise<void> {
  const rows = read.flatMap(({ leadId, entries }) =>
    entries.map((entry) => ({
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
    })),
  )
  await insertRows(trx, 'activity', rows, {
    key: ['lead_id', 'id'],
    update: ['at', 'type', 'agent_id', 'summary', 'from_status', 'to_status'],
  })
  const held = read.flatMap(({ leadId, held }) =>
    held.map(({ reason, raw }) => ({
      resource: 'activity',
      raw_sha256: createHash('sha256').update(raw).digest('hex'),
      record_id: leadId,
      reason,
      raw,
      is_whole: 1,
      first_seen_at: seen.at,
      last_seen_at: seen.at,
    })),
  )
  await trx
    .deleteFrom('quarantined_record')
    .where('resource', '=', 'activity')
    .where('record_id', 'in', listOf(read.map(({ leadId }) => leadId)))
    .where('raw_sha256', 'not in', listOf(held.map((row) => row.raw_sha256)))
    .execute()
  await insertRows(trx, 'quarantined_record', held, {
    key: ['resource', 'raw_sha256'],
    update: ['reason', 'last_seen_at'],
  })
}
