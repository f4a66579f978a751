/**
 * Lists whose pages are counted from the start: a row that goes or comes before the place in hand moves all
 * rows behind it from page to page. Where rows are counted, each page can begin a few rows early.
 */
import type { PagingProfile } from '../profile/profile.ts'

const OVERLAP_ROWS_MAX = 20
/** The share of a page that is read again, so that small pages still get on. */
const OVERLAP_SHARE = 0.2

/** Whether a position is a number that one can count past the end with. */
export function isNumbered(paging: PagingProfile): boolean {
  return paging.kind === 'page' || paging.kind === 'offset' || paging.kind === 'range'
}

/** Whether rows may shift between pages. A cursor points at a row; links may hide page numbers. */
export function canShift(paging: PagingProfile): boolean {
  return isNumbered(paging) || paging.kind === 'link' || paging.kind === 'next_url'
}

/** How many rows of a page the next one shows again; 0 where pages cannot begin anywhere. */
export function overlapRows(paging: PagingProfile, largestPage: number): number {
  if (paging.kind !== 'offset' && paging.kind !== 'range') return 0
  return Math.min(OVERLAP_ROWS_MAX, Math.floor(largestPage * OVERLAP_SHARE))
}

/** The position so many rows before another, and not before the first. */
export function rewind(paging: PagingProfile, position: string | null, rows: number): string | null {
  if (position === null || rows === 0) return position
  const first = paging.kind === 'offset' ? paging.start : 0
  return String(Math.max(first, Number(position) - rows))
}
