/**
 * The leads part of a sync: reads the list to its end, reads it again if rows moved meanwhile, and decides
 * whether the result can be trusted. Only a complete scan moves the watermark (the time up to which changes are read),
 * and only a complete full scan shows which leads are missing.
 */

import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant } from '../../domain/model.ts'
import type { ScanResult, ScanStop, SyncProblem } from '../../domain/sync.ts'
import { type ErrorCode, LeadsheetError, shellCommand } from '../../errors.ts'
import { readCrashMarker } from '../../store/db/postgres.ts'
import { countUnfit, formatUnfit } from '../../store/leads/declared-fields.ts'
import type { DatedLead } from '../../store/leads/detail.ts'
import { beginFirstLoad } from '../../store/leads/first-load.ts'
import { findImplausibleTimes, formatImplausible } from '../../store/leads/implausible-times.ts'
import { countLeads } from '../../store/leads/lead.ts'
import {
  CLOCK_SKEW_MS,
  clearScan,
  findScan,
  listOlder,
  type Scan,
  startPass,
  startScan,
} from '../../store/sync/scan.ts'
import {
  acceptScan,
  deleteTombstoned,
  endScan,
  readUpdateTimes,
  setLeadsBack,
} from '../../store/sync/scan-end.ts'
import { loadScanMemory, type ScanMemory } from '../../store/sync/scan-memory.ts'
import { savePage } from '../../store/sync/scan-page.ts'
import {
  findNewestLead,
  findProfileHash,
  isDatedAs,
  listCompleteFullScans,
  readWatermark,
} from '../../store/sync/watermark.ts'
import { isQuarantined } from '../../upstream/mapping/lead-mapping.ts'
import { isNumbered } from '../../upstream/paging/read-ahead.ts'
import type { Profile } from '../../upstream/profile/profile.ts'
import { parseJson } from '../../upstream/values/json.ts'
import { mapFieldsAgain } from './map-fields-again.ts'
import { mapPage } from './map-page.ts'
import { isRefused, namesNextOfFewer } from './refused-page.ts'
import { createScanNotes, type ScanNotes } from './scan-notes.ts'
import { createScanReader, type PassEnd, type ReadPage } from './scan-reader.ts'
import { judgePass, warnOfTotal } from './scan-result.ts'
import { observedBy, pageSizeOf, type SyncOptions, type SyncRun } from './sync-context.ts'

/** An older interrupted scan is started again, because its cursor may be invalid. */
const SCAN_AGE_MAX_MS = 48 * 60 * 60_000

/** The number of leads that are set back in one transaction. */
const LEADS_A_WRITE = 500

/** The errors that may come from a stale cursor, besides a refusal. */
const MAYBE_STALE: readonly ErrorCode[] = [
  'api_forbidden',
  'api_unauthorized',
  'api_unexpected',
  'api_unreachable',
]

type JudgedScan = PassEnd & Pick<ScanResult, 'result'> & { readonly problem: SyncProblem | null }

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
  const fieldNews = await mapFieldsAgain(run)
  const crashMarker = await readCrashMarker(run.store.db)
  const begun = await beginScan(run)
  const isFirst = begun.mode === 'full' && begun.pages === 0
  await using firstLoad = isFirst ? await beginFirstLoad(run.store) : null
  const memory = await loadScanMemory(run.store.db, crashMarker, begun, firstLoad)
  const notes = createScanNotes(fieldNews, begun.mode)
  const expected =
    begun.mode === 'full' || begun.updated_since === null
      ? null
      : await findNewestLead(run.store.db, begun.updated_since, begun.started_at)
  const end = await readToEnd(run, begun, memory, notes).catch(async (thrown: unknown) => {
    const { signal } = run.options
    if (await isStaleCursor(run, begun, thrown)) return null
    // A run that must stop has no time to restore the indexes, so the next run restores them.
    if (!signal.aborted) await firstLoad?.end(signal).catch((error: unknown) => unlessStopped(signal, error))
    const isStopped = signal.aborted
    if (isStopped || (thrown instanceof LeadsheetError && thrown.code !== 'store_unreachable')) {
      await giveUpScan(run, begun, notes, isStopped ? 'interrupted' : 'failed')
    }
    throw thrown
  })
  if (end === null) {
    run.log.warn(
      { cursor: begun.cursor },
      'the upstream no longer takes the cursor of the interrupted scan; starting over',
    )
    await run.write(clearScan)
    return syncLeads(run, leftOut)
  }
  if (end.error === undefined) {
    if (end.result === 'complete' && expected !== null && memory.seenLeads.passOf(expected.no) === 0) {
      run.log.warn(
        { lead: expected.id, since: begun.updated_since },
        'known change left out; reading all leads',
      )
      return syncLeads({ ...run, mode: 'full' }, expected)
    }
    return finishScan(run, end, memory, notes, leftOut)
  }
  await giveUpScan(run, begun, notes, end.stop)
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
  return run.write((trx) =>
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

/** The place of the API key and the limits of requests decide nothing about the data, so they are left out. */
function hashProfile(profile: Profile): string {
  const { endpoints, request, paging, envelope, filters, sort, mapping, stages, limits } = profile
  const { search_records } = limits
  const parts = { endpoints, request, paging, envelope, filters, sort, mapping, stages, search_records }
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

async function isOtherProfile(store: SyncRun['store'], sha256: string): Promise<boolean> {
  const known = await findProfileHash(store.db)
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
  const isSamePlace = asking.source.paging.kind !== 'page' || scan.page_size === pageSizeOf(asking)
  const ageMs = now.getTime() - Date.parse(scan.progress_at)
  return isSamePlace && scan.profile_sha256 === profile && ageMs < SCAN_AGE_MAX_MS
}

/** Reads pass after pass, until the result can be trusted or the maximum number of passes is reached. */
async function readToEnd(
  run: SyncRun,
  begun: Scan,
  memory: ScanMemory,
  notes: ScanNotes,
): Promise<JudgedScan> {
  const { source } = run
  let end = await readPass(run, begun, memory, notes)
  await memory.firstLoad?.end(run.options.signal)
  for (;;) {
    if (end.error !== undefined) return { ...end, result: 'incomplete', problem: null }
    const { scan } = end
    const judgement = judgePass({
      scan,
      stop: end.stop,
      paging: source.paging,
      hasUpdatedSince: source.hasUpdatedSince,
      stored: await countLeads(run.store.db),
      saysEnd: end.saysEnd === true,
      namesNextOfFewer: end.saysEnd === true ? null : await namesNextOfFewer(run, scan),
      hasChanges: memory.hasChanges,
      whole: scan.mode === 'incremental' ? (await listCompleteFullScans(run.store.db, 1))[0] : undefined,
      acceptsDeletions: run.options.acceptsDeletions === true,
      isResumed: begun.cursor !== null && scan.pages > begun.pages && scan.started_at === begun.started_at,
    })
    if (judgement.next === 'end') return { ...end, ...judgement }
    const since =
      judgement.next === 'again' ? scan.updated_since : instantOf(Date.parse(scan.started_at) - CLOCK_SKEW_MS)
    run.log.info({ pass: scan.pass + 1, since }, 'rows may have moved while the list was read; reading again')
    const next = await run.write((trx) => startPass(trx, scan, since, memory.crashMarker))
    end = await readPass(run, next, memory, notes)
  }
}

/** Stores one page while the next one is fetched. If the pass fails, the pages before are kept. */
async function readPass(run: SyncRun, begun: Scan, memory: ScanMemory, notes: ScanNotes): Promise<PassEnd> {
  using reader = createScanReader(run, begun, memory.fingerprints.find)
  for (let scan = begun; ; ) {
    const read = await reader.next(scan)
    if ('stop' in read) return read
    scan = await storePage(run, scan, read, memory, notes)
  }
}

/**
 * @returns the scan after the page
 * @throws LeadsheetError api_unexpected if a page of several records has no id at all; nothing of it is stored
 */
async function storePage(
  run: SyncRun,
  before: Scan,
  read: ReadPage,
  memory: ScanMemory,
  notes: ScanNotes,
): Promise<Scan> {
  const page = await mapPage(run, read.records, memory)
  notes.note(page)
  // Lets other tasks run, because the mapping and writing of a page does not pause for them.
  await nextTurn()
  if (!page.isAllNew) await memory.firstLoad?.end(run.options.signal)
  const { scan, pages } = await run.writeSoon((trx) => {
    const upstreamNow = instantOf(run.now().getTime() - (run.source.clockAheadMs() ?? 0))
    return savePage(trx, before, read, page, memory, { ...observedBy(run), upstreamNow })
  })
  run.options.onProgress?.({ part: 'leads', pages, done: scan.seen, total: read.total })
  // The first turn of the event loop ends before the network is polled, and the second turn ends after that.
  // Otherwise pages that have already arrived would be stored without a pause.
  await nextTurn()
  await nextTurn()
  return scan
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
  if (!MAYBE_STALE.includes(code) || isNumbered(source.paging)) return false
  const filters = { updatedSince: begun.pass_since ?? undefined }
  const first = source.listLeads(filters, null, options.pageSize, { signal: options.signal })
  return first.then(
    () => true,
    () => false,
  )
}

/** Stores what the scan has proved, and its report. */
async function finishScan(
  run: SyncRun,
  end: JudgedScan,
  memory: ScanMemory,
  notes: ScanNotes,
  leftOut: DatedLead | null,
): Promise<SyncProblem[]> {
  const { scan, result, problem } = end
  const { source, store, options } = run
  // Only now the scan is known to be complete. This comes before the update times are read, because it changes them.
  const older = result === 'complete' ? await followOlderRecords(run, memory) : memory.older.size
  const times = await readUpdateTimes(store.db, scan, source.hasUpdatedSince)
  return run.write(async (trx) => {
    const observed = observedBy(run)
    await deleteTombstoned(trx, memory, observed)
    const isConfirmed = options.acceptsDeletions === true
    const acceptance = { isConfirmed, asksForDeleted: source.has('lead'), times }
    const refused = result === 'complete' ? await acceptScan(trx, scan, memory, acceptance, observed) : null
    const implausible = await findImplausibleTimes(trx)
    // Otherwise, the lead may have changed after the list of changes was read.
    const isFilterWrong =
      leftOut !== null && memory.seenLeads.passOf(leftOut.no) > 0 && (await isDatedAs(trx, leftOut))
    const isUndated = times.undated > 0 && Number.isFinite(Date.parse(times.last ?? ''))
    const summary = {
      ...resultOf(scan, result, end.stop),
      heldBack: refused?.missing ?? 0,
      warnings: [
        ...warningsOf(scan, memory, result),
        ...warnOfOlder(older, result),
        ...notes.warnings(),
        ...implausible.map(formatImplausible),
        ...(await countUnfit(trx)).map(
          (unfit) => `${formatUnfit(unfit)}; correct fields.${unfit.name} of the profile`,
        ),
        ...(isUndated ? [warnOfUndated(times.undated)] : []),
        ...(isFilterWrong ? [warnOfFilter(leftOut)] : []),
      ],
      drift: await notes.saveDrift(trx, observed.at),
    }
    await endScan(trx, run.runId, summary, observed.at)
    return [problem, refused && massMissing(refused)].filter((each) => each !== null)
  })
}

/**
 * Lets the stored leads follow the older records that a complete full scan has noted: the upstream was restored
 * from a backup, or corrected a date. If this is interrupted, the next full scan finds the other leads again.
 * @returns the number of leads set back
 */
async function followOlderRecords(run: SyncRun, memory: ScanMemory): Promise<number> {
  for (let done = 0; ; ) {
    run.options.signal.throwIfAborted()
    const records = await listOlder(run.store.db, LEADS_A_WRITE)
    if (records.length === 0) return done
    const leads = records.flatMap(({ raw }) => {
      const lead = run.source.mapLead(parseJson(raw), raw)
      return isQuarantined(lead) ? [] : [lead]
    })
    const nos = records.map((record) => record.lead_no)
    await run.writeSoon((trx) => setLeadsBack(trx, nos, leads, memory, observedBy(run)))
    done += records.length
    await nextTurn()
  }
}

/** A later run resumes a scan that failed or was interrupted. After a faulty list it starts a new one. */
async function giveUpScan(run: SyncRun, begun: Scan, notes: ScanNotes, stop: ScanStop): Promise<void> {
  const scan = (await findScan(run.store.db)) ?? begun
  await run.write(async (trx) => {
    const { runId, at } = observedBy(run)
    const summary = resultOf(scan, 'incomplete', stop)
    await endScan(trx, runId, { ...summary, drift: await notes.saveDrift(trx, at) }, at)
  })
}

function resultOf(scan: Scan, result: ScanResult['result'], stop: ScanStop): ScanResult {
  return {
    mode: scan.mode,
    startedAt: scan.started_at,
    result,
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

const FILTER_WARNING = 'filters.updated_since leaves out what it must have'

function warnOfFilter({ id, updatedAt }: DatedLead): string {
  return `${FILTER_WARNING}: the lead ${id} changed at ${updatedAt} and was not in the list of changes since before then, so the whole list was read; check the format of the filter, and the time zone in which the upstream reads it`
}

function warnOfUndated(count: number): string {
  return `leads without an update time: ${count}; filters.updated_since may leave such leads out, so each sync reads the whole list, unless mapping.lead.updated_at falls back to the time of creation and the filter asks for both times`
}

function warningsOf(scan: Scan, { sharedIds }: ScanMemory, result: ScanResult['result']): string[] {
  const [example] = sharedIds
  return [
    result === 'complete' ? warnOfTotal(scan) : null,
    scan.cleaned > 0
      ? `leads with text that was cleaned, or times that stand for none: ${scan.cleaned}`
      : null,
    scan.cut > 0 ? `texts of more than 64 kB that were cut: ${scan.cut}` : null,
    example !== undefined
      ? `ids that stand for more than one record, of which one is kept: ${sharedIds.size}, such as ${example}; check mapping.lead.id in the profile`
      : null,
  ].filter((warning) => warning !== null)
}

/** Says how many leads of the list are older than the stored ones, and which of the two stands. */
function warnOfOlder(count: number, result: ScanResult['result']): string[] {
  if (count === 0) return []
  const what = count === 1 ? '1 lead is' : `${count} leads are`
  const then = result === 'complete' ? 'now follows the list' : 'stays until a full scan is complete'
  return [`${what} older in the list than in the copy; the copy ${then}`]
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
