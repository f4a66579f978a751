/**
 * Several processes share the reading of the details of one sync. This file keeps the list of leads that are
 * still to be read, and the progress. Each process takes leads from the list in batches. A lead is deleted from
 * the list in the transaction that saves its result. So a lead whose details are read twice counts only once.
 */
import type { ErrorCode } from '../../errors.ts'
import { insertRows } from '../db/rows.ts'
import type { Db, Trx } from '../db/store.ts'
import type { WaitingLead } from '../leads/detail.ts'
import type { RunUsage } from './sync-run.ts'

/** The reason why no more leads are read, taken from an error. `code` is null if a bug ended the reading. */
export interface DetailsEnd {
  readonly code: ErrorCode | null
  readonly message: string
  readonly hint?: string | undefined
  readonly notBefore?: string | undefined
}

interface DetailRun extends RunUsage {
  readonly failuresInRow: number
  /** The number of activity entries that were quarantined. */
  readonly quarantined: number
  /** The reason why the reading ended early; null while the reading continues. */
  readonly ended: DetailsEnd | null
}

/**
 * Starts the reading of details for some leads. Deletes the list of a killed sync; the details of the leads
 * in that list are read later.
 */
export async function beginDetails(
  trx: Trx,
  runId: string,
  leads: readonly WaitingLead[],
  batchLeads: number,
): Promise<void> {
  await trx.deleteFrom('detail_wanted').execute()
  await trx.deleteFrom('detail_run').execute()
  await trx.insertInto('detail_run').values({ run_id: runId, ended: null }).execute()
  const wanted = leads.map(({ no }, index) => ({
    ...{ lead_no: no, run_id: runId },
    batch: Math.floor(index / batchLeads),
  }))
  await insertRows(trx, 'detail_wanted', wanted)
}

/** Finds the progress of reading details in a sync; undefined if that sync reads no details or has ended. */
export async function findDetailRun(db: Db, runId: string): Promise<DetailRun | undefined> {
  const row = await db.selectFrom('detail_run').where('run_id', '=', runId).selectAll().executeTakeFirst()
  return (
    row && {
      failuresInRow: row.failures_in_row,
      quarantined: row.quarantined,
      requests: row.requests,
      retries: row.retries,
      ended: row.ended === null ? null : JSON.parse(row.ended),
    }
  )
}

/** Counts the leads of each batch that are still to be read. */
export async function countWanted(db: Db, runId: string): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('detail_wanted')
    .where('run_id', '=', runId)
    .groupBy('batch')
    .select((eb) => ['batch', eb.fn.countAll<number>().as('leads')])
    .execute()
  return new Map(rows.map(({ batch, leads }) => [batch, leads]))
}

/** Lists the leads of a batch that are still to be read, newest first. */
export async function listWanted(db: Db, runId: string, batch: number): Promise<WaitingLead[]> {
  return db
    .selectFrom('detail_wanted')
    .innerJoin('lead', 'lead.no', 'detail_wanted.lead_no')
    .where('detail_wanted.run_id', '=', runId)
    .where('detail_wanted.batch', '=', batch)
    .select(['lead.no', 'lead.id', 'lead.updated_at as updatedAt'])
    .orderBy('lead.created_at', 'desc')
    .orderBy('lead.no', 'desc')
    .execute()
}

/**
 * Deletes a lead from the list of leads whose details are to be read.
 * @returns false if the lead's result has already been saved, or the sync has ended
 */
export async function dequeueDetail(trx: Trx, runId: string, leadNo: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('detail_wanted')
    .where('lead_no', '=', leadNo)
    .where('run_id', '=', runId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/**
 * Adds the result of reading a lead's details to the counts, in the transaction that saves the result. A
 * failure adds one to the failures in a row; a success resets them to 0.
 */
export async function noteResult(
  trx: Trx,
  runId: string,
  {
    failed,
    quarantined,
    requests,
    retries,
  }: RunUsage & { readonly failed: boolean; readonly quarantined: number },
): Promise<{ failuresInRow: number }> {
  return trx
    .updateTable('detail_run')
    .where('run_id', '=', runId)
    .set((eb) => ({
      failures_in_row: failed ? eb('failures_in_row', '+', 1) : 0,
      quarantined: eb('quarantined', '+', quarantined),
      requests: eb('requests', '+', requests),
      retries: eb('retries', '+', retries),
    }))
    .returning('failures_in_row as failuresInRow')
    .executeTakeFirstOrThrow()
}

/** Records why the reading of details ended early. If it has already ended, the first reason is kept. */
export async function stopDetails(trx: Trx, runId: string, end: DetailsEnd): Promise<void> {
  await trx
    .updateTable('detail_run')
    .where('run_id', '=', runId)
    .where('ended', 'is', null)
    .set({ ended: JSON.stringify(end) })
    .execute()
}

/**
 * Deletes the list of leads and the progress of reading details. Results that arrive later are not accepted.
 */
export async function endDetails(trx: Trx, runId: string): Promise<void> {
  await trx.deleteFrom('detail_wanted').where('run_id', '=', runId).execute()
  await trx.deleteFrom('detail_run').where('run_id', '=', runId).execute()
}
