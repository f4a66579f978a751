/**
 * How long figures take: `npx node test/bench/figures.ts [leads] [seed]`, by default 1,000,000 leads with 3 moves
 * each over two years, in a file under the temporary folder that the next run with the same numbers uses again.
 * Each figure is read once to warm the cache, then timed: the median of five.
 */
import type { LeadFilter, PeriodKind } from '../../src/domain/figures.ts'
import { dayBefore, daysUpTo, periodOf, periodsUpTo, priorOf } from '../../src/domain/period.ts'
import { FIGURES } from '../../src/store/figures/definition.ts'
import { EVERY_LEAD } from '../../src/store/figures/lead-filter.ts'
import { readFigure } from '../../src/store/figures/query.ts'
import { readReportFigures } from '../../src/store/figures/report-figures.ts'
import { openStore } from '../../src/store/open.ts'
import { generateHistory, NOW } from './history.ts'

const A_YEAR_AGO = new Date('2025-11-21T07:00:00Z')
const ZONE = 'Europe/Berlin'
const ROUNDS = 5

const leads = Number(process.argv[2] ?? 1_000_000)
const seed = Number(process.argv[3] ?? 1)
const file = await generateHistory(leads, seed)
await using store = await openStore(file, NOW)
const period = dayBefore(NOW, ZONE)
const GERMAN: LeadFilter = {
  pipelineIds: null,
  conditions: [{ field: 'company_country', in: ['Country 3'] }],
}
const GOOD: LeadFilter = {
  pipelineIds: ['pl_0', 'pl_1'],
  conditions: [{ field: 'score', min: 50, max: null }],
}
console.log(`${leads} leads, seed ${seed}; milliseconds, median of ${ROUNDS}`)
console.log(`daily report\t${await time(() => report('day'))}`)
console.log(`daily report, a year ago\t${await time(() => report('day', EVERY_LEAD, A_YEAR_AGO))}`)
console.log(`weekly report\t${await time(() => report('week'))}`)
console.log(`monthly report\t${await time(() => report('month'))}`)
console.log(`daily report, of a country\t${await time(() => report('day', GERMAN))}`)
console.log(`daily report, of good leads of some pipelines\t${await time(() => report('day', GOOD))}`)
for (const { name } of FIGURES) {
  const scope = { from: period.from, to: period.to, filter: EVERY_LEAD, stalledDays: 7, asKnownAt: null }
  console.log(`${name}\t${await time(() => readFigure(store.db, name, scope))}`)
}

async function report(kind: PeriodKind, filter = EVERY_LEAD, at = NOW): Promise<void> {
  const period = periodOf(kind, at, ZONE, { holidays: [], lastEnd: null })
  await readReportFigures(store.db, {
    kind,
    period,
    prior: priorOf(kind, period),
    filter,
    topScore: 80,
    stalledDays: 7,
    rowsMax: 10,
    since: { at: period.from, knownAt: period.to },
    sparkPeriods: periodsUpTo(kind, period),
    trendDays: daysUpTo(period.to, 96, ZONE),
    asKnownAt: null,
  })
}

async function time(work: () => Promise<unknown>): Promise<string> {
  await work()
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return (times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0).toFixed(1)
}
