/** Stores ranges as if reports had published them. */
import type { RangeKind } from '../../../src/domain/insight.ts'
import type { Store } from '../../../src/store/db/store.ts'

const DAY_MS = 86_400_000

interface Published {
  readonly kind: RangeKind
  readonly figure: string
  /** How many of the ranges held, and how many there are. */
  readonly hits: number
  readonly of: number
  /** JSON: list of pipelines; all by default. */
  readonly pipelines?: string
}

/**
 * Stores a range of each day before a date, or of each thirtieth day for other ranges than those of days. The
 * first ones held.
 */
export async function publishRanges(
  store: Store,
  { before, timeZone }: { before: string; timeZone: string },
  { kind, figure, hits, of, pipelines = '' }: Published,
): Promise<void> {
  const rows = Array.from({ length: of }, (_, index) => {
    const ago = (index + 1) * (kind === 'day' ? 1 : 30) * DAY_MS
    const last_day = new Date(Date.parse(before) - ago).toISOString().slice(0, 10)
    return {
      time_zone: timeZone,
      kind,
      figure,
      pipelines,
      time_window: last_day,
      as_of_day: last_day,
      first_day: last_day,
      last_day,
      low: 1,
      high: 5,
      actual: index < hits ? 3 : 9,
      issue_id: 'before',
    }
  })
  await store.write((trx) => trx.insertInto('published_range').values(rows).execute())
}
