/**
 * Applies one event from the queue: reads the lead, the statistics or the agents from the upstream and stores
 * them as a sync does. The same transaction removes the event from the queue, so that the event is not lost
 * if the process is killed.
 */

import type { Lead, QuarantinedRecord } from '../../domain/model.ts'
import { type Observation, observedByEvent, type Trx } from '../../store/db/store.ts'
import type { EventOutcome, QueuedEvent } from '../../store/events/event.ts'
import { finishEvents, mayApplyEvents } from '../../store/events/event.ts'
import { outdateDetails, saveDetail } from '../../store/leads/detail.ts'
import { forgetFingerprints, isReadAnew, saveFingerprints } from '../../store/leads/fingerprints.ts'
import { findLead, findLeadNos, saveLeads } from '../../store/leads/lead.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import { forgetOlder } from '../../store/sync/scan.ts'
import { forgetMissing, markDeleted } from '../../store/sync/soft-delete.ts'
import { nullIfNotFound } from '../../upstream/client/upstream-failure.ts'
import type { SingleLead } from '../../upstream/mapping/detail-mapping.ts'
import { isQuarantined } from '../../upstream/mapping/lead-mapping.ts'
import type { SyncDeps } from '../sync/sync-context.ts'
import { fetchAgents, saveOrQuarantineAgents, saveOrQuarantineStat } from '../sync/sync-stats-and-agents.ts'

export interface ApplyDeps extends Omit<SyncDeps, 'log'> {
  /** Only the answer for a single lead has details. */
  readonly wantsDetails: boolean
}

/** The outcome, with the reason if the answer could not be read; null to apply the event once more. */
type Applied = { readonly outcome: EventOutcome; readonly problem: string | null } | null

const READ: Applied = { outcome: 'read', problem: null }
const IGNORED: Applied = { outcome: 'ignored', problem: null }
const NOT_FOUND: Applied = { outcome: 'not_found', problem: null }

/**
 * Applies an event. If it throws, nothing is written and the event stays in the queue.
 * @throws LeadsheetError api_*, or the signal's reason
 */
export async function applyEvent(deps: ApplyDeps, row: QueuedEvent, signal: AbortSignal): Promise<void> {
  if (row.resource === 'agents') return applyAgents(deps, row, signal)
  return row.resource === 'pipeline' ? applyPipeline(deps, row, signal) : applyLead(deps, row, signal)
}

async function applyLead(deps: ApplyDeps, row: QueuedEvent, signal: AbortSignal): Promise<void> {
  const { source, store } = deps
  const id = row.resource_id
  // If the upstream does not offer single leads, the event is ignored, and the next sync brings the change.
  if (!source.has('lead')) return finish(deps, row, async () => IGNORED)
  const before = await findLead(store.db, id)
  const answer = await source.fetchSingleLead(id, signal).catch(nullIfNotFound)
  await finish(deps, row, async (trx, observed) => {
    const now = await findLead(trx, id)
    // A scan may have written the lead meanwhile. If the answer does not say when the lead was changed, it is
    // unknown which state is newer, so the lead is read again later.
    const isUndated = answer === null || !isDated(answer)
    if (isUndated && now?.writtenBy !== before?.writtenBy) return null
    if (answer !== null) return keepAny(trx, answer, deps.wantsDetails, observed)
    // If no event says that the lead was deleted, the next scan decides whether it was.
    if (row.is_deletion === 0 || now === undefined || now.isDeleted) return NOT_FOUND
    await markDeleted(trx, [now], observed)
    return { outcome: 'deleted', problem: null }
  })
}

async function applyPipeline(deps: ApplyDeps, row: QueuedEvent, signal: AbortSignal): Promise<void> {
  const { source, now } = deps
  if (!source.has('stats')) return finish(deps, row, async () => IGNORED)
  const raw = await source.fetchPipelineStats(row.resource_id, {}, signal).catch(nullIfNotFound)
  if (raw === null) return finish(deps, row, async () => NOT_FOUND)
  const stat = source.mapPipelineStat(raw, row.resource_id, now().toISOString())
  await finish(deps, row, async (trx, observed) => {
    await saveOrQuarantineStat(trx, stat, observed)
    return isQuarantined(stat) ? unreadable(stat) : READ
  })
}

async function applyAgents(deps: ApplyDeps, row: QueuedEvent, signal: AbortSignal): Promise<void> {
  const { source } = deps
  if (!source.has('agents')) return finish(deps, row, async () => IGNORED)
  const read = await fetchAgents(source, signal)
  await finish(deps, row, async (trx, observed) => {
    await saveOrQuarantineAgents(trx, read, observed)
    return READ
  })
}

/**
 * Stores the result and removes the event from the queue. Does not wait for the disk: if a power cut loses
 * this write, the event is in the queue again and is applied again. Writes nothing while a sync runs.
 */
async function finish(
  { store, now }: ApplyDeps,
  row: QueuedEvent,
  keep: (trx: Trx, observed: Observation) => Promise<Applied>,
): Promise<void> {
  const at = now()
  const observed = observedByEvent(at.toISOString())
  await store.writeSoon(async (trx) => {
    const followed = (await mayApplyEvents(trx, at)) ? await keep(trx, observed) : null
    if (followed === null) return
    await finishEvents(trx, row, { at: observed.at, ...followed })
  })
}

type ReadLead = SingleLead | { readonly reason: string }

async function keepAny(
  trx: Trx,
  read: ReadLead,
  hasDetails: boolean,
  observed: Observation,
): Promise<Exclude<Applied, null>> {
  if ('reason' in read) return { outcome: 'unreadable', problem: read.reason }
  if (isQuarantined(read.lead)) {
    await keepQuarantinedLead(trx, read.lead, observed)
    return unreadable(read.lead)
  }
  const outcome = await keepLead(trx, { ...read, lead: read.lead }, hasDetails, observed)
  return { outcome, problem: null }
}

/** Returns whether the record says when the lead changed, or cannot be read. */
function isDated(read: ReadLead): boolean {
  return 'reason' in read || isQuarantined(read.lead) || read.lead.updatedAt !== null
}

function unreadable({ reason }: QuarantinedRecord): Exclude<Applied, null> {
  return { outcome: 'unreadable', problem: reason }
}

type MappedLead = Omit<SingleLead, 'lead'> & { readonly lead: Lead }

/** Stores a lead as a scan does, so that the next scan finds it unchanged. */
async function keepLead(
  trx: Trx,
  { lead, fingerprint, detail }: MappedLead,
  hasDetails: boolean,
  observed: Observation,
): Promise<'inserted' | 'updated' | 'unchanged'> {
  const [saved] = await saveLeads(trx, [lead], observed)
  if (saved === undefined) throw new TypeError('of one lead one is saved')
  const { no, change, isOlderRecord } = saved
  await releaseQuarantinedRecords(trx, 'lead', [lead.id])
  await forgetMissing(trx, [no])
  if (!isOlderRecord) await forgetOlder(trx, [no])
  if (change !== 'unchanged' && !isOlderRecord) {
    if (isReadAnew(lead)) await forgetFingerprints(trx, [no])
    else await saveFingerprints(trx, [{ no, ...fingerprint }], false)
  }
  if (change === 'updated') await outdateDetails(trx, [no], observed.at)
  if (hasDetails && !isOlderRecord && !('reason' in detail)) {
    const known = { no, id: lead.id, updatedAt: lead.updatedAt ?? observed.at }
    await saveDetail(trx, known, detail, observed)
  }
  return change
}

async function keepQuarantinedLead(
  trx: Trx,
  quarantined: QuarantinedRecord,
  observed: Observation,
): Promise<void> {
  await saveQuarantinedRecords(trx, [quarantined], observed.at)
  const nos = await findLeadNos(trx, quarantined.id === null ? [] : [quarantined.id])
  await forgetFingerprints(trx, [...nos.values()])
  await forgetOlder(trx, [...nos.values()])
}
