/**
 * Stores details of leads and lists those to read next. `detail_request` has a row for each
 * lead whose details were requested; a lead without one is the next to be read.
 */
import { sql } from 'kysely'
import type { Instant, LeadDetail } from '../../domain/model.ts'
import type { Rows } from '../db/rows.ts'
import { insertRows, numbersIn } from '../db/rows.ts'
import { statement } from '../db/statement.ts'
import type { Db, Observation, Trx } from '../db/store.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from './quarantined-record.ts'
import { refreshStageMoves } from './stage-move.ts'

const FIRST_PAUSE_MS = 10 * 60_000
const LONGEST_PAUSE_MS = 7 * 24 * 60 * 60_000

/** A lead, and when the upstream last changed it. */
export interface DatedLead {
  readonly no: number
  readonly id: string
  readonly updatedAt: Instant
}

/** Lists new, changed and retried leads: first open and then closed ones, the newest of each group first. */
export async function listWaitingLeads(
  db: Db,
  { now, limit }: { readonly now: Instant; readonly limit: number },
): Promise<DatedLead[]> {
  const { rows } = await sql<DatedLead>`
    SELECT lead.no, lead.id, lead.updated_at AS "updatedAt" FROM lead
    LEFT JOIN detail_request AS known ON known.lead_no = lead.no
    LEFT JOIN stage ON stage.status = lead.status
    WHERE (known.lead_no IS NULL OR known.due_at <= ${now}) AND lead.deleted_at IS NULL
    ORDER BY coalesce(stage.outcome, 'open') <> 'open', lead.created_at DESC, lead.no DESC LIMIT ${limit}`.execute(
    db,
  )
  return rows
}

interface DetailCount {
  readonly asked: number
  readonly due: number
  readonly failing: number
}

export async function countDetails(db: Db): Promise<DetailCount> {
  const { rows } = await sql<DetailCount>`
    SELECT (SELECT count(*) FROM detail_request) AS asked, count(*) AS due,
      count(*) FILTER (WHERE failures > 0) AS failing
    FROM detail_request WHERE due_at IS NOT NULL`.execute(db)
  return rows[0] ?? { asked: 0, due: 0, failing: 0 }
}

/** Must be called in the transaction that changes the leads, so that their details are read again. */
export async function outdateDetails(trx: Trx, leadNos: readonly number[], at: Instant): Promise<void> {
  if (leadNos.length === 0) return
  await outdateQueued(trx, { leadNos: JSON.stringify(leadNos), at })
}

const outdateQueued = statement((db, { leadNos, at }: { leadNos: string; at: Instant }) =>
  db
    .updateTable('detail_request')
    .where('lead_no', 'in', numbersIn(leadNos))
    .set({ due_at: at, failures: 0 })
    .compile(),
)

/** Marks all details as outdated, because the mapping of the upstream's fields has changed. */
export async function outdateAllDetails(trx: Trx, at: Instant): Promise<void> {
  await trx.updateTable('detail_request').set({ due_at: at, failures: 0 }).execute()
}

/** The last of equal ids counts. Quarantined entries that the upstream did not send again are deleted. */
export async function saveDetail(
  trx: Trx,
  lead: DatedLead,
  { activity, quarantined, enrichment, raw, updatedAt }: LeadDetail,
  { at, runId }: Observation,
): Promise<void> {
  const row = {
    lead_id: lead.id,
    fetched_at: at,
    lead_updated_at: updatedAt ?? lead.updatedAt,
    run_id: runId,
    enrichment,
    raw,
  }
  await insertRows(trx, 'lead_detail', [row], { key: ['lead_id'] })
  const entries = activity.map((entry) => ({
    lead_id: lead.id,
    id: entry.id,
    at: entry.at,
    type: entry.type,
    agent_id: entry.agentId,
    summary: entry.summary,
    from_status: entry.fromStatus,
    to_status: entry.toStatus,
    first_seen_at: at,
    run_id: runId,
  }))
  await insertRows(trx, 'activity', entries, {
    key: ['lead_id', 'id'],
    update: ['at', 'type', 'agent_id', 'summary', 'from_status', 'to_status'],
  })
  if (quarantined.length > 0) await saveQuarantinedRecords(trx, quarantined, at)
  else await releaseQuarantinedRecords(trx, 'activity', [lead.id])
  await refreshStageMoves(trx, [lead.id])
  await noteAsked(trx, { lead_no: lead.no, asked_at: at, due_at: null, failures: 0, last_error: null })
}

/** Defers the details of a lead after a failure. The wait gets longer with each failure in a row. */
export async function postponeDetail(trx: Trx, lead: DatedLead, reason: string, now: Date): Promise<void> {
  const before = await trx
    .selectFrom('detail_request')
    .where('lead_no', '=', lead.no)
    .select('failures')
    .executeTakeFirst()
  const failures = (before?.failures ?? 0) + 1
  const pauseMs = Math.min(FIRST_PAUSE_MS * 4 ** (failures - 1), LONGEST_PAUSE_MS)
  await noteAsked(trx, {
    lead_no: lead.no,
    asked_at: now.toISOString(),
    due_at: new Date(now.getTime() + pauseMs).toISOString(),
    failures,
    last_error: reason,
  })
}

async function noteAsked(trx: Trx, row: Rows<'detail_request'>[number]): Promise<void> {
  await insertRows(trx, 'detail_request', [row], { key: ['lead_no'] })
}
