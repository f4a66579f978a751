/**
 * Marks leads that the upstream no longer has as deleted. A lead is deleted if two complete full scans in a row miss
 * it, if a list marks it as deleted, or if an event reports its deletion and a request for it finds nothing. The row is kept with the date
 * of the deletion, and the deletion is undone when the lead is found again.
 */
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { insertRows, listOf, numbersOf } from '../db/rows.ts'
import type { Observation, Trx } from '../db/store.ts'
import { forgetFingerprints } from '../leads/fingerprints.ts'
import { findLastNo } from '../leads/lead.ts'
import { isCutToSecond } from '../leads/lead-row.ts'
import { recordDeletions } from '../leads/lead-version.ts'
import { hasNamelessLeads } from '../leads/quarantined-record.ts'
import type { SeenLeads } from './scan-memory.ts'

/** If a scan misses more than this share of all leads, none is deleted: the upstream is probably at fault. */
const MISSING_SHARE_MAX = 0.2
/** If a scan misses at most this many leads, they count as missing whatever their share of all leads. */
const MISSING_ALWAYS_BELIEVED = 5
/**
 * The number of deleted leads. If too many leads are missing, none is deleted, and `refused` has the number
 * of missing leads and the number of all leads.
 */
export interface MissingResult {
  readonly deleted: number
  readonly refused: { readonly missing: number; readonly of: number } | null
}

interface MissingLead {
  readonly no: number
  readonly id: string
  /** Is 1 if the previous such scan missed the lead too; otherwise 0. */
  readonly twice: number
}

/**
 * Records which leads a complete full scan missed, and deletes the leads missed by two such scans in a row. Call
 * this function at the end of the scan. A scan that found records without a readable id changes nothing,
 * because any missing lead may be among these records.
 * @param isConfirmed whether an operator has confirmed that the leads missed by the last scan are deleted.
 * Then exactly the leads that this scan misses too are deleted, however many there are.
 */
export async function recordMissing(
  trx: Trx,
  seenLeads: SeenLeads,
  observed: Observation & { readonly startedAt: Instant },
  isConfirmed = false,
): Promise<MissingResult> {
  if (await hasNamelessLeads(trx, observed.startedAt)) return { deleted: 0, refused: null }
  const missing = await readUndeleted(trx, seenLeads.missing(await findLastNo(trx)))
  const refused = isConfirmed ? null : await findMass(trx, missing.length)
  const deleted = refused === null ? missing.filter((lead) => lead.twice === 1) : []
  await markDeleted(trx, deleted, observed)
  const missingOnce = missing.filter((lead) => lead.twice === 0)
  await insertRows(
    trx,
    'missing_lead',
    missingOnce.map((lead) => ({ lead_id: lead.id, run_id: observed.runId, since: observed.at })),
  )
  return { deleted: deleted.length, refused }
}

/**
 * Returns the number of missing leads and the number of all leads if so many are missing that the upstream is
 * taken to be at fault; otherwise null.
 */
async function findMass(trx: Trx, missing: number): Promise<MissingResult['refused']> {
  if (missing <= MISSING_ALWAYS_BELIEVED) return null
  const { of } = await trx
    .selectFrom('lead')
    .where('deleted_at', 'is', null)
    .select((eb) => eb.fn.countAll<number>().as('of'))
    .executeTakeFirstOrThrow()
  return missing > of * MISSING_SHARE_MAX ? { missing, of } : null
}

/** Removes the note that the last complete full scan missed these leads, because they were found or are deleted. */
export async function forgetMissing(trx: Trx, leadNos: readonly number[]): Promise<void> {
  if (leadNos.length === 0) return
  await sql`DELETE FROM missing_lead WHERE lead_id IN (SELECT id FROM lead WHERE no IN ${numbersOf(leadNos)})`.execute(
    trx,
  )
}

async function readUndeleted(trx: Trx, leadNos: readonly number[]): Promise<MissingLead[]> {
  const { rows } = await sql<MissingLead>`
    SELECT lead.no, lead.id, missing_lead.lead_id IS NOT NULL AS twice FROM lead
    LEFT JOIN missing_lead ON missing_lead.lead_id = lead.id
    WHERE lead.no IN ${numbersOf(leadNos)} AND lead.deleted_at IS NULL`.execute(trx)
  return rows
}

/** The update times of tombstones (records by which the upstream says that a lead is deleted), by lead id. */
export type Tombstones = ReadonlyMap<string, Instant | null>

/** A stored lead with a tombstone that is not older than it. */
interface LeadWithTombstone extends Pick<MissingLead, 'no' | 'id'> {
  /** Tells whether the tombstone is certainly newer than the stored lead. False if one of them has no time. */
  readonly isNewer: boolean
}

/**
 * Finds the stored leads that tombstones may delete. A tombstone that is older than the stored lead is left
 * out, because the lead was restored since.
 */
export async function findTombstoned(trx: Trx, tombstones: Tombstones): Promise<LeadWithTombstone[]> {
  if (tombstones.size === 0) return []
  const there = await trx
    .selectFrom('lead')
    .where('id', 'in', listOf([...tombstones.keys()]))
    .where('deleted_at', 'is', null)
    .select(['no', 'id', 'updated_at', 'observed_at'])
    .execute()
  return there.flatMap(({ no, id, updated_at, observed_at }) => {
    const at = tombstones.get(id) ?? null
    // If the upstream gave the lead no time, the stored one is the time at which the lead was read.
    if (at === null || updated_at === observed_at) return { no, id, isNewer: false }
    if (at < updated_at && !isCutToSecond(at, updated_at)) return []
    return { no, id, isNewer: at > updated_at }
  })
}

/** Marks leads as deleted at the time of the observation. None of them may be deleted already. */
export async function markDeleted(
  trx: Trx,
  leads: readonly Pick<MissingLead, 'no' | 'id'>[],
  observed: Observation,
): Promise<void> {
  if (leads.length === 0) return
  const nos = leads.map((lead) => lead.no)
  await recordDeletions(
    trx,
    leads.map((lead) => lead.id),
    observed,
  )
  await sql`UPDATE lead SET deleted_at = deleted_since, run_id = ${observed.runId} FROM lead_deletion AS deletion
    WHERE no IN ${numbersOf(nos)} AND deletion.lead_id = lead.id AND deletion.returned_at IS NULL`.execute(
    trx,
  )
  await forgetFingerprints(trx, nos)
  await forgetMissing(trx, nos)
}
