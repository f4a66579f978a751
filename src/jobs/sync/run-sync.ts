/**
 * The sync: reads leads, then the statistics of each pipeline, then agents, then the details of leads, and
 * stores them. If a run stops half-way, the data that it read is kept, and the next run continues from there.
 */

import type { Instant } from '../../domain/model.ts'
import type { SyncOutcome, SyncPart, SyncProblem, SyncResult } from '../../domain/sync.ts'
import { type ErrorCode, LeadsheetError, shellCommand, withPlaces } from '../../errors.ts'
import { tidyAfterWrites } from '../../store/db/dialect.ts'
import { restoreIndexes } from '../../store/db/dropped-index.ts'
import { hasLeads } from '../../store/leads/first-load.ts'
import { saveStages } from '../../store/leads/stages.ts'
import { type Lease, withLease } from '../../store/schedule/lease.ts'
import { createRunWriter, finishRun, readCounts, startRun } from '../../store/sync/sync-run.ts'
import {
  findAddress,
  findScanResult,
  readWatermark,
  saveAddress,
  saveWatermark,
} from '../../store/sync/watermark.ts'
import { SYNC_LEASE } from '../schedule/schedule.ts'
import type { SyncDeps, SyncOptions, SyncRun } from './sync-context.ts'
import { syncDetails } from './sync-details.ts'
import { planScan, syncLeads } from './sync-leads.ts'
import { syncAgents, syncStats } from './sync-stats-and-agents.ts'

export const SYNC_PARTS = ['leads', 'stats', 'agents', 'details'] as const satisfies readonly SyncPart[]

/** The codes of errors after which the run ends, because its next part would fail in the same way. */
const ENDING = new Set([
  'api_unreachable',
  'api_unauthorized',
  'api_forbidden',
  'api_deferred',
  'run_interrupted',
  'job_busy',
])

/**
 * Failures of the upstream are not thrown, but reported in the result.
 * @throws LeadsheetError job_busy, store_unreachable
 */
export async function sync(deps: SyncDeps, options: SyncOptions): Promise<SyncResult> {
  return withLease(deps.store, SYNC_LEASE, deps.now, (lease) => syncUnder(lease, deps, options))
}

/**
 * Runs a sync for a caller that already holds the lease of syncs.
 * @throws LeadsheetError job_busy if another process took over the lease
 */
export async function syncUnder(lease: Lease, deps: SyncDeps, options: SyncOptions): Promise<SyncResult> {
  const started = deps.now()
  // If a first load was killed, indexes are still missing. Without these indexes no part of the sync can look
  // up leads.
  await restoreIndexes(deps.store.db, options.signal)
  await noteAddress(lease, deps, options)
  const mode = await planScan(deps, options, started)
  const runId = await deps.store.write(async (trx) => {
    await saveStages(trx, deps.source.stages)
    return startRun(trx, { mode, parts: options.parts, at: started.toISOString() })
  })
  const before = { ...deps.source.usage }
  const spent = () => ({
    requests: deps.source.usage.requests - before.requests,
    retries: deps.source.usage.retries - before.retries,
  })
  const writer = createRunWriter(deps.store, lease, runId, deps.now, spent)
  const done = await runParts({ ...deps, ...writer, runId, mode, options })
  const { pages, details, ...leads } = await readCounts(deps.store.db, runId)
  const result: SyncResult = {
    runId,
    outcome: outcomeOf(done, { pages, details, ...leads }),
    complete: done.problems.length === 0,
    leads,
    scan: await findScanResult(deps.store.db, runId),
    stats: done.stats,
    agents: done.agents,
    details,
    pages,
    ...spent(),
    durationMs: deps.now().getTime() - started.getTime(),
    problems: done.problems,
    notBefore: done.notBefore,
  }
  await deps.store.write(async (trx) => {
    await lease.renew(trx, deps.now())
    await saveWatermark(trx, { not_before: done.notBefore })
    await finishRun(trx, result, deps.now().toISOString())
  })
  await tidyAfterWrites(deps.store.db)
  return result
}

interface Done {
  stats: number
  agents: number
  readonly problems: SyncProblem[]
  notBefore: Instant | null
}

/** An operator may confirm that another address is the source from now on. A copy without a lead is bound to none. */
async function noteAddress(
  lease: Lease,
  { store, source, log, now }: SyncDeps,
  { acceptsAddress = false }: SyncOptions,
): Promise<void> {
  const before = await findAddress(store.db)
  if (before === source.address) return
  if (before !== null && !acceptsAddress && (await hasLeads(store.db))) return
  if (before !== null) log.info({ before, address: source.address }, 'source accepted')
  await store.write(async (trx) => {
    await lease.renew(trx, now())
    await saveAddress(trx, source.address)
  })
}

/** Returns the problem if the store has data of another address, because two sources would be mixed. */
async function findOtherAddress({ store, source }: SyncRun): Promise<SyncProblem | null> {
  const before = await findAddress(store.db)
  if (before === null || before === source.address) return null
  return {
    part: 'leads',
    code: 'store_other_source' satisfies ErrorCode,
    message: `The leads in the copy were read from ${before}, but api.url and the profile now name ${source.address}: nothing was read`,
    hint: `If these are other leads, set another data_dir (LEADSHEET_DATA_DIR), or put api.url back. If the same leads are there now, ${shellCommand('sync --new')} reads all of them from there.`,
  }
}

async function runParts(run: SyncRun): Promise<Done> {
  const done: Done = { stats: 0, agents: 0, problems: [], notBefore: null }
  const onProblem = ({ hint, ...problem }: SyncProblem): void =>
    void done.problems.push({ ...problem, hint: hint && withPlaces(hint, run.options.sources ?? {}) })
  const refused = await findOtherAddress(run)
  if (refused !== null) {
    onProblem(refused)
    return done
  }
  const { notBefore } = await readWatermark(run.store.db)
  if (notBefore !== null && notBefore > run.now().toISOString()) {
    done.notBefore = notBefore
    done.problems.push({
      part: 'leads',
      code: 'api_deferred',
      message: `the upstream asked for no request before ${notBefore}`,
      hint: 'A later sync goes on from where this one was.',
    })
    return done
  }
  for (const part of SYNC_PARTS.filter((wanted) => run.options.parts.includes(wanted))) {
    try {
      if (part === 'leads') done.problems.push(...(await syncLeads(run)))
      if (part === 'stats') done.stats = await syncStats(run, onProblem)
      if (part === 'agents') done.agents = await syncAgents(run, onProblem)
      if (part === 'details') await syncDetails(run, onProblem)
    } catch (thrown) {
      const { signal } = run.options
      const error = signal.aborted && thrown === signal.reason ? stopped(signal) : thrown
      // Without the store, the result of the run cannot be stored. The next run continues from the committed
      // data and closes this run.
      if (!(error instanceof LeadsheetError) || error.code === 'store_unreachable') throw thrown
      onProblem({ part, code: error.code, message: error.message, hint: error.hint ?? null })
      done.notBefore = error.notBefore ?? null
      if (ENDING.has(error.code)) break
    }
  }
  return done
}

function stopped(signal: AbortSignal): LeadsheetError {
  if (signal.reason instanceof LeadsheetError) return signal.reason
  const isDeadline = signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
  return new LeadsheetError(
    'run_interrupted',
    isDeadline ? 'the run reached its deadline' : 'the run was told to stop',
  )
}

/** `deferred` if the upstream asked for a later request, otherwise `partial` if anything was read. */
function outcomeOf(done: Done, counts: Awaited<ReturnType<typeof readCounts>>): SyncOutcome {
  const changes = counts.inserted + counts.updated + counts.deleted + counts.details.read
  if (done.problems.length === 0) return changes === 0 ? 'ok_no_change' : 'ok'
  if (done.notBefore !== null) return 'deferred'
  return counts.pages + done.stats + done.agents + counts.details.read > 0 ? 'partial' : 'failed'
}
