/** Tells the dashboard how far goals are and where the month will end, as reports do. */
import type { Annotation, Goal, Pace } from '../domain/insight.ts'
import type { Instant } from '../domain/model.ts'
import type { Store } from '../store/db/store.ts'
import { listAnnotations } from '../store/insight/annotation.ts'
import { listNames } from '../store/insight/daily-count.ts'
import { findLastWholeRun } from '../store/sync/sync-run.ts'
import { readerOf } from './reports/judge-numbers.ts'
import { listTestedDates } from './reports/read-backtest.ts'
import { tellEnds } from './reports/tell-ends.ts'

interface Outlook {
  /** The last local date that is counted. */
  readonly lastDay: string
  readonly paces: readonly Pace[]
}

export interface OutlookReader {
  /**
   * Reads the outlook of a pipeline, or of all leads. It is told anew after each sync and each annotation.
   * @returns null if no days have been counted yet
   */
  read(pipelineId: string | null): Promise<Outlook | null>
}

export function createOutlook(deps: {
  readonly store: Pick<Store, 'db'>
  readonly timeZone: string
  readonly goals: readonly Goal[]
  readonly fiscalYearStarts: number
  readonly holidays: readonly string[]
}): OutlookReader {
  const { store, timeZone, goals, fiscalYearStarts, holidays } = deps
  let kept = { key: '', outlooks: new Map<string | null, Promise<Outlook>>() }

  async function tell(
    dates: readonly string[],
    annotations: readonly Annotation[],
    pipelineId: string | null,
  ): Promise<Outlook> {
    const pipelineIds = pipelineId === null ? null : [pipelineId]
    const paces = await tellEnds(readerOf(store, { dates, period: { timeZone }, pipelineIds }), {
      ...{ goals, fiscalYearStarts, pipelineIds, isWithMonths: true, annotations, holidays },
      names: await listNames(store.db),
    })
    return { lastDay: dates.at(-1) ?? '', paces }
  }

  return {
    async read(pipelineId) {
      const asOf: Instant | undefined = (await findLastWholeRun(store.db))?.asOf
      if (asOf === undefined) return null
      const dates = await listTestedDates(store.db, asOf, timeZone)
      if (dates.length === 0) return null
      const annotations = await listAnnotations(store.db)
      const key = JSON.stringify([asOf, dates.at(-1), annotations])
      if (kept.key !== key) kept = { key, outlooks: new Map() }
      const { outlooks } = kept
      const told = outlooks.get(pipelineId) ?? tell(dates, annotations, pipelineId)
      outlooks.set(pipelineId, told)
      told.catch(() => outlooks.delete(pipelineId))
      return told
    },
  }
}
