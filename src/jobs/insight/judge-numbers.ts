/**
 * Judges the numbers of a report by the counts of earlier days. Finds which numbers are unusual and which
 * group of leads made them so, and forecasts how goals and the month will end. The win rate is judged by the
 * rates of earlier periods.
 */

import type { PeriodKind } from '../../domain/figures.ts'
import type {
  Annotation,
  CountedPipeline,
  Driver,
  DriverDimension,
  ExpectedFigure,
  Goal,
  ImportedLeads,
  Insight,
  JudgedWinRate,
  LastUnusualDays,
  YearBefore,
} from '../../domain/insight.ts'
import { EXPECTED_FIGURES, leftOutOf } from '../../domain/insight.ts'
import type { Instant, Period } from '../../domain/model.ts'
import { chooseSplit, type Group } from '../../insight/drivers.ts'
import { type Judged, judgeReport, type ReportDays } from '../../insight/expect.ts'
import { type DailyNumbers, total, weekdayOf } from '../../insight/series.ts'
import { RATE_DAYS } from '../../insight/win-rate.ts'
import { listHolidays } from '../../schedule/holidays.ts'
import type { WeekStart } from '../../schedule/zone.ts'
import type { Db, Store } from '../../store/db/store.ts'
import type { ReportRequest } from '../../store/figures/report-figures.ts'
import { listAnnotations } from '../../store/insight/annotation.ts'
import type { CountedDay, DailyCount } from '../../store/insight/daily-count.ts'
import {
  DIMENSIONS,
  listCountedDays,
  listNames,
  readDailyCounts,
  refreshDailyCounts,
} from '../../store/insight/daily-count.ts'
import { countImported, type FoundImport, findImport } from '../../store/insight/import.ts'
import { recordOutcomes } from '../../store/insight/published-range.ts'
import { dateBefore } from '../../time.ts'
import type { JobDeps } from '../job-deps.ts'
import { type DailyReader, forecastEnds, sumOf } from './forecast.ts'
import { judgeWinRate, readRates } from './judge-win-rate.ts'
import { readTrackRecord, type TrackRecord } from './track-record.ts'

/**
 * An import may be a day with at least this many new leads, and this many times those of a busy day, which one day in
 * 20 exceeds.
 */
const [IMPORT_MIN, FAR_MORE] = [50, 4]

export interface JudgedReport {
  /**
   * The regions and dates of the settings. Holidays are left out of the normal numbers, and a report about days
   * that contains a holiday is not judged.
   */
  readonly holidays: readonly string[]
  readonly weekStarts?: WeekStart
  readonly goals: readonly Goal[]
  readonly fiscalYearStarts: number
  /** The time up to which everything has been read; null if never. */
  readonly dataAsOf: Instant | null
  /** False if the data ends before the period does. The numbers of such a period are not judged. */
  readonly coversPeriod: boolean
}

type JudgedNumbers = Omit<Insight, 'backfill' | 'today' | 'oldLeads' | 'notes' | 'holidays' | 'holidayCount'>

/**
 * Judges the numbers of a report. If a report is filtered by anything besides pipelines, nothing is judged,
 * because no counts by day exist for its leads.
 * @param earlier for each number, the last day on which an earlier report called the number unusual
 */
export async function judgeNumbers(
  deps: Pick<JobDeps, 'store' | 'now'>,
  request: ReportRequest,
  { goals, fiscalYearStarts, ...report }: JudgedReport,
  earlier: LastUnusualDays,
): Promise<JudgedNumbers> {
  const nothing = {
    expectations: [],
    lastUnusual: earlier,
    drivers: [],
    winRates: [],
    pace: [],
    imports: [],
  }
  const { filter, period, kind } = request
  if (filter.conditions.length > 0) return nothing
  const days = await listCountedDays(deps.store.db, period.to, period.timeZone)
  if (days.length === 0) return nothing
  await refreshDailyCounts(deps.store, days, deps.now())
  const dates = days.map(({ date }) => date)
  await recordOutcomes(deps.store, period.timeZone, dates)
  const trackRecord = await readTrackRecord(deps.store.db, period.timeZone, dates)
  const length = dates.filter((_, index) => (days[index]?.from ?? '') >= period.from).length
  if (length === 0) return nothing
  const counts = { dates, period, pipelineIds: filter.pipelineIds }
  const imports = await findImports(
    deps.store.db,
    days,
    await readerOf(deps.store, counts).read('new_leads', 'source'),
  )
  const reader = readerOf(deps.store, { ...counts, imports })
  const names = await listNames(deps.store.db)
  const annotations = await listAnnotations(deps.store.db)
  // A year ahead, because forecasts of fiscal years know their coming holidays.
  const ahead = dateBefore(dates.at(-1) ?? '', -366)
  const holidays = listHolidays(report.holidays, dates[0] ?? '', ahead, ['en']).map(({ day }) => day)
  const leftOut = { annotations, holidays, pipelineIds: filter.pipelineIds, trackRecord }
  // The numbers of a holiday are not judged, because a holiday is unlike the same weekday of other weeks.
  const isByDay = kind !== 'week' && kind !== 'month' && kind !== 'quarter'
  const isHoliday = isByDay && dates.slice(-length).some((date) => holidays.includes(date))
  const isJudged = report.coversPeriod && !isHoliday
  const numbers = !isJudged ? [] : await readNumbers(reader, names, leftOut)
  const [rateDays, ...ofPipelines] = await readRates(
    reader,
    names,
    // The last 30 days are never left out, because the report's own win rate covers them.
    (pipeline) =>
      daysLeftOut(dates, pipeline, leftOut).map((is, day) => is && day < dates.length - RATE_DAYS),
    (pipeline) => trackRecord.distrusted('win_rate', pipelinesOf(pipeline, leftOut)).length > 0,
  )
  const rate = judgeWinRate(rateDays)
  const isLeftOut = daysLeftOut(dates, null, leftOut)
  const { judged, isRateUnusual, ...judgement } = judgeReport(
    { kind, dates, length, longer: longerPeriod(kind, dates, report.weekStarts) },
    numbers,
    isJudged ? rate.probability : null,
    earlier,
  )
  const expectations = judged
    .map(({ expectation }) => expectation)
    .sort((one, other) => Number(one.pipeline !== null) - Number(other.pipeline !== null))
  return {
    expectations,
    yearBefore: yearBeforeOf(kind, days.slice(-length), days, numbers),
    lastUnusual: judgement.lastUnusual,
    publishedRecord: trackRecord.sumOf(kind, filter.pipelineIds, [...expectations, rate.judged]),
    drivers: await findDrivers(reader, judged, {
      names,
      pipelineIds: filter.pipelineIds,
      isLeftOut,
    }),
    winRates: [
      isRateUnusual ? { ...rate.judged, judgement: directionOf(rate.judged) } : rate.judged,
      ...ofPipelines.map((each) => judgeWinRate(each).judged),
    ],
    pace: await forecastEnds(reader, {
      goals,
      fiscalYearStarts,
      names,
      ...leftOut,
      isWithMonths: kind !== 'month' && kind !== 'quarter',
    }),
    imports: await countImports(deps.store.db, imports, filter.pipelineIds),
  }
}

/** Returns the counts of the same month or quarter one year before; null if not all its days are known. */
function yearBeforeOf(
  kind: PeriodKind,
  period: readonly CountedDay[],
  days: readonly CountedDay[],
  numbers: readonly DailyNumbers[],
): YearBefore | null {
  if (kind !== 'month' && kind !== 'quarter') return null
  const [from, to] = [period[0], period.at(-1)].map((day) => {
    const [year = '', month = ''] = day?.date.split('-') ?? []
    return `${Number(year) - 1}-${month}`
  })
  const [first, last] = [
    days.findIndex(({ date }) => date.slice(0, 7) === from),
    days.findLastIndex(({ date }) => date.slice(0, 7) === to),
  ]
  const [begin, end] = [days[first], days[last]]
  if (begin === undefined || end === undefined || !begin.date.endsWith('-01')) return null
  const countOf = (figure: ExpectedFigure) => {
    const values = numbers.find((each) => each.figure === figure && each.pipeline === null)?.values ?? []
    return total(values.slice(first, last + 1))
  }
  return { period: { ...begin, to: end.to }, newLeads: countOf('new_leads'), won: countOf('won') }
}

/**
 * Finds the week, or else the month, that ended with the last date or the day before. Its report was made on the same
 * morning, or will be, or was made the day before.
 */
export function longerPeriod(
  kind: PeriodKind,
  dates: readonly string[],
  weekStarts: WeekStart = 'monday',
): ReportDays | undefined {
  if (kind === 'month' || kind === 'quarter') return undefined
  const firstWeekday = weekStarts === 'monday' ? 0 : 6
  for (const ended of [dates, dates.slice(0, -1)]) {
    const last = ended.at(-1)
    if (last === undefined) continue
    const next = dateBefore(last, -1)
    if (kind !== 'week' && weekdayOf(next) === firstWeekday)
      return { kind: 'week', dates: ended, length: 7, longer: longerPeriod('week', ended, weekStarts) }
    if (next.endsWith('-01')) return { kind: 'month', dates: ended, length: Number(last.slice(8)) }
  }
  return undefined
}

function directionOf({ won, decided, expected }: JudgedWinRate): 'high' | 'low' {
  return won > decided * (expected ?? 0) ? 'high' : 'low'
}

/**
 * The facts that decide what is left out. Annotations and holidays decide which days are left out when the
 * normal numbers are computed. The track record decides which kinds of ranges are not shown, because they were
 * wrong too often.
 */
interface LeftOut {
  readonly annotations: readonly Annotation[]
  readonly holidays: readonly string[]
  readonly pipelineIds: readonly string[] | null
  readonly trackRecord: TrackRecord
}

function pipelinesOf(
  pipeline: CountedPipeline,
  { pipelineIds }: Pick<LeftOut, 'pipelineIds'>,
): readonly string[] | null {
  return pipeline === null ? pipelineIds : [pipeline.id]
}

/** @param pipeline null for all leads of the report */
function daysLeftOut(dates: readonly string[], pipeline: CountedPipeline, leftOut: LeftOut): boolean[] {
  const annotated = leftOutOf(dates, leftOut.annotations, pipelinesOf(pipeline, leftOut))
  return annotated.map((is, day) => is || leftOut.holidays.includes(dates[day] ?? ''))
}

/** Reads the numbers of all leads, then, if there are several, of each pipeline. */
async function readNumbers(
  reader: DailyReader,
  names: ReadonlyMap<string, string>,
  leftOut: LeftOut,
): Promise<DailyNumbers[]> {
  const { dates } = reader
  const numbers: DailyNumbers[] = []
  for (const figure of EXPECTED_FIGURES) {
    const byPipeline = await reader.read(figure, 'pipeline_id')
    const add = (pipeline: CountedPipeline, values: readonly number[]) =>
      numbers.push({
        figure,
        pipeline,
        values,
        isLeftOut: daysLeftOut(dates, pipeline, leftOut),
        isExplained: leftOutOf(dates, leftOut.annotations, pipelinesOf(pipeline, leftOut)),
        distrusted: leftOut.trackRecord.distrusted(figure, pipelinesOf(pipeline, leftOut)),
      })
    add(null, sumOf([...byPipeline.values()], dates.length))
    if (byPipeline.size < 2) continue
    for (const [id, values] of [...byPipeline].sort(([one], [other]) => (one < other ? -1 : 1)))
      add({ id, name: names.get(id) ?? id }, values)
  }
  return numbers
}

/** Finds the days with far more new leads than others whose leads were created at one time. */
async function findImports(
  db: Db,
  days: readonly CountedDay[],
  bySource: ReadonlyMap<string, readonly number[]>,
): Promise<FoundImport[]> {
  const totals = sumOf([...bySource.values()], days.length)
  const normal = totals.toSorted((one, other) => one - other)[Math.floor(0.95 * (totals.length - 1))] ?? 0
  const found: FoundImport[] = []
  for (const [index, day] of days.entries()) {
    if ((totals[index] ?? 0) < Math.max(IMPORT_MIN, FAR_MORE * normal)) continue
    const imported = await findImport(db, day)
    if (imported !== null) found.push(imported)
  }
  return found
}

/** Counts the leads of imports in the pipelines of a report. */
async function countImports(
  db: Db,
  imports: readonly FoundImport[],
  pipelineIds: readonly string[] | null,
): Promise<ImportedLeads[]> {
  const counted: ImportedLeads[] = []
  for (const each of imports) {
    const members = [...(await countImported(db, each, 'pipeline_id'))]
    const own = members.filter(([id]) => pipelineIds === null || pipelineIds.includes(id))
    const leads = own.reduce((sum, [, count]) => sum + count, 0)
    if (leads > 0) counted.push({ day: each.day, leads, source: each.source })
  }
  return counted
}

function readerOf(
  store: Pick<Store, 'db'>,
  of: {
    dates: readonly string[]
    period: Pick<Period, 'timeZone'>
    pipelineIds: readonly string[] | null
    /** The leads that do not count. */
    imports?: readonly FoundImport[]
  },
): DailyReader {
  const { dates, period, pipelineIds, imports = [] } = of
  const places = new Map(dates.map((date, index) => [date, index]))
  const known = new Map<string, ReadonlyMap<string, number[]>>()
  return {
    dates,
    async read(figure, dimension, currency = '') {
      const key = `${figure} ${dimension} ${currency}`
      const before = known.get(key)
      if (before !== undefined) return before
      const rows = await readDailyCounts(
        store.db,
        { timeZone: period.timeZone, figure, dimension },
        dates[0] ?? '',
        dates.at(-1) ?? '',
      )
      const members = new Map<string, number[]>()
      const isWanted = (row: DailyCount) =>
        row.currency === currency &&
        (dimension !== 'pipeline_id' || pipelineIds === null || pipelineIds.includes(row.member))
      for (const row of rows.filter(isWanted)) {
        const numbers = members.get(row.member) ?? new Array<number>(dates.length).fill(0)
        members.set(row.member, numbers)
        const place = places.get(row.day)
        if (place !== undefined) numbers[place] = (numbers[place] ?? 0) + row.value
      }
      for (const each of figure === 'new_leads' ? imports : []) {
        const place = places.get(each.day) ?? 0
        for (const [member, leads] of await countImported(store.db, each, dimension)) {
          const numbers = members.get(member)
          if (numbers) numbers[place] = Math.max(0, (numbers[place] ?? 0) - leads)
        }
      }
      known.set(key, members)
      return members
    },
  }
}

/**
 * Splits each unusual number of all leads by the dimension (such as pipeline or agent) whose members differ
 * most from normal. A report of some pipelines is split by pipeline only, because the counts by other
 * dimensions cover all pipelines.
 */
async function findDrivers(
  reader: DailyReader,
  judged: readonly Judged[],
  of: {
    names: ReadonlyMap<string, string>
    pipelineIds: readonly string[] | null
    /** For each day, true if the day was left out when the numbers were judged. */
    isLeftOut: readonly boolean[]
  },
): Promise<Driver[]> {
  const { names, pipelineIds, isLeftOut } = of
  const drivers: Driver[] = []
  for (const { expectation, days, recentDays, expected, overdispersion, leftOut } of judged) {
    const { figure, pipeline, judgement, shift } = expectation
    if (pipeline !== null || (judgement !== 'high' && judgement !== 'low' && shift === null)) continue
    const groups: Group<DriverDimension>[] = []
    for (const name of pipelineIds === null ? DIMENSIONS : (['pipeline_id'] as const)) {
      const members = [...(await reader.read(figure, name))].map(([member, numbers]) => ({
        name: member,
        numbers: numbers.map((value, index) => (isLeftOut[index] ? 0 : value)),
      }))
      groups.push({ name, members })
    }
    const split = chooseSplit(groups, { days, recentDays, expected, overdispersion })
    if (split === null) continue
    const { group: dimension, rest } = split
    const [actual, normal] = [split.actual + leftOut, Math.round(expected) + leftOut]
    const parts = split.parts.map((part) => ({ ...part, name: nameOf(part.name, dimension, names) }))
    drivers.push({ figure, actual, expected: normal, dimension, parts, rest })
  }
  return drivers
}

function nameOf(
  member: string,
  dimension: DriverDimension,
  names: ReadonlyMap<string, string>,
): string | null {
  if (member === '') return null
  return dimension === 'pipeline_id' || dimension === 'agent_id' ? (names.get(member) ?? member) : member
}
