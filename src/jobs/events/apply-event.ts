/**
 * What one row of the queue asks for: the lead, the statistics of the pipeline, or the agents are read and kept as a
 * sync keeps them. The row goes out in the transaction that writes what was read, so that no kill can lose it.
 */
import { LeadsheetError } from '../../errors.ts'
import type { QuarantinedRecord } from '../../model.ts'
import type { Store, Trx } from '../../store/db/store.ts'
import { type Observation, observedByEvent } from '../../store/db/store.ts'
import { finishEvents } from '../../store/events/event.ts'
import { mayFollow, type QueuedEvent, takeOut } from '../../store/events/event-queue.ts'
import { type FoundLead, findLead } from '../../store/leads/lead.ts'
import type { EventOutcome } from '../../store/tables/event-tables.ts'
import type { SingleLead } from '../../upstream/mapping/detail-mapping.ts'
import { isHeld } from '../../upstream/mapping/lead-mapping.ts'
import type { Source } from '../../upstream/source.ts'
import { fetchAgents, keepAgents } from '../sync/sync-agents.ts'
import { keepStat } from '../sync/sync-stats.ts'
import { keepDeletedLead, keepLead, keepQuarantinedLead } from './apply-lead.ts'

export interface FollowDeps {
  readonly source: Source
  readonly store: Store
  readonly now: () => Date
  /** Whether what only the single lead tells is kept. */
  readonly wantsDetails: boolean
}

/** What became of it, and why it could not be read; null where it has to be read once more. */
export type Followed = { readonly outcome: EventOutcome; readonly problem: string | null } | null

const READ: Followed = { outcome: 'read', problem: null }
const IGNORED: Followed = { outcome: 'ignored', problem: null }

/** @throws LeadsheetError api_*, and the reason of the signal; then nothing is written and the row stays */
export async function followEvent(deps: FollowDeps, row: QueuedEvent, signal: AbortSignal): Promise<void> {
  if (row.resource === 'agents') return followAgents(deps, row, signal)
  return row.resource === 'pipeline' ? followPipeline(deps, row, signal) : followLead(deps, row, signal)
}

async function followLead(deps: FollowDeps, row: QueuedEvent, signal: AbortSignal): Promise<void> {
  const { source, store } = deps
  const id = row.resource_id
  const canAsk = source.has('lead')
  const sent = row.record === null || row.is_removal === 1 ? null : source.readLeadRecord(row.record, id)
  const before = await findLead(store.db, id)
  if (sent !== null && (!canAsk || (isDated(sent) && isThere(before)))) {
    return finish(deps, row, async (trx, seen) =>
      canAsk && !isThere(await findLead(trx, id)) ? null : keepAny(trx, sent, false, seen),
    )
  }
  // Whether it is gone is judged by scans where nobody can be asked.
  if (!canAsk) return finish(deps, row, async () => IGNORED)
  const answer = await source.fetchSingleLead(id, signal).catch(noneIfDeleted)
  await finish(deps, row, async (trx, seen) => {
    const now = await findLead(trx, id)
    // A scan may have read it meanwhile: without a time nobody can say which of the two was later.
    const isImplausible = answer === null || !isDated(answer)
    if (isImplausible && now?.writtenBy !== before?.writtenBy) return null
    if (answer !== null) return keepAny(trx, answer, deps.wantsDetails, seen)
    return keepDeletedLead(trx, row.is_removal === 1 ? now : undefined, seen)
  })
}

async function followPipeline(deps: FollowDeps, row: QueuedEvent, signal: AbortSignal): Promise<void> {
  const { source, now } = deps
  if (!source.has('stats')) return finish(deps, row, async () => IGNORED)
  const raw = await source.fetchPipelineStats(row.resource_id, {}, signal).catch(noneIfDeleted)
  if (raw === null) return finish(deps, row, async () => ({ outcome: 'gone', problem: null }))
  const stat = source.mapPipelineStat(raw, row.resource_id, now().toISOString())
  await finish(deps, row, async (trx, seen) => {
    await keepStat(trx, stat, seen)
    return isHeld(stat) ? unreadable(stat) : READ
  })
}

async function followAgents(deps: FollowDeps, row: QueuedEvent, signal: AbortSignal): Promise<void> {
  const { source } = deps
  if (!source.has('agents')) return finish(deps, row, async () => IGNORED)
  const read = await fetchAgents(source, signal)
  await finish(deps, row, async (trx, seen) => {
    await keepAgents(trx, read, seen)
    return READ
  })
}

/**
 * Nothing waits for the disk: what a power cut takes away is asked for again, since the row is there again, too. During
 * a first load nothing is written.
 */
async function finish(
  { store, now }: FollowDeps,
  row: QueuedEvent,
  keep: (trx: Trx, seen: Observation) => Promise<Followed>,
): Promise<void> {
  const seen = observedByEvent(now().toISOString())
  await store.writeSoon(async (trx) => {
    const followed = (await mayFollow(trx)) ? await keep(trx, seen) : null
    if (followed === null) return
    const { resource, resource_id: resourceId, last_at: until } = row
    await finishEvents(trx, { resource, resourceId, until }, { at: seen.at, ...followed })
    await takeOut(trx, row)
  })
}

type ReadLead = SingleLead | { readonly reason: string }

async function keepAny(
  trx: Trx,
  read: ReadLead,
  hasDetails: boolean,
  seen: Observation,
): Promise<Exclude<Followed, null>> {
  if ('reason' in read) return { outcome: 'unreadable', problem: read.reason }
  if (isHeld(read.lead)) {
    await keepQuarantinedLead(trx, read.lead, seen)
    return unreadable(read.lead)
  }
  const outcome = await keepLead(trx, { ...read, lead: read.lead }, hasDetails, seen)
  return { outcome, problem: null }
}

/** A record that comes late says nothing of whether a lead that is not, or no longer, in the store is there. */
function isThere(lead: FoundLead | undefined): boolean {
  return lead !== undefined && !lead.isRemoved
}

/** Whether its place among other states of the lead can be told. What cannot be read has none. */
function isDated(read: ReadLead): boolean {
  return 'reason' in read || isHeld(read.lead) || read.lead.updatedAt !== null
}

function unreadable({ reason }: QuarantinedRecord): Exclude<Followed, null> {
  return { outcome: 'unreadable', problem: reason }
}

function noneIfDeleted(thrown: unknown): null {
  if (thrown instanceof LeadsheetError && thrown.code === 'api_not_found') return null
  throw thrown
}
