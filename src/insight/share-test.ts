/**
 * Tests the shares of winners that reports print: of the leads won next, 1 % are older than a lost lead, and 5 % stay
 * longer in a stage than its threshold.
 */
import { isTrusted, type Shown, WINDOWS_MIN } from './record.ts'
import { binomialOf } from './win-rate.ts'

/** A share holds on a date if the number of later winners beyond it lies in its interval of 90 %. */
const TAIL = 0.05
/** The share of dates on which a printed share must hold. */
export const DATES_MEANT = 0.85

/** The number of later winners of a test date, and the number of those beyond the threshold. */
export interface TestedDate {
  readonly winners: number
  readonly longer: number
}

/** A count of the dates on which a share held. */
export interface ShareTest {
  readonly dates: number
  readonly hits: number
  /** Tells whether the dates do not speak against the share. */
  readonly isTrusted: boolean
}

/** Counts the dates on which a share held. A date without later winners says nothing. */
export function testShare(share: number, tested: readonly TestedDate[]): ShareTest {
  const judged = tested.filter(({ winners }) => winners > 0)
  const hits = judged.filter((date) => isWithinInterval(share, date)).length
  const record = { hits, of: judged.length }
  return { dates: judged.length, hits, isTrusted: isTrusted(record, WINDOWS_MIN, DATES_MEANT) }
}

/** Returns whether, by the share, a count this small and a count this large each have a chance of more than 5 %. */
function isWithinInterval(share: number, { winners, longer }: TestedDate): boolean {
  const { upTo } = binomialOf(winners, share)
  return upTo(longer) > TAIL && 1 - upTo(longer - 1) > TAIL
}

/** @param isKnown tells whether there are enough winners for a threshold now */
export function shownOf({ isTrusted }: ShareTest, isKnown: boolean): Shown {
  return !isTrusted ? 'withheld' : isKnown ? 'printed' : 'learning'
}
