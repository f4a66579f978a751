/**
 * The details part of a sync: reads single leads that are new or changed, open and new leads first. The
 * reading ends when the run's limit or time is reached or another scheduled run is due. Answers are stored as
 * they arrive, so a stopped run loses none; the remaining leads wait for the next run.
 */
import type { LeadDetail } from '../../domain/model.ts'
import type { SyncProblem } from '../../domain/sync.ts'
import { type ErrorCode, LeadsheetError } from '../../errors.ts'
import { type DatedLead, listWaitingLeads, postponeDetail, saveDetail } from '../../store/leads/detail.ts'
import { addCounts } from '../../store/sync/sync-run.ts'
import { type DetailOptions, observedBy, type SyncRun } from './sync-context.ts'

/** The error codes that may concern only a single lead. After such an error, the next lead is still read. */
const OF_ONE_LEAD: ReadonlySet<ErrorCode> = new Set([
  'api_not_found',
  'api_rejected',
  'api_unexpected',
  'api_unreachable',
])
/** After so many failures in a row, the upstream or the profile is at fault, not a single lead. */
const FAILURES_MAX = 10

/**
 * An unreadable entry of an activity is a problem of the run. A lead that is gone or unreadable is only
 * deferred.
 */
export async function syncDetails(run: SyncRun, onProblem: (problem: SyncProblem) => void): Promise<void> {
  const { details } = run.options
  const { enrichment, activity } = run.source.profile.mapping
  // If the profile maps neither part of an answer, nothing would be stored, so no lead is requested.
  const isMapped = enrichment !== undefined || activity !== undefined
  if (!details || !isMapped || !run.source.has('lead')) return
  const leads = await listWaitingLeads(run.store.db, {
    now: run.now().toISOString(),
    limit: details.perRun,
  })
  const { quarantined, end } = await readDetails(run, leads, details)
  if (quarantined > 0) onProblem(unreadableEntries(quarantined))
  if (end !== null) throw end
}

type Outcome = LeadDetail | LeadsheetError

async function readDetails(run: SyncRun, leads: readonly DatedLead[], { concurrency }: DetailOptions) {
  const { signal, onProgress, isOtherDue = async () => false } = run.options
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  const rest = leads.values()
  let done = 0
  let quarantined = 0
  let failuresInRow = 0
  const readRest = async (): Promise<void> => {
    for (const lead of rest) {
      if (await isOtherDue()) return
      const outcome = await fetchOne(run, lead, ended)
      await keep(run, lead, outcome)
      if (outcome instanceof LeadsheetError) {
        if (++failuresInRow >= FAILURES_MAX) throw allFailing(outcome)
      } else {
        failuresInRow = 0
        quarantined += outcome.quarantined.length
      }
      onProgress?.({ part: 'details', pages: 0, done: ++done, total: leads.length })
    }
  }
  const readers = Array.from({ length: concurrency }, () =>
    readRest().catch((thrown: unknown) => stop.abort(thrown)),
  )
  await Promise.all(readers)
  const isAsPlanned = !stop.signal.aborted || hasUsedUpItsTime(stop.signal)
  return { quarantined, end: isAsPlanned ? null : stop.signal.reason }
}

async function fetchOne(run: SyncRun, lead: DatedLead, signal: AbortSignal): Promise<Outcome> {
  try {
    return await run.source.fetchDetail(lead.id, signal)
  } catch (thrown) {
    // The request was cancelled because another lead failed, or the error concerns more than this lead. In
    // both cases this lead is not to blame.
    if (signal.aborted || !(thrown instanceof LeadsheetError) || !OF_ONE_LEAD.has(thrown.code)) throw thrown
    run.log.warn({ lead: lead.id, code: thrown.code }, thrown.message)
    return thrown
  }
}

async function keep(run: SyncRun, lead: DatedLead, outcome: Outcome): Promise<void> {
  await run.writeSoon(async (trx) => {
    if (outcome instanceof LeadsheetError) {
      await postponeDetail(trx, lead, outcome.message, run.now())
      const isGone = outcome.code === 'api_not_found'
      await addCounts(trx, run.runId, isGone ? { details_not_found: 1 } : { details_failed: 1 })
    } else {
      await saveDetail(trx, lead, outcome, observedBy(run))
      await addCounts(trx, run.runId, { details_read: 1 })
    }
  })
}

function allFailing(last: LeadsheetError): LeadsheetError {
  const message = `none of ${FAILURES_MAX} leads in a row could be read, the last: ${last.message}`
  return new LeadsheetError(last.code, message, {
    ...(last.hint !== undefined && { hint: last.hint }),
    cause: last,
  })
}

function unreadableEntries(count: number): SyncProblem {
  return {
    part: 'details',
    code: 'api_unexpected',
    message: `${count} entries of activity could not be read`,
    hint: 'They are kept in the table quarantined_record.',
  }
}

/** If its time is used up, the run has not failed, and the remaining leads wait for the next one. */
function hasUsedUpItsTime({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError'
}
