/**
 * `leadsheet figures backtest`: tests on past days how often the claims of reports, such as usual ranges and
 * forecasts, were right.
 */
import type { Command } from 'commander'
import { openDataIfThere } from '../../../app/installation.ts'
import type { PublishedRecord } from '../../../domain/insight.ts'
import {
  type Backtest,
  type EndTest,
  type RangeTest,
  type RateTest,
  SCALES,
} from '../../../insight/backtest.ts'
import { WINDOWS_MIN } from '../../../insight/record.ts'
import { DECIDED_MIN, RATE_DAYS } from '../../../insight/win-rate.ts'
import { readBacktest, type TestedRecord } from '../../../jobs/insight/read-backtest.ts'
import { isRecordTrusted, meantOf } from '../../../jobs/insight/track-record.ts'
import type { TestedShare } from '../../../jobs/insight/winner-shares.ts'
import { listPipelines } from '../../../store/figures/report-figures.ts'
import { addExamples, collect } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { requireData, requirePipeline } from './figure-scope.ts'

interface Options {
  readonly pipeline?: readonly string[]
}

const PER_YEAR = { day: 365, week: 52, month: 12 } as const
const NEEDED_OF = {
  day: 'of each weekday',
  week: 'weeks',
  month: 'months of the same place in a quarter',
} as const
const ENOUGH_DECIDED = `${DECIDED_MIN} won and lost leads within ${RATE_DAYS} days`

export function defineBacktest(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('backtest')
    .description('test on past days how often the claims of reports were right')
    .option('--pipeline <id>', 'only leads of this pipeline; may be repeated', collect)
  command.action((options: Options) => runBacktest(terminal, options))
  addExamples(command, ['figures backtest', 'figures backtest --pipeline pl_01 --json'])
}

async function runBacktest(terminal: Terminal, { pipeline }: Options): Promise<void> {
  const config = await terminal.dataConfig('time_zone')
  await using store = await openDataIfThere(config)
  const asOf = await requireData(store.db)
  const pipelines = await listPipelines(store.db)
  for (const id of pipeline ?? []) requirePipeline(id, pipelines)
  const { timeZone, holidays, weekStarts } = config
  const request = { asOf, timeZone, holidays, weekStarts, pipelineIds: pipeline ?? null }
  const tested = await readBacktest(store, request, new Date())
  if (terminal.json) return printJson(terminal, tested, timeZone)
  await printRanges(terminal, tested)
  terminal.print('')
  await printEnds(terminal, tested)
  if (tested.published.length > 0) {
    terminal.print('')
    await printPublished(terminal, tested, pipelines)
  }
  if (tested.shares.some(({ dates }) => dates > 0)) {
    terminal.print('')
    await printShares(terminal, tested)
  }
  for (const note of notesOf(tested, timeZone)) terminal.note(note)
}

interface RangeRow extends Pick<RangeTest, 'judged' | 'hits95' | 'hits80'> {
  readonly figure: string
  readonly of: string
  readonly each: string
  readonly claimsAYear: number | null
  readonly shown: string
}

async function printRanges(terminal: Terminal, { ranges, winRates, wonValues }: Backtest): Promise<void> {
  await terminal.printTable<RangeRow>(
    [
      { title: 'FIGURE', value: ({ figure }) => figure, isWhole: true },
      { title: 'OF', value: ({ of }) => of },
      { title: 'EACH', value: ({ each }) => each, isWhole: true },
      { title: 'JUDGED', value: ({ judged }) => judged },
      { title: '95% HITS', value: ({ hits95, judged }) => percent(hits95, judged), isWhole: true },
      { title: '80% HITS', value: ({ hits80, judged }) => percent(hits80, judged), isWhole: true },
      { title: 'CLAIMS A YEAR', value: ({ claimsAYear }) => decimal(claimsAYear) },
      { title: 'SHOWN', value: ({ shown }) => shown, isWhole: true },
    ],
    [
      ...ranges
        .filter((row) => isPartlyKnown(row.scale, ranges))
        .map((row) => ({
          ...{ ...row, of: row.pipeline?.name ?? 'ALL', each: row.scale },
          ...{ claimsAYear: aYear(row.claims, row), shown: shownOf(row, neededOf(row)) },
        })),
      ...winRates.filter(({ judged }) => judged > 0).map(rowOfRate),
      ...wonValues
        .filter(({ judged }) => judged > 0)
        .map(({ currency, scale, shown, periods, ...counts }) => ({
          ...{ ...counts, figure: 'won_value', of: `ALL, ${currency}`, each: scale, claimsAYear: null },
          shown: shownOf({ shown }, `${periods.needed} days (${periods.known} so far)`),
        })),
    ],
  )
}

function rowOfRate(winRate: RateTest): RangeRow {
  const { known, needed } = winRate.periods
  return {
    ...{ ...winRate, figure: 'win_rate', of: winRate.pipeline?.name ?? 'ALL', each: `${RATE_DAYS} days` },
    claimsAYear: claimsOfRate(winRate),
    shown: known < needed ? shownOf(winRate, neededOfRate(winRate)) : shownOf(winRate, ENOUGH_DECIDED),
  }
}

function claimsOfRate({ claimDays }: RateTest): number | null {
  return claimDays && aYear(claimDays.withClaims, { scale: 'day', judged: claimDays.judged })
}

function neededOfRate({ periods: { known, needed } }: RateTest): string {
  return `${needed} windows of ${RATE_DAYS} days (${known} so far)`
}

/** Returns true if a usual range is known for any series at this scale (day, week or month). */
function isPartlyKnown(scale: RangeTest['scale'], ranges: readonly RangeTest[]): boolean {
  return ranges.some((row) => row.scale === scale && (row.judged > 0 || row.shown !== 'learning'))
}

async function printEnds(terminal: Terminal, { ends }: Backtest): Promise<void> {
  const error =
    (method: 'forecast' | 'line' | 'trailing') =>
    ({ errors }: EndTest) =>
      errors && `${(100 * errors[method]).toFixed(1)}%`
  await terminal.printTable<EndTest>(
    [
      { title: 'END OF MONTH', value: ({ figure }) => figure, isWhole: true },
      { title: 'FORECASTS', value: ({ ranges }) => ranges.of },
      { title: '80% HITS', value: ({ ranges }) => percent(ranges.hits, ranges.of), isWhole: true },
      { title: 'ERROR AT DAY 10', value: error('forecast'), isWhole: true },
      { title: 'STRAIGHT LINE', value: error('line'), isWhole: true },
      { title: 'LAST 28 DAYS', value: error('trailing'), isWhole: true },
      {
        title: 'SHOWN',
        value: ({ shown }) =>
          ({
            printed: 'printed',
            withheld: 'withheld: ranges of earlier months held too rarely or too often',
            learning: 'not yet: too few months, or their ranges failed',
          })[shown],
        isWhole: true,
      },
    ],
    ends,
  )
}

async function printPublished(
  terminal: Terminal,
  { published }: TestedRecord,
  pipelines: readonly { readonly id: string; readonly name: string | null }[],
): Promise<void> {
  const nameOf = (id: string) => pipelines.find((each) => each.id === id)?.name ?? id
  await terminal.printTable<PublishedRecord>(
    [
      { title: 'AS PUBLISHED', value: ({ figure }) => figure, isWhole: true },
      {
        title: 'OF',
        value: ({ pipelineIds, currency }) =>
          [...(pipelineIds?.map(nameOf) ?? ['ALL']), ...(currency === '' ? [] : [currency])].join(', '),
      },
      { title: 'RANGE OF', value: ({ kind }) => kind.replace('_', ' '), isWhole: true },
      { title: 'RANGES', value: ({ of }) => of },
      { title: 'HITS', value: ({ hits }) => hits },
      { title: 'SHARE', value: ({ hits, of }) => percent(hits, of), isWhole: true },
      { title: 'MEANT', value: ({ kind }) => percent(meantOf(kind), 1), isWhole: true },
      {
        title: 'SHOWN',
        value: (each) => (isRecordTrusted(each) ? 'as above' : 'withheld: published ranges held too rarely'),
        isWhole: true,
      },
    ],
    published,
  )
}

async function printShares(terminal: Terminal, { shares }: TestedRecord): Promise<void> {
  await terminal.printTable<TestedShare>(
    [
      { title: 'LATER WINNERS', value: ({ status }) => status ?? 'age', isWhole: true },
      { title: 'BEYOND', value: ({ share }) => `${100 * share}%`, isWhole: true },
      { title: 'DATES', value: ({ dates }) => dates },
      { title: 'CAME TRUE', value: ({ hits, dates }) => percent(hits, dates), isWhole: true },
      {
        title: 'SHOWN',
        value: ({ shown, dates }) =>
          shown === 'withheld'
            ? 'withheld: came true too rarely'
            : shown === 'learning'
              ? 'not yet: too few winners, or leads known for too short a time'
              : dates < WINDOWS_MIN
                ? `printed; fewer than ${WINDOWS_MIN} dates say little`
                : 'printed',
        isWhole: true,
      },
    ],
    shares,
  )
}

function notesOf({ from, to, leftOut, ranges, winRates, reports }: Backtest, timeZone: string): string[] {
  const days = reports.find(({ scale }) => scale === 'day')
  if (from === null || to === null) return ['There are no whole days with leads yet.']
  const unknown = SCALES.flatMap((scale) => ranges.find((row) => row.scale === scale) ?? []).filter(
    ({ scale }) => !isPartlyKnown(scale, ranges),
  )
  return [
    ...unknown.map((row) => `Usual ranges of a ${row.scale} begin after ${neededOf(row)}.`),
    ...winRates
      .filter(({ pipeline, judged }) => pipeline === null && judged === 0)
      .map((winRate) => `The usual range of the win rate begins after ${neededOfRate(winRate)}.`),
    `${from} to ${to}, in ${timeZone}; each claim is made by the numbers before its day.`,
    ...leftOutText(leftOut),
    ...(days === undefined || days.judged === 0
      ? []
      : [
          `A daily report would have called something unusual on ${days.withClaims} of ${days.judged} days (${decimal(aYear(days.withClaims, days))} a year). Such a claim may be true: real numbers do change.`,
        ]),
  ]
}

function leftOutText({ holidays, annotated }: Backtest['leftOut']): string[] {
  const counted = [
    ...(annotated > 0 ? [`${annotated} annotated ${annotated === 1 ? 'day' : 'days'}`] : []),
    ...(holidays > 0 ? [`${holidays} ${holidays === 1 ? 'holiday' : 'holidays'}`] : []),
  ]
  return counted.length === 0 ? [] : [`Left out: ${counted.join(' and ')}.`]
}

function shownOf({ shown }: Pick<RangeTest, 'shown'>, needed: string): string {
  switch (shown) {
    case 'printed':
      return 'printed'
    case 'withheld':
      return 'withheld: ranges held too rarely'
    case 'learning':
      return `not yet: begins after ${needed}`
  }
}

function neededOf({ scale, periods: { known, needed } }: Pick<RangeTest, 'scale' | 'periods'>): string {
  return `${needed} ${NEEDED_OF[scale]} (${known} so far)`
}

/** Converts a count in the judged periods to a count per year; null if no period was judged. */
function aYear(times: number, { scale, judged }: Pick<RangeTest, 'scale' | 'judged'>): number | null {
  return judged === 0 ? null : (times / judged) * PER_YEAR[scale]
}

function percent(part: number, whole: number): string | null {
  return whole === 0 ? null : `${((100 * part) / whole).toFixed(1)}%`
}

function decimal(value: number | null): string | null {
  return value === null ? null : value.toFixed(1)
}

function printJson(
  terminal: Terminal,
  { from, to, leftOut, ranges, winRates, wonValues, reports, ends, published, shares }: TestedRecord,
  timeZone: string,
): void {
  terminal.printJson('figures backtest', {
    ...{ from, to, time_zone: timeZone, left_out: leftOut },
    ranges: ranges.map(({ figure, pipeline, scale, judged, hits95, hits80, claims, shown, periods }) => ({
      ...{ figure, pipeline_id: pipeline?.id ?? null, each: scale, judged, hits_95: hits95, hits_80: hits80 },
      ...{ claims, claims_a_year: aYear(claims, { scale, judged }), shown, periods },
    })),
    win_rates: winRates.map((winRate) => ({
      pipeline_id: winRate.pipeline?.id ?? null,
      ...{ judged: winRate.judged, hits_95: winRate.hits95, hits_80: winRate.hits80 },
      ...{ days: winRate.claimDays?.judged ?? null, days_with_claims: winRate.claimDays?.withClaims ?? null },
      claims_a_year: claimsOfRate(winRate),
      ...{ shown: winRate.shown, periods: winRate.periods },
    })),
    won_values: wonValues.map(({ currency, scale, judged, hits95, hits80, shown, periods: days }) => ({
      ...{ currency, each: scale, judged, hits_95: hits95, hits_80: hits80, shown, days },
    })),
    reports: reports.map(({ scale, judged, withClaims }) => ({
      ...{ each: scale, judged, with_claims: withClaims },
      with_claims_a_year: aYear(withClaims, { scale, judged }),
    })),
    month_ends: ends.map(({ figure, ranges, notForecast, errors, shown }) => ({
      ...{ figure, forecasts: ranges.of, hits_80: ranges.hits, not_forecast: notForecast, shown },
      errors_at_day_10: errors,
    })),
    published: published.map((each) => ({
      ...{
        figure: each.figure,
        pipeline_ids: each.pipelineIds,
        currency: each.currency || null,
        range_of: each.kind,
        meant: meantOf(each.kind),
      },
      ...{ ranges: each.of, hits: each.hits, windows: each.windows.of },
      is_withheld: !isRecordTrusted(each),
    })),
    later_winners: shares.map(({ status, share, dates, hits, shown }) => ({
      ...{ status, share_beyond: share, dates, came_true: hits, shown },
    })),
  })
}
