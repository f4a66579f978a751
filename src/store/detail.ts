/**
 * The details of leads, and which are to be read next. A lead waits unless `detail_queue` says otherwise, so
 * that the first load of many leads need not queue each of them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Instant, LeadDetail } from '../model.ts'
import { holdActivity, saveActivity } from './activity.ts'
import type { Observation } from './observation.ts'
import type { Db, Trx } from './open.ts'
import { isPostgres } from './postgres.ts'
import { insertRows, numbersOf } from './rows.ts'
import { refreshStageMoves } from './stage-move.ts'

/** Looked at by one statement, so that it stops the process for some 10 ms. */
const CHUNK_LEADS = 25_000
const FIRST_PAUSE_MS = 10 * 60_000
const LONGEST_PAUSE_MS = 7 * 24 * 60 * 60_000

/** A lead whose details are to be read. */
export interface WaitingLead {
  readonly no: number
  readonly id: string
  readonly updatedAt: Instant
}

/**
 * Leads that are new, have changed or are to be tried again, the best by score first.
 * @param top only among so many with the best scores; null for all
 */
export async function listWaitingLeads(
  db: Db,
  { now, top, limit }: { readonly now: Instant; readonly top: number | null; readonly limit: number },
): Promise<WaitingLead[]> {
  const { n } = await db
    .selectFrom('lead')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const end = Math.min(n, top ?? n)
  const waiting: WaitingLead[] = []
  // Of leads with the same score the later one comes first; SQLite's index has them so, and to be told would sort anew.
  const later = isPostgres(db) ? sql`, no DESC` : sql``
  for (let from = 0; from < end && waiting.length < limit; from += CHUNK_LEADS) {
    const { rows } = await sql<WaitingLead>`SELECT lead.no, lead.id, lead.updated_at AS "updatedAt"
      FROM (SELECT ranked.no
        FROM (SELECT no FROM lead WHERE removed_at IS NULL ORDER BY score DESC NULLS LAST${later}
          LIMIT ${Math.min(CHUNK_LEADS, end - from)} OFFSET ${from}) AS ranked
        LEFT JOIN detail_queue AS known ON known.lead_no = ranked.no
        WHERE known.lead_no IS NULL OR known.due_at <= ${now} LIMIT ${limit - waiting.length}) AS waiting
      JOIN lead ON lead.no = waiting.no
      ORDER BY lead.score DESC NULLS LAST, lead.no DESC`.execute(db)
    waiting.push(...rows)
    await nextTurn()
  }
  return waiting
}

export interface DetailCount {
  /** Leads whose details were asked for, and of those how many are to be asked for again. */
  readonly asked: number
  readonly due: number
  /** Those of them that could not be read. */
  readonly failing: number
}

/** At once, however many there are. */
export async function countDetails(db: Db): Promise<DetailCount> {
  const { rows } = await sql<DetailCount>`
    SELECT (SELECT count(*) FROM detail_queue) AS asked, count(*) AS due,
      count(*) FILTER (WHERE failures > 0) AS failing
    FROM detail_queue WHERE due_at IS NOT NULL`.execute(db)
  return rows[0] ?? { asked: 0, due: 0, failing: 0 }
}

/** To be called in the transaction that changes the leads: their details are read again. */
export async function outdateDetails(trx: Trx, leadNos: readonly number[], at: Instant): Promise<void> {
  if (leadNos.length === 0) return
  await trx
    .updateTable('detail_queue')
    .where('lead_no', 'in', numbersOf(leadNos))
    .set({ due_at: at, failures: 0 })
    .execute()
}

/** When another profile reads them. */
export async function outdateAllDetails(trx: Trx, at: Instant): Promise<void> {
  await trx.updateTable('detail_queue').set({ due_at: at, failures: 0 }).execute()
}

export async function saveDetail(
  trx: Trx,
  lead: WaitingLead,
  detail: LeadDetail,
  seen: Observation,
): Promise<void> {
  const row = {
    lead_id: lead.id,
    fetched_at: seen.at,
    lead_updated_at: detail.updatedAt ?? lead.updatedAt,
    run_id: seen.runId,
    enrichment: detail.enrichment,
    raw: detail.raw,
  }
  await insertRows(trx, 'lead_detail', [row], { key: ['lead_id'] })
  await saveActivity(trx, lead.id, detail.activity, seen)
  await holdActivity(trx, lead.id, detail.held, seen.at)
  await refreshStageMoves(trx, [lead.id])
  await noteAsked(trx, lead.no, { asked_at: seen.at, due_at: null, failures: 0, last_error: null })
}

/** Puts the lead off, longer with each failure in a row. */
export async function putOffDetail(trx: Trx, lead: WaitingLead, reason: string, now: Date): Promise<void> {
  const before = await trx
    .selectFrom('detail_queue')
    .where('lead_no', '=', lead.no)
    .select('failures')
    .executeTakeFirst()
  const failures = (before?.failures ?? 0) + 1
  const pauseMs = Math.min(FIRST_PAUSE_MS * 4 ** (failures - 1), LONGEST_PAUSE_MS)
  await noteAsked(trx, lead.no, {
    asked_at: now.toISOString(),
    due_at: new Date(now.getTime() + pauseMs).toISOString(),
    failures,
    last_error: reason,
  })
}

async function noteAsked(
  trx: Trx,
  leadNo: number,
  state: { asked_at: Instant; due_at: Instant | null; failures: number; last_error: string | null },
): Promise<void> {
  await trx
    .insertInto('detail_queue')
    .values({ lead_no: leadNo, ...state })
    .onConflict((conflict) => conflict.column('lead_no').doUpdateSet(state))
    .execute()
}
