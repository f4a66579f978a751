/** Of when the counts of a page are, and what is said where there are none, or newer ones are on their way. */
import type { KeptOverview } from '../../jobs/overview.ts'
import type { Clock, Moment } from './moment.ts'

/** What `{{> window-counting}}` shows, which links to `here`. */
export interface CountingView {
  readonly here: string
  readonly asOf: Moment | null
  readonly ago: Moment | null
  /** Up to when leads have been read that are not counted yet. */
  readonly newer: Moment | null
  readonly failure: string | null
  /** There is nothing to see: nothing was read, or it is being counted for the first time. */
  readonly isMissing: boolean
  readonly isUnread: boolean
}

/** @param here the path of the page */
export function countingOf(kept: KeptOverview, here: string, clock: Clock): CountingView {
  const { overview, dataAsOf, isBeingCounted, failure } = kept
  return {
    here,
    asOf: overview && clock.at(overview.asOf),
    ago: overview && clock.ago(overview.asOf),
    newer: overview !== null && isBeingCounted && dataAsOf !== null ? clock.at(dataAsOf) : null,
    failure,
    isMissing: overview === null && failure === null,
    isUnread: dataAsOf === null,
  }
}
