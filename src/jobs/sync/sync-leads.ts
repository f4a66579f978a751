/**
 * The leads part of a sync: reads the list to its end, reads it again if rows moved meanwhile, and decides
 * whether the result can be trusted. Only a complete scan marks leads as deleted and moves the watermark (the
 * time from which the next incremental scan reads changes).
 */

import type { Instant } from '../../domain/model.ts'
import type { ScanReport, ScanStop, SyncProblem } from '../../domain/sync.ts'
import { type ErrorCode, LeadsheetError, shellCommand } from '../../errors.ts'
import { checkNoCrash, readCrashMarker } from '../../store/db/postgres.ts'
import type { Trx } from '../../store/db/store.ts'
import { finishLeadEvents } from '../../store/events/event.ts'
import { outdateAllDetails } from '../../store/leads/detail.ts'
import { beginFirstLoad } from '../../store/leads/first-load.ts'
import { countLeads } from '../../store/leads/lead.ts'
import { findImplausibleTimes, formatImplausible } from '../../store/leads/quarantined-record.ts'
import { clearScan, findScan, type Scan, startPass, startScan } from '../../store/sync/scan.ts'
import { recordMissing } from '../../store/sync/soft-delete.ts'
import { markLeadsWhole } from '../../store/sync/sync-run.ts'
import {
  countUndated,
  type DatedLead,
  findLastUpdate,
  findNewestLead,
  findProfile,
  isDatedAs,
  listWholeScans,
  readWatermark,
  saveProfileHash,
  saveScanResult,
  saveUndated,
  saveWatermark,
} from '../../store/sync/watermark.ts'
import { isNumbered } from '../../upstream/paging/read-ahead.ts'
import { setLeadsBack, warnOfOlder } from './older-records.ts'
import { isRefused } from './refused-page.ts'
import { createScanReader, type PassEnd } from './scan-reader.ts'
import { judgePass, warnOfTotal } from './scan-result.ts'
import { hashProfile, loadScanState, type ScanState } from './scan-state.ts'
import { CLOCK_SKEW_MS, deleteTombstoned, writePage } from './scan-writer.ts'
import { pageSizeOf, type SyncOptions, type SyncRun, writeUnderLease } from './sync-context.ts'

/** An older interrupted scan is started again, because its cursor may be invalid. */
const SCAN_AGE_MAX_MS = 48 * 60 * 60_000

/** The errors that may come from a stale cursor, besides a refusal. */
const MAYBE_STALE: readonly ErrorCode[] = [
  'api_forbidden',
  'api_unauthorized',
  'api_unexpected',
  'api_unreachable',
]

type ScanResult = Pick<ScanReport, 'scan_result' | 'stop'> & {
  readonly problem: SyncProblem | null
}

/**
 * Returns the mode of the next scan. An interrupted scan that can be resumed keeps its mode. The very first
 * scan, and the first scan with a new profile (the settings that describe the upstream's API), read all
 * leads.
 */
export async function planScan(
  { store, source }: Pick<SyncRun, 'store' | 'source'>,
  options: SyncOptions,
  now: Date,
): Promise<Scan['mode']> {
  const { updatedAt, hasUndated } = await readWatermark(store.db)
  if (options.full || updatedAt === null || hasUndated || !source.hasUpdatedSince) return 'full'
  const profile = hashProfile(source.profile)
  if (await isOtherProfile(store, profile)) return 'full'
  const scan = await findScan(store.db)
  return scan && isResumable(scan, { source, options }, profile, now) ? scan.mode : 'incremental'
}

/**
 * Returns the problems of a scan that reached the end of the list.
 * @param leftOut the lead because of which the whole list is read: a list of changes was without it
 * @throws LeadsheetError if the list was not read to its end
 */
export async function syncLeads(run: SyncRun, leftOut: DatedLead | null = null): Promise<SyncProblem[]> {
  const crashMarker = await readCrashMarker(run.store.db)
  const begun = await beginScan(run)
  const isFirst = begun.mode === 'full' && begun.pages === 0
  await using firstLoad = isFirst ? await beginFirstLoad(run.store) : null
  const memory = await loadScanState(run.store.db, crashMarker, begun, firstLoad)
  const expected =
    begun.mode === 'full' || begun.updated_since === null
      ? null
      : await findNewestLead(run.store.db, begun.updated_since, begun.started_at)
  const end = await readToEnd(run, begun, memory).catch(async (thrown: unknown) => {
    const { signal } = run.options
    if (await isStaleCursor(run, begun, thrown)) return null
    // A run that must stop has no time to restore the indexes, so the next run restores them.
    if (!signal.aborted) await firstLoad?.end(signal).catch((error: unknown) => unlessStopped(signal, error))
    const isStopped = signal.aborted
    if (isStopped || (thrown instanceof LeadsheetError && thrown.code !== 'store_unreachable')) {
      await giveUpScan(run, begun, memory, isStopped ? 'interrupted' : 'failed')
    }
    throw thrown
  })
  if (end === null) {
    run.log.warn(
      { cursor: begun.cursor },
      'the upstream no longer takes the cursor of the interrupted scan; starting over',
    )
    await writeUnderLease(run, clearScan)
    return syncLeads(run, leftOut)
  }
  if (end.error === undefined) {
    if (end.scan_result === 'complete' && expected !== null && memory.seenLeads.passOf(expected.no) === 0) {
      run.log.warn(
        { lead: expected.id, since: begun.updated_since },
        'known change left out; reading all leads',
      )
      return syncLeads({ ...run, mode: 'full' }, expected)
    }
    return finishScan(run, end, memory, leftOut)
  }
  await giveUpScan(run, begun, memory, end.stop)
  throw end.error
}

function unlessStopped(signal: AbortSignal, error: unknown): void {
  if (!signal.aborted) throw error
}

async function beginScan(run: SyncRun): Promise<Scan> {
  const { store, source, options, mode } = run
  const profile = hashProfile(source.profile)
  const isRemap = await isOtherProfile(store, profile)
  if (isRemap) run.log.info('the profile changed: all leads are read again')
  const underWay = await findScan(store.db)
  if (underWay && underWay.mode === mode && isResumable(underWay, run, profile, run.now())) return underWay
  const { updatedAt } = await readWatermark(store.db)
  const since =
    mode === 'full' || updatedAt === null ? null : instantOf(Date.parse(updatedAt) - options.overlapMs)
  return writeUnderLease(run, (trx) =>
    startScan(trx, {
      mode,
      updated_since: since,
      started_at: run.now().toISOString(),
      page_size: pageSizeOf(run),
      profile_sha256: profile,
      is_remap: isRemap ? 1 : 0,
    }),
  )
}

async function isOtherProfile(store: SyncRun['store'], sha256: string): Promise<boolean> {
  const known = await findProfile(store.db)
  return known !== undefined && known.sha256 !== sha256
}

function isResumable(
  scan: Scan,
  asking: Pick<SyncRun, 'source' | 'options'>,
  profile: string,
  now: Date,
): boolean {
  // A scan that was killed after its last page, but before its result was judged, has no page from which to
  // continue.
  if (scan.cursor === null && scan.pass_pages > 0) return false
  // The number of a page is the place of other records if pages have another size.
  const isSamePlace = asking.source.profile.paging.kind !== 'page' || scan.page_size === pageSizeOf(asking)
  const ageMs = now.getTime() - Date.parse(scan.progress_at)
  return isSamePlace && scan.profile_sha256 === profile && ageMs < SCAN_AGE_MAX_MS
}

/** Reads pass after pass, until the result can be trusted or the maximum number of passes is reached. */
async function readToEnd(run: SyncRun, begun: Scan, memory: ScanState): Promise<PassEnd & ScanResult> {
  const { source } = run
  let end = await readPass(run, begun, memory)
  await memory.firstLoad?.end(run.options.signal)
  for (;;) {
    if (end.error !== undefined) return { ...end, scan_result: 'incomplete', problem: null }
    const { scan } = end
    const judgement = judgePass({
      scan,
      stop: end.stop,
      paging: source.profile.paging,
      hasUpdatedSince: source.hasUpdatedSince,
      stored: await countLeads(run.store.db),
      saysEnd: end.saysEnd === true,
      hasChanges: memory.hasChanges,
      whole: scan.mode === 'incremental' ? (await listWholeScans(run.store.db, 1))[0] : undefined,
      acceptsDeletions: run.options.acceptsDeletions === true,
      isResumed: begun.cursor !== null && scan.pages > begun.pages && scan.started_at === begun.started_at,
    })
    if (judgement.next === 'end') return { ...end, ...judgement }
    const since =
      judgement.next === 'again' ? scan.updated_since : instantOf(Date.parse(scan.started_at) - CLOCK_SKEW_MS)
    run.log.info({ pass: scan.pass + 1, since }, 'rows may have moved while the list was read; reading again')
    const next = await writeUnderLease(run, async (trx) => {
      await checkNoCrash(trx, memory.crashMarker)
      return startPass(trx, scan, since)
    })
    end = await readPass(run, next, memory)
  }
}

/** Stores one page while the next one is fetched. If the pass fails, the pages before are kept. */
async function readPass(run: SyncRun, begun: Scan, memory: ScanState): Promise<PassEnd> {
  using reader = createScanReader(run, begun, memory.known.find)
  for (let scan = begun; ; ) {
    const read = await reader.next(scan)
    if ('stop' in read) return read
    scan = await writePage(run, scan, read, memory)
  }
}

/** Other errors than a refusal are the cursor's fault only if the first page can be read at the same time. */
async function isStaleCursor(
  { source, store, options }: SyncRun,
  begun: Scan,
  thrown: unknown,
): Promise<boolean> {
  if (begun.cursor === null || !(thrown instanceof LeadsheetError)) return false
  const { code } = thrown
  if ((await findScan(store.db))?.pages !== begun.pages) return false
  if (isRefused(thrown)) return true
  if (!MAYBE_STALE.includes(code) || isNumbered(source.profile.paging)) return false
  const filters = { updatedSince: begun.pass_since ?? undefined }
  const first = source.listLeads(filters, null, options.pageSize, { signal: options.signal })
  return first.then(
    () => true,
    () => false,
  )
}

/** A complete scan marks missing leads as deleted, and moves the watermark. */
async function finishScan(
  run: SyncRun,
  end: PassEnd & ScanResult,
  memory: ScanState,
  leftOut: DatedLead | null,
): Promise<SyncProblem[]> {
  const { scan, scan_result, problem } = end
  // Only now the scan is known to be complete. This comes before the watermark is read, which it moves back.
  const older = scan_result === 'complete' ? await setLeadsBack(run, memory) : memory.older.size
  const seen = { runId: run.runId, at: run.now().toISOString() }
  const lastUpdate = scan.mode === 'full' ? await findLastUpdate(run.store.db) : scan.max_updated_at
  const undated = scan.mode === 'full' && run.source.hasUpdatedSince ? await countUndated(run.store.db) : 0
  return writeUnderLease(run, async (trx) => {
    await checkNoCrash(trx, memory.crashMarker)
    const problems = problem === null ? [] : [problem]
    let heldBack = 0
    await deleteTombstoned(trx, memory, seen)
    if (scan_result === 'complete') {
      const missing =
        scan.mode === 'full'
          ? await recordMissing(
              trx,
              memory.seenLeads,
              { ...seen, startedAt: scan.started_at },
              run.options.acceptsDeletions === true,
            )
          : { deleted: 0, refused: null }
      const newest = Math.min(Date.parse(lastUpdate ?? ''), Date.parse(scan.started_at) - CLOCK_SKEW_MS)
      if (Number.isFinite(newest)) await saveWatermark(trx, instantOf(newest))
      if (scan.mode === 'full') await saveUndated(trx, undated > 0)
      await markLeadsWhole(trx, run.runId, scan.started_at, missing.deleted)
      const read = { startedAt: scan.started_at, asksForDeleted: run.source.has('lead') }
      await finishLeadEvents(trx, read, seen.at)
      if (scan.mode === 'full') await saveProfileHash(trx, scan.profile_sha256, seen.at)
      if (scan.is_remap === 1) await outdateAllDetails(trx, seen.at)
      if (missing.refused !== null) {
        heldBack = missing.refused.missing
        problems.push(massMissing(missing.refused))
      }
    }
    const drift = await memory.watch.save(trx, seen.at)
    const times = await findImplausibleTimes(trx)
    const report = {
      ...reportOf(scan, end),
      heldBack,
      warnings: [
        ...warningsOf(scan, memory),
        ...warnOfOlder(older, scan_result),
        ...memory.unsure.describe(),
        ...times.map(formatImplausible),
        ...(undated > 0 && Number.isFinite(Date.parse(lastUpdate ?? '')) ? [warnOfUndated(undated)] : []),
        ...(leftOut && (await isUnchanged(trx, leftOut, memory)) ? [warnOfFilter(leftOut)] : []),
      ],
      drift,
    }
    await saveScanResult(trx, run.runId, report, seen.at)
    await clearScan(trx)
    return problems
  })
}

/** A later run resumes a scan that failed or was interrupted. After a faulty list it starts a new one. */
async function giveUpScan(run: SyncRun, begun: Scan, memory: ScanState, stop: ScanStop): Promise<void> {
  const at = run.now().toISOString()
  const scan = (await findScan(run.store.db)) ?? begun
  await writeUnderLease(run, async (trx) => {
    const report = reportOf(scan, { scan_result: 'incomplete', stop, problem: null })
    const drift = await memory.watch.save(trx, at)
    await saveScanResult(trx, run.runId, { ...report, drift }, at)
    if (stop !== 'interrupted' && stop !== 'failed') await clearScan(trx)
  })
}

function reportOf(scan: Scan, { scan_result, stop }: ScanResult): ScanReport {
  return {
    mode: scan.mode,
    startedAt: scan.started_at,
    scan_result,
    stop,
    reportedTotal: scan.reported_total,
    distinct: scan.seen,
    pages: scan.pages,
    passes: scan.pass,
    moved: scan.moved,
    cleaned: scan.cleaned,
    cut: scan.cut,
    heldBack: 0,
    warnings: [],
    drift: [],
  }
}

/** Returns whether the scan met the lead as it was before, so that a list of changes should have had it. */
async function isUnchanged(trx: Trx, lead: DatedLead, memory: ScanState): Promise<boolean> {
  return memory.seenLeads.passOf(lead.no) > 0 && (await isDatedAs(trx, lead))
}

const FILTER_WARNING = 'filters.updated_since leaves out what it must have'

function warnOfFilter({ id, updatedAt }: DatedLead): string {
  return `${FILTER_WARNING}: the lead ${id} changed at ${updatedAt} and was not in the list of changes since before then, so the whole list was read; check the format of the filter, and the time zone in which the upstream reads it`
}

function warnOfUndated(count: number): string {
  return `leads without an update time: ${count}; filters.updated_since may leave such leads out, so each sync reads the whole list, unless mapping.lead.updated_at falls back to the time of creation and the filter asks for both times`
}

function warningsOf(scan: Scan, { sharedIds }: ScanState): string[] {
  const [example] = sharedIds
  return [
    warnOfTotal(scan),
    scan.cleaned > 0
      ? `leads with text that was cleaned, or times that stand for none: ${scan.cleaned}`
      : null,
    scan.cut > 0 ? `texts of more than 64 kB that were cut: ${scan.cut}` : null,
    example !== undefined
      ? `ids that stand for more than one record, of which one is kept: ${sharedIds.size}, such as ${example}; check mapping.lead.id in the profile`
      : null,
  ].filter((warning) => warning !== null)
}

function massMissing({ missing, of }: { missing: number; of: number }): SyncProblem {
  return {
    part: 'leads',
    code: 'api_unexpected',
    message: `${missing} of ${of} leads were missing from a whole scan: taken for a fault, none is marked as deleted`,
    hint: `Look at the upstream; the leads stay as they are. If they are really deleted: ${shellCommand('sync --full --accept-deletions')}.`,
  }
}

function instantOf(ms: number): Instant {
  return new Date(ms).toISOString()
}
