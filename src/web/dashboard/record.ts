/** The record page: how often the claims of reports, such as "unusual", were right on past days. */
import type { KeptRecord, RecordKeeper } from '../../jobs/insight/read-backtest.ts'
import { isRecordTrusted, meantOf } from '../../jobs/insight/track-record.ts'
import { counted } from '../../report/words/numbers.ts'
import { listNames } from '../../store/insight/daily-count.ts'
import { count, NONE } from '../server/format.ts'
import { type DashboardDeps, frameOf } from '../server/frame.ts'
import { type AddRoutes, sendPage } from '../server/server.ts'

interface RecordDeps extends DashboardDeps {
  readonly record: RecordKeeper
}

type Tested = NonNullable<KeptRecord['record']>
type RangeTest = Tested['ranges'][number]
type RateTest = Tested['winRates'][number]
type Day = Tested['lastDays'][number][number]

const PATH = '/record'
const HEIGHT = 100
const PER_YEAR = { day: 365, week: 52, month: 12 } as const
const FIGURES = { new_leads: 'New leads', won: 'Won' } as const
const RECORD_FIGURES = { ...FIGURES, lost: 'Lost', won_value: 'Won value', win_rate: 'Win rate' } as const
const SHOWN = { printed: 'printed', withheld: 'withheld', learning: 'not yet' } as const

export function recordRoutes({ pages, store, record }: RecordDeps): AddRoutes {
  const page = pages.page('record')
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const { record: tested, failure } = await record.read()
      const isTested = tested !== null && tested.from !== null
      const view = { failure, tested: isTested ? composeRecord(tested, await listNames(store.db)) : null }
      return sendPage(reply, page(view, frameOf(request, 'Record', PATH)))
    })
  }
}

function composeRecord(
  { from, to, leftOut, ranges, winRates, wonValues, reports, ends, lastDays, published, shares }: Tested,
  names: ReadonlyMap<string, string>,
) {
  const days = ranges.filter(({ scale }) => scale === 'day')
  const ofDays = reports.find(({ scale }) => scale === 'day')
  return {
    ...{ from, to },
    claims:
      ofDays === undefined || ofDays.judged === 0
        ? null
        : { days: count(ofDays.withClaims), of: count(ofDays.judged) },
    leftOut: [
      ...(leftOut.annotated > 0 ? [counted(leftOut.annotated, 'annotated day')] : []),
      ...(leftOut.holidays > 0 ? [counted(leftOut.holidays, 'holiday')] : []),
    ].join(' and '),
    charts: days.map((test, index) => ({ name: nameOf(test), ...composeChart(lastDays[index] ?? []) })),
    rows: [
      ...ranges.map((test) => ({
        ...{ name: nameOf(test), scale: test.scale, ...hitsOf(test) },
        claims: aYear(test.claims, test.judged, test.scale),
      })),
      ...winRates.map((test) => ({
        ...{ name: `Win rate, ${test.pipeline?.name ?? 'all'}`, scale: '30 days', ...hitsOf(test) },
        claims:
          test.claimDays === null ? NONE : aYear(test.claimDays.withClaims, test.claimDays.judged, 'day'),
      })),
      ...wonValues.map((test) => ({
        ...{ name: `Won value, ${test.currency}`, scale: test.scale, ...hitsOf(test), claims: NONE },
      })),
    ],
    ends: ends.map(({ figure, ranges: forecasts, errors, shown }) => ({
      ...{
        name: FIGURES[figure],
        forecasts: count(forecasts.of),
        hits: percent(forecasts.hits, forecasts.of),
      },
      ...{ error: share(errors?.forecast), line: share(errors?.line), trailing: share(errors?.trailing) },
      ...{ shown: SHOWN[shown], isPrinted: shown === 'printed' },
    })),
    shares: shares
      .filter(({ dates }) => dates > 0)
      .map(({ status, share, dates, hits, shown }) => ({
        ...{ name: status ?? 'Age of lost leads', beyond: `${100 * share}%`, dates: count(dates) },
        ...{ hits: percent(hits, dates), shown: SHOWN[shown], isPrinted: shown === 'printed' },
      })),
    published: published.map((each) => ({
      name: [RECORD_FIGURES[each.figure], ...(each.pipelineIds?.map((id) => names.get(id) ?? id) ?? ['all'])]
        .concat(each.currency === '' ? [] : [each.currency])
        .join(', '),
      ...{ kind: each.kind.replaceAll('_', ' '), ranges: count(each.of), hits: count(each.hits) },
      ...{ share: percent(each.hits, each.of), meant: `${100 * meantOf(each.kind)}%` },
      isWithheld: !isRecordTrusted(each),
    })),
  }
}

function hitsOf({
  judged,
  hits95,
  hits80,
  shown,
  periods: { known, needed },
}: Omit<RateTest, 'pipeline' | 'claimDays'>) {
  return {
    ...{ judged: count(judged), hits95: percent(hits95, judged), hits80: percent(hits80, judged) },
    ...{ shown: SHOWN[shown], isPrinted: shown === 'printed' },
    periods: shown === 'learning' && known < needed ? `${known} of ${needed}` : '',
  }
}

/** Formats the number of claims per year; a dash if no period was judged. */
function aYear(claims: number, judged: number, scale: keyof typeof PER_YEAR): string {
  return judged === 0 ? NONE : ((claims / judged) * PER_YEAR[scale]).toFixed(1)
}

function nameOf({ figure, pipeline }: RangeTest): string {
  return pipeline === null ? `${FIGURES[figure]}, all` : `${FIGURES[figure]}, ${pipeline.name}`
}

/** Composes SVG paths of days: a band for the usual range, a line, and a dot for each unusual number. */
function composeChart(days: readonly Day[]) {
  const most = Math.max(1, ...days.map(({ value, range }) => Math.max(value, range?.high ?? 0)))
  const down = (value: number) => Math.round((HEIGHT - (value / most) * HEIGHT) * 10) / 10
  const known = days.flatMap(({ range }, x) => (range === null ? [] : [{ x, ...range }]))
  const upper = known.map(({ x, high }) => `${x} ${down(high)}`)
  const lower = known.map(({ x, low }) => `${x} ${down(low)}`).reverse()
  const unusual = days.filter(({ isUnusual }) => isUnusual)
  const out = days.flatMap(({ date, isLeftOut }) => (isLeftOut ? [date] : []))
  return {
    width: Math.max(1, days.length - 1),
    height: HEIGHT,
    band: known.length === 0 ? '' : `M${[...upper, ...lower].join('L')}Z`,
    line: `M${days.map(({ value }, x) => `${x} ${down(value)}`).join('L')}`,
    leftOut: days.map(({ isLeftOut }, x) => (isLeftOut ? `M${x} 0v${HEIGHT}` : '')).join(''),
    dots: days.map(({ value, isUnusual }, x) => (isUnusual ? `M${x} ${down(value)}h0` : '')).join(''),
    label: `${days[0]?.date ?? ''} to ${days.at(-1)?.date ?? ''}, 0 to ${count(most)} a day; unusual: ${unusual.map(({ date, value }) => `${value} on ${date}`).join(', ') || 'none'}${out.length === 0 ? '' : `; left out: ${out.join(', ')}`}`,
    most: count(most),
  }
}

/** Formats a share as `93.4%`; a dash if the whole is 0. */
function percent(part: number, whole: number): string {
  return whole === 0 ? NONE : `${((100 * part) / whole).toFixed(1)}%`
}

function share(value: number | undefined): string {
  return value === undefined ? NONE : `${(100 * value).toFixed(1)}%`
}
