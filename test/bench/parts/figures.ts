/**
 * The time of all figures of a report, over leads with 3 moves each. They are read once to warm the cache,
 * and then timed.
 */
import { join } from 'node:path'
import type { PeriodKind } from '../../../src/domain/figures.ts'
import { daysUpTo, periodOf, priorOf } from '../../../src/domain/period.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { openStore } from '../../../src/store/open.ts'
import { generateHistory, NOW } from '../history.ts'
import { addTimes, type Part } from '../measurement.ts'
import { newFolder } from '../programs.ts'
import { timeOf } from '../step.ts'

const A_YEAR_AGO = new Date('2025-11-21T07:00:00Z')
const ZONE = 'Europe/Berlin'

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
      await readAll(kind, at)
      for (let round = 0; round < rounds; round++)
        addTimes(add, `figures ${name}`, most, await timeOf(() => readAll(kind, at)))
    }
    return null

    async function readAll(kind: PeriodKind, at: Date): Promise<void> {
      const period = periodOf(kind, at, ZONE, { holidays: [], lastEnd: null })
      await readReportFigures(store.db, {
        kind,
        period,
        prior: priorOf(kind, period),
        filter: EVERY_LEAD,
        topScore: 80,
        stalledDays: 7,
        rowsMax: 10,
        since: { at: period.from, knownAt: period.to },
        trendDays: daysUpTo(period.to, 96, ZONE),
      })
    }
  },
}
