/**
 * The time of all figures of a report, over leads with 3 moves each. They are read once to warm the cache,
 * and then timed.
 */
import { join } from 'node:path'
import type { PeriodKind } from '../../../src/domain/figures.ts'
import { daysUpTo, periodOf, priorOf } from '../../../src/domain/period.ts'
import { tryInsight } from '../../../src/jobs/insight/report-insight.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { type ReportRequest, readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { openStore } from '../../../src/store/open.ts'
import { generateHistory, NOW } from '../history.ts'
import { addTimes, type Part } from '../measurement.ts'
import { newFolder } from '../programs.ts'
import { timeOf } from '../step.ts'

const A_YEAR_AGO = new Date('2025-11-21T07:00:00Z')
const ZONE = 'Europe/Berlin'
/** The facts that the usual ranges of a report need besides its figures. */
const JUDGED = {
  holidays: [],
  goals: [],
  fiscalYearStarts: 1,
  dataAsOf: NOW.toISOString(),
  coversPeriod: true,
}

const REPORTS = [
  { name: 'daily', kind: 'day', at: NOW },
  { name: 'year ago', kind: 'day', at: A_YEAR_AGO },
  { name: 'weekly', kind: 'week', at: NOW },
  { name: 'monthly', kind: 'month', at: NOW },
] as const

export const FIGURES: Part = {
  subjects: ['figures'],
  async measure({ most, rounds }, add) {
    process.stderr.write(`figures of ${most} leads\n`)
    await using folder = await newFolder()
    const file = join(folder.path, 'leadsheet.db')
    await generateHistory(file, most)
    await using store = await openStore(file, NOW)
    for (const { name, kind, at } of REPORTS) {
      await measureReading(name, () => readReportFigures(store.db, requestOf(kind, at)))
    }
    await measureReading('ranges', async () => {
      const { failed } = await tryInsight({ store, now: () => NOW }, requestOf('day', NOW), null, JUDGED)
      for (const { message } of failed) throw new Error(`usual ranges: ${message}`)
    })
    return null

    async function measureReading(name: string, read: () => Promise<unknown>): Promise<void> {
      await read()
      for (let round = 0; round < rounds; round++) addTimes(add, `figures ${name}`, most, await timeOf(read))
    }
  },
}

function requestOf(kind: PeriodKind, at: Date): ReportRequest {
  const period = periodOf(kind, at, ZONE, { holidays: [], lastEnd: null })
  return {
    kind,
    period,
    prior: priorOf(kind, period),
    filter: EVERY_LEAD,
    topScore: 80,
    stalledDays: 7,
    rowsMax: 10,
    since: { at: period.from, knownAt: period.to },
    trendDays: daysUpTo(period.to, 96, ZONE),
  }
}
