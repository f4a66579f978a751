/** A page of the lead list as it was read, and the function that reads one. */
import type { FindUnchanged, RawRecord } from '../mapping/raw-record.ts'
import type { LeadFilters } from './paging.ts'

/** `next` is null on the last page. */
export interface RawPage {
  readonly records: readonly RawRecord[]
  readonly next: string | null
  readonly total: number | null
  /** Tells whether the answer says explicitly that more records follow; null if it does not say. */
  readonly saysMore?: boolean | null
  /** The words by which the answer says that its records are only a part of the page; null if it does not say so. */
  readonly partialSign?: string | null
  /** Set if the list is read as a chain of searches by time. */
  readonly chain?: ChainLink
}

export interface ListOptions {
  readonly signal?: AbortSignal
  /** Looks up records whose fingerprint (hash) is stored. If absent, every record is parsed. */
  readonly findUnchanged?: FindUnchanged | undefined
}

export type ReadPage = (
  filters: LeadFilters,
  position: string | null,
  size: number,
  options?: ListOptions,
) => Promise<RawPage>

/** The facts of a page about its chain of searches. */
interface ChainLink {
  /** Tells whether the page is the first one of its search. */
  readonly isFirst: boolean
  /** Tells whether its search has several pages, so that a change of a record may hide another one. */
  readonly isDeep: boolean
  /** Tells whether a search before had several pages. */
  readonly wasDeep: boolean
  /** Tells whether the search begins behind the records that must come again, so that some may be left out. */
  readonly isBroken: boolean
}
