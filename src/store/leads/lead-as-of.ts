/**
 * Leads as they were at a past moment. The tracked fields are those of then; the others are only known as they are
 * now.
 */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'

export interface PastLead {
  readonly id: string
  readonly pipeline_id: string
  readonly status: string
  readonly score: number | null
  readonly value_amount: number | null
  readonly value_currency: string | null
  readonly agent_id: string | null
  /** Since when it was in that state. */
  readonly valid_from: Instant
  readonly company_name: string | null
  readonly company_country: string | null
  readonly contact_name: string | null
}

export interface PastFilter {
  readonly pipelineId?: string | undefined
  readonly statuses?: readonly string[] | undefined
  readonly minScore?: number | undefined
}

/**
 * The leads that were there, last changed first, and how many there were in all.
 * @param limit null for all of them
 */
export async function listLeadsAsOf(
  db: Db,
  at: Instant,
  { pipelineId, statuses, minScore }: PastFilter,
  limit: number | null,
): Promise<{ leads: PastLead[]; total: number }> {
  const then = sql`(version.valid_to IS NULL OR version.valid_to > ${at})
    ${pipelineId === undefined ? sql`` : sql`AND version.pipeline_id = ${pipelineId}`}
    ${statuses === undefined ? sql`` : sql`AND version.status IN ${listOf(statuses)}`}
    ${minScore === undefined ? sql`` : sql`AND version.score >= ${minScore}`}`
  const { rows: leads } = await sql<PastLead>`
    SELECT lead.id, version.pipeline_id, version.status, version.score, version.value_amount, version.value_currency,
      version.agent_id, version.valid_from, lead.company_name, lead.company_country, lead.contact_name
    FROM lead_version AS version JOIN lead ON lead.id = version.lead_id
    WHERE version.valid_from <= ${at} AND ${then}
    ORDER BY version.valid_from DESC, version.lead_id LIMIT ${limit ?? -1}`.execute(db)
  // The plus keeps SQLite from looking up most rows of the table one by one, through the index.
  const { rows: counted } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM lead_version AS version WHERE +version.valid_from <= ${at} AND ${then}`.execute(
    db,
  )
  return { leads, total: counted[0]?.n ?? 0 }
}

/** Leads that were there then, by their creation, and whose state then is not known. */
export async function countUnknownAsOf(db: Db, at: Instant): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM lead
    WHERE first_seen_at > ${at} AND created_at <= ${at} AND NOT EXISTS (
      SELECT 1 FROM lead_version AS version WHERE version.lead_id = lead.id AND version.valid_from <= ${at})`.execute(
    db,
  )
  return rows[0]?.n ?? 0
}

/** From when on any state of a lead is known, and when the first sync began; null where there was none. */
export async function findHistoryStart(
  db: Db,
): Promise<{ firstState: Instant | null; firstSync: Instant | null }> {
  const { rows } = await sql<{ firstState: Instant | null; firstSync: Instant | null }>`
    SELECT (SELECT min(valid_from) FROM lead_version) AS "firstState",
      (SELECT min(started_at) FROM sync_run) AS "firstSync"`.execute(db)
  return rows[0] ?? { firstState: null, firstSync: null }
}
