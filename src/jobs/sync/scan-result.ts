/**
 * Decides what a scan has proved. A scan is complete only if it read the list to its end and nothing on any
 * page speaks against it; the table of doubts says what does. The decision asks neither the store nor the upstream: it
 * uses only the facts that it is given.
 */
import type { ScanResult, ScanStop, SyncProblem } from '../../domain/sync.ts'
import { shellCommand } from '../../errors.ts'
import { CLOCK_SKEW_MS, type Scan } from '../../store/sync/scan.ts'
import type { CompleteFullScan } from '../../store/sync/watermark.ts'
import { isWindow, namesNext } from '../../upstream/paging/paging.ts'
import { canShift, isNumbered, overlapRows } from '../../upstream/paging/read-ahead.ts'
import type { PagingProfile } from '../../upstream/profile/profile.ts'

const PASSES_MAX = 6
/** The numbers of records to which services usually cut a page. */
const USUAL_SIZES = [50, 100, 200, 250, 500, 1000, 2000, 5000]

/** The facts about a pass that reached the end of the list. */
interface PassFacts {
  readonly scan: Scan
  readonly stop: ScanStop
  readonly paging: PagingProfile
  readonly hasUpdatedSince: boolean
  readonly saysEnd: boolean
  /** Tells whether the only page names a next one if it is asked for with fewer leads; null if that is not known. */
  readonly namesNextOfFewer: boolean | null
  readonly hasChanges: boolean
  readonly stored: number
  readonly whole: CompleteFullScan | undefined
  /** Rows may have moved in between. */
  readonly isResumed: boolean
  readonly acceptsDeletions: boolean
}

/** A reason why a scan that reached the end of the list is not complete. */
interface Doubt {
  /** By default `unproven`. */
  readonly result?: 'incomplete'
  /** Returns whether another pass over the list may dispel the doubt; if absent, none can. */
  readonly mayPass?: (facts: PassFacts) => boolean
  readonly applies: (facts: PassFacts) => boolean
  readonly found: (facts: PassFacts) => string
  readonly hint: string
}

/** The doubts; the first that applies is told. */
const DOUBTS: readonly Doubt[] = [
  {
    mayPass: ({ scan }) => scan.pass === 1,
    applies: ({ scan }) => hasHole(scan) && (scan.total_low === null || isShort(scan)),
    found: ({ scan }) =>
      `does not show where it ends (page ${scan.hole_page}: leads behind what seemed to be the last page)`,
    hint: 'What was read is kept; the next sync reads again. If the answer counts its leads or pages, name the field in the profile: paging.total or paging.pages.',
  },
  {
    result: 'incomplete',
    applies: ({ scan }) => scan.partial_sign !== null,
    found: ({ scan }) => `has a page that says that it is not whole (${scan.partial_sign})`,
    hint: 'What was read is kept; the next sync reads again. If this is no error, name the field that is one in the profile: envelope.error.',
  },
  {
    applies: ({ stop }) => stop === 'loop',
    found: ({ scan }) =>
      `does not come to an end: after ${scan.seen} leads came empty pages that name a next one`,
    hint: 'What was read is kept; the next sync reads again. If the answer says elsewhere that it is the last, name it in the profile: paging.has_more or paging.total.',
  },
  {
    applies: ({ scan, stored, acceptsDeletions }) =>
      scan.mode === 'full' && scan.seen === 0 && stored > 0 && !acceptsDeletions,
    found: ({ stored }) => `is empty, where the copy has ${stored} leads`,
    hint: `Look at the upstream; the leads stay as they are. If they are really deleted: ${shellCommand('sync --full --accept-deletions')}.`,
  },
  {
    applies: (facts) => endsFull(facts),
    found: ({ scan, stored, namesNextOfFewer }) =>
      namesNextOfFewer === false
        ? `names no next page, not even on a page of ${scan.last_rows - 1} of its ${scan.last_rows} leads`
        : `names no next page on its last one, which is full: ${scan.seen} leads${stored > scan.seen && scan.mode === 'full' ? `, where the copy has ${stored}` : ''}`,
    hint: 'What was read is kept. Check the paging of the profile: the upstream may have renamed the field of the next page (paging.next), or may page the list now.',
  },
  {
    applies: ({ scan, paging }) =>
      scan.mode === 'full' && isWindow(scan.seen, 'total' in paging ? paging.total : undefined),
    found: ({ scan }) => `ends after exactly ${scan.seen} leads, where many searches are cut off`,
    hint: 'What was read is kept. Look in the upstream how many leads there are, and for a list that has all of them.',
  },
  {
    mayPass: ({ scan }) => scan.pass === 1,
    applies: ({ scan }) => scan.is_unordered === 1,
    found: () => 'has no order: unchanged leads stood in another order from page to page',
    hint: 'What was read is kept; the next sync reads again. Name an order that does not change in the profile (sort), such as by id.',
  },
  {
    mayPass: ({ scan }) => scan.pass <= 2,
    applies: ({ scan, paging }) => !canShift(paging) && scan.is_broken === 1,
    found: ({ scan }) =>
      `changed while searches by time followed one another, in ${scan.pass} readings, so that leads may lie between two of them`,
    hint: 'What was read is kept; the next sync reads again. If this comes back, check in the profile the order of the list (sort, request.body), and filters.updated_since: its format, and the time zone in which it is read.',
  },
  {
    applies: ({ scan, paging }) =>
      (paging.kind === 'offset' || paging.kind === 'range') && repeatsItself(scan),
    found: () => 'gave leads again behind their places, although none is new or has changed',
    hint: 'What was read is kept; the next sync reads again. The upstream may leave out leads after it has cut a page: ask for another list, or another kind of paging.',
  },
  {
    mayPass: ({ scan }) => scan.pass === 1 || scan.pass_new > 0,
    applies: (facts) => isShort(facts.scan) || isShortOfChanges(facts),
    found: ({ scan }) =>
      `ends after ${scan.seen} leads, but the upstream counts ${scan.total_low}${scan.pass > 1 ? ', also when it was read again' : ''}`,
    hint: 'What was read is kept; the next sync reads again. If the total also counts what the list leaves out, remove paging.total from the profile.',
  },
  {
    mayPass: ({ scan }) => scan.pass === 1 && scan.pass_moved > 0,
    applies: (facts) => endsAtOldTotal(facts),
    found: ({ scan: { total_high, pass_seen } }) =>
      `ends where the upstream counts ${total_high} leads, which may be an old count: ${pass_seen > Number(total_high) ? `${pass_seen} came` : 'the page behind fails'}`,
    hint: 'What was read is kept; the next sync reads again. If the total stays too low, remove paging.total and paging.stop_at_total from the profile.',
  },
  {
    mayPass: () => true,
    applies: (facts) => !missedNothing(facts),
    found: ({ scan }) => `did not hold still: after ${scan.pass} readings rows still turned up anew`,
    hint: 'What was read is kept; the next sync reads again. A sort that does not change (sort in the profile) helps.',
  },
]

/**
 * The next step after a pass: the end of the scan (`end`), a pass over the leads that changed since the scan
 * began (`changes`), or another pass over the whole list (`again`). `problem` says why a scan is not complete.
 */
export type Judgement =
  | {
      readonly next: 'end'
      readonly result: ScanResult['result']
      readonly problem: SyncProblem | null
    }
  | { readonly next: 'changes' | 'again' }

export function judgePass(facts: PassFacts): Judgement {
  const doubt = DOUBTS.find(({ applies }) => applies(facts))
  if (doubt === undefined) return { next: 'end', result: 'complete', problem: null }
  if (doubt.mayPass?.(facts) === true && facts.scan.pass < PASSES_MAX) return { next: nextPass(facts) }
  const problem: SyncProblem = {
    part: 'leads',
    code: 'api_unexpected',
    message: `the list of leads ${doubt.found(facts)}; so no missing lead counts as deleted`,
    hint: doubt.hint,
  }
  return { next: 'end', result: doubt.result ?? 'unproven', problem }
}

/** If pages overlap, only rows that moved to the front can be missed, and these have changed. */
function nextPass({ scan, paging, hasUpdatedSince }: PassFacts): 'changes' | 'again' {
  const isWhole = scan.is_unordered === 0 && !isShort(scan) && !hasHole(scan)
  if (scan.pass > 1) return isOfChanges(scan) && isWhole ? 'changes' : 'again'
  return isWhole && scan.is_broken === 0 && hasOverlap(scan, paging) && hasUpdatedSince ? 'changes' : 'again'
}

/** Returns whether the passes so far cannot have missed a lead, although rows may have moved meanwhile. */
function missedNothing(facts: PassFacts): boolean {
  const { scan, paging, isResumed } = facts
  if (!canShift(paging) || (isOneMoment(facts) && !isResumed)) return true
  const isContinuous = scan.is_broken === 0 && hasOverlap(scan, paging)
  if (scan.pass === 1) {
    if (isResumed && !isContinuous) return false
    if (!hasMoved(facts)) return true
    // Only rows that moved to the front were missed. The next incremental scan reads them anyway.
    return scan.mode === 'incremental' && isContinuous
  }
  // If pages do not overlap, rows may move unseen, so a whole pass that still finds leads proves nothing.
  if (!hasMoved(facts)) return scan.pass_new === 0 || isOfChanges(scan) || isContinuous
  // If pages do not overlap, two passes may miss the same lead, but it is not plausible that three passes
  // miss it.
  if (scan.pass_new === 0 && (hasOverlap(scan, paging) || scan.passes_without_new > 0)) return true
  // The rows that the first pass missed had moved to the front of the list. This pass began there and read
  // them.
  return !isOfChanges(scan) && isContinuous
}

/** The pass began anew and found no lead that had come or changed, but rows moved in it and in one before. */
function repeatsItself(scan: Scan): boolean {
  const hasMovedBefore = scan.moved > scan.pass_moved
  return hasMovedBefore && scan.pass_moved > 0 && scan.pass_new === 0 && !hasChanged(scan)
}

/**
 * Returns whether a list that is not numbered ends with a full page, without saying that it is the last, and leads may
 * be missing: the copy has more, or nothing shows that the list names next pages at all. In a sync of changes the number of leads is not known, so that the first page counts as full only if it has
 * as many records as were asked for. In a full scan the upstream may have cut it to a usual size.
 */
function endsFull({ scan, paging, stored, saysEnd, namesNextOfFewer }: PassFacts): boolean {
  const { mode, pass_pages, last_rows, page_size } = scan
  if (isNumbered(paging) || paging.kind === 'last_id' || saysEnd || scan.total_low !== null) return false
  if (namesNextOfFewer !== null) return !namesNextOfFewer
  if (mode === 'incremental') return pass_pages === 1 && last_rows === page_size
  const isUnnamed = namesNext(paging) && pass_pages === 1 && last_rows === page_size
  return isLastFull(scan) && last_rows > 0 && (stored > scan.seen || isUnnamed)
}

function isLastFull({ pass_pages, last_rows, largest_page, page_size }: Scan): boolean {
  if (pass_pages > 1) return last_rows === largest_page
  return last_rows === page_size || USUAL_SIZES.includes(last_rows)
}

/**
 * Returns whether a numbered list ends by a total that may be an old one: more leads came than it counts, and no empty
 * page shows the end; or the page behind the last one, which is full, could not be read.
 */
function endsAtOldTotal({ scan, stop, paging, saysEnd }: PassFacts): boolean {
  const atTotal = stop === 'end' && 'stop_at_total' in paging && paging.stop_at_total
  if (scan.total_high === null || !(atTotal || stop === 'past_end')) return false
  return scan.total_high < scan.pass_seen || (atTotal && !saysEnd && isLastFull(scan))
}

function hasHole({ hole_page }: Scan): boolean {
  return hole_page !== null
}

function isOfChanges(scan: Scan): boolean {
  return scan.pass_since !== scan.updated_since
}

/**
 * Returns whether all rows of the pass were on one page, so that no row could move between pages. In the
 * first pass the size of a full page is not known, so a single page is required. A scan of changes knows that the
 * page was not full if the pages of the whole list had more leads on average; only an empty page may then follow.
 */
function isOneMoment({ scan, whole }: PassFacts): boolean {
  if (scan.pass_pages <= 1 || (scan.pass > 1 && scan.first_rows < scan.largest_page)) return true
  if (whole === undefined || scan.pass_pages !== 2 || scan.last_rows > 0) return false
  return scan.first_rows < Math.min(scan.page_size, whole.leads / whole.pages)
}

/**
 * Returns whether rows moved during the pass. The total does not always show this: if one row is added and
 * another row is deleted, the total stays the same. If the list is paged by number, such a change shifts rows
 * between pages. In such a list, a lead that changed after the scan began therefore also counts as a sign
 * that rows moved.
 */
function hasMoved({ scan, paging, hasChanges }: PassFacts): boolean {
  if (scan.pass_moved > 0 || scan.total_low !== scan.total_high) return true
  return paging.kind === 'page' && hasChanges && hasChanged(scan)
}

function hasChanged(scan: Scan): boolean {
  const from = new Date(Date.parse(scan.started_at) - CLOCK_SKEW_MS).toISOString()
  return scan.max_updated_at !== null && scan.max_updated_at >= from
}

function hasOverlap(scan: Scan, paging: PagingProfile): boolean {
  return overlapRows(paging, scan.largest_page) > 0
}

/** Compares with the lowest total that the upstream reported during the pass. */
function isShort(scan: Scan): boolean {
  return scan.mode === 'full' && scan.total_low !== null && scan.total_low > scan.seen + scan.pass_uncounted
}

/** A total of at least half the copy may be that of the list without the filter. */
function isShortOfChanges({ scan, stored }: PassFacts): boolean {
  const total = scan.total_low
  const isOfFilter = scan.mode === 'incremental' && total !== null && total * 2 < stored
  return isOfFilter && total > scan.pass_seen + scan.pass_uncounted
}

/** Says that the upstream counts fewer leads than a full scan found; null if it does not. */
export function warnOfTotal(scan: Scan): string | null {
  const total = scan.reported_total
  // If the list changed during the scan, its total and the number of its leads may differ without a fault.
  if (scan.mode === 'incremental' || total === null || scan.moved > 0 || scan.total_low !== scan.total_high) {
    return null
  }
  return total < scan.seen ? `the upstream counts ${total} leads, but gave ${scan.seen}` : null
}

export function isAllRead(scan: Scan): boolean {
  return isTotalReached(scan) || scan.last_rows < scan.largest_page
}

export function isTotalReached(scan: Scan): boolean {
  return scan.total_low !== null && scan.pass_seen + scan.pass_uncounted >= scan.total_low
}
