/** The key figures block shows four numbers, each with its change, the earlier value, and a sparkline. */
import type { ReportFigures } from '../../../domain/figures.ts'
import { type ExpectedFigure, type RangeRecord, rateOfAll } from '../../../domain/insight.ts'
import type { Compared, HistoryCoverage, Money, Ratio } from '../../../domain/model.ts'
import {
  type Change,
  changeOfCount,
  changeOfMoney,
  changeOfRate,
  type News,
  type Tone,
  toneOfNews,
} from '../../change.ts'
import type { BlockContext, ChartName, ChartSource } from '../../context.ts'
import {
  type Coverage,
  canCompare,
  composeHistory,
  coverageOf,
  type HistoryView,
  isFirst,
  isImplausible,
} from '../../context.ts'
import { marksOfSparks, notesOfPeriod, writeNote } from '../../day-notes.ts'
import { namePeriod } from '../../words/dates.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { FEW } from '../../words/numbers.ts'
import { boundsOf, directionOf, expectationOf, newsOf, percentsOf } from '../headline/judged.ts'
import { formatMoneys, splitMoneys } from '../lists.ts'

const LARGE_LENGTH = 7
// The report says how often numbers lay within their usual ranges. If at least this many ranges were
// published, it uses these. Otherwise it uses ranges that were computed afterwards for past periods.
const PUBLISHED_MIN = 60

interface KpiView {
  readonly label: string
  readonly value: string
  readonly isLong: boolean
  readonly note: string
  /** Tells whether any tile has a note, so that all tiles leave room for one. */
  readonly hasNoteLine: boolean
  readonly arrow: string
  /** The change of the value; empty if it cannot be compared. */
  readonly change: string
  readonly tone: Tone
  /** The value in the period with which the report compares; empty if there is none. */
  readonly basis: string
  /** The words before the range, such as `usual for a Friday:`; empty if no range is known. */
  readonly usual: string
  /** The usual range of the value, such as `31–54`; empty if none is known. */
  readonly usualRange: string
  readonly line: (ChartSource & { readonly alt: string }) | null
}

type Moved = Pick<KpiView, 'arrow' | 'change' | 'tone'>
type Usual = Pick<KpiView, 'usual' | 'usualRange'>
type Parts = Omit<KpiView, 'isLong' | 'hasNoteLine' | keyof Usual> & Partial<Usual>

const NOT_MOVED: Moved = { arrow: '', change: '', tone: 'neutral' }
const NOTHING_USUAL: Usual = { usual: '', usualRange: '' }

export function composeKpis(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words, numbers } = locale
  const { newLeads, won, wonValue, winRate, openValue, known, sparklines } = figures
  const coverage = coverageOf(figures)
  const isComparable = canCompare(figures)
  const moved = (change: Change | null, figure?: ExpectedFigure | 'win_rate'): Moved => ({
    arrow: (isComparable && change?.arrow) || '',
    change: (isComparable && change?.text) || '',
    tone: isComparable && change !== null ? toneOfNews(change, newsIn(figures, figure)) : 'neutral',
  })
  // No-break spaces keep the date on one line, because tiles are narrow.
  const when = words('period.brief', { ...namePeriod(locale.tag, figures.kind, figures.prior) }).replaceAll(
    ' ',
    '\u00a0',
  )
  const basis = (value: string) => (isFirst(figures) ? '' : words('kpis.basis', { value, when }))
  // The note on the earlier period is left out if the present period has a note, because both would say the
  // same.
  const unshown = (now: string, before: string) =>
    words('kpis.unshown', { when, known: (now === '' && before) || null })
  /**
   * Adds a note on how many leads have a known history. If too few leads had one in the period before, the
   * change is left out. It would show which histories were read, and not what happened.
   */
  const withKnown = (
    tile: Parts,
    { current, prior }: Compared<HistoryCoverage>,
    write: (known: string) => string = String,
  ): Parts => {
    const [now, before] = [current, prior].map((each) => {
      const { isShown, note } = composeHistory(each, locale)
      return { isShown, note: note && write(note) }
    }) as [HistoryView, HistoryView]
    const join = (...parts: readonly string[]) => parts.filter(Boolean).join(', ')
    return {
      ...tile,
      note: join(tile.note, now.note),
      ...(before.isShown ? {} : NOT_MOVED),
      basis: tile.basis && (before.isShown ? join(tile.basis, before.note) : unshown(now.note, before.note)),
    }
  }
  const usualOf = (figure: ExpectedFigure) =>
    isComparable ? usualRange(figures, figure, locale) : NOTHING_USUAL
  const countOf = (count: number) => (coverage === 'none' ? words('none') : numbers.count(count))
  const line = (name: ChartName, points: readonly (number | null)[], write: (value: number) => string) =>
    lineOf(context.charts.get(name), points, write, figures, locale)
  const currency = openValue.current[0]?.currency ?? ''
  const inCurrency = (moneys: readonly Money[]) =>
    currency === '' ? moneys : moneys.filter((money) => money.currency === currency)
  const tiles = [
    {
      label: words('kpis.newLeads'),
      value: countOf(newLeads.current),
      note: isImplausible(figures, 'newLeads')
        ? words('kpis.doubtful')
        : coverage === 'part'
          ? words('kpis.soFar')
          : words('kpis.inAll', { n: figures.leads }),
      ...moved(changeOfCount(newLeads, 'up', locale), 'new_leads'),
      basis: basis(numbers.count(newLeads.prior)),
      ...(isImplausible(figures, 'newLeads') ? NOTHING_USUAL : usualOf('new_leads')),
      line: line('spark-new-leads', sparklines.newLeads, numbers.count),
    },
    withKnown(
      {
        label: words('kpis.won'),
        value: countOf(won.current),
        note: isImplausible(figures, 'won')
          ? words('kpis.doubtful')
          : worthOf(coverage, won.current, wonValue.current, locale),
        ...moved(changeOfCount(won, 'up', locale), 'won'),
        basis: basis(numbers.count(won.prior)),
        ...(isImplausible(figures, 'won') || !composeHistory(known.status.current, locale).isShown
          ? NOTHING_USUAL
          : usualOf('won')),
        line: line('spark-won', sparklines.won, numbers.count),
      },
      known.status,
    ),
    withKnown(
      {
        label: words('kpis.winRate'),
        ...rateOf(winRate.current, locale),
        ...moved(changeOfRate(winRate, 'up', locale), 'win_rate'),
        basis: winRate.prior.whole === 0 ? '' : basis(priorRate(winRate, locale)),
        ...(isComparable && composeHistory(known.status.current, locale).isShown
          ? usualRate(figures, locale)
          : NOTHING_USUAL),
        line: line('spark-win-rate', sparklines.winRate, numbers.rate),
      },
      known.status,
    ),
    withKnown(
      {
        label: words('kpis.openValue'),
        ...moneyOf(openValue.current, locale),
        ...moved(changeOfMoney(openValue, null, locale)),
        basis: basis(splitMoneys(inCurrency(openValue.prior), locale).largest ?? words('kpis.nothing')),
        line: line('spark-open-value', sparklines.openValue, (amount) => numbers.money({ amount, currency })),
      },
      known.value,
      (known) => words('kpis.valueThen', { known }),
    ),
  ].map((tile: Parts, _, all) => ({
    ...NOTHING_USUAL,
    ...tile,
    isLong: tile.value.length > LARGE_LENGTH,
    hasNoteLine: all.some(({ note }) => note !== ''),
  }))
  const label = Math.max(...tiles.map((tile) => tile.label.length)) + 1
  const value = Math.max(...tiles.map((tile) => tile.value.length))
  const record = tiles.some(({ usualRange }) => usualRange !== '') ? recordOf(figures, locale) : ''
  return {
    kind: 'kpis' as const,
    tiles,
    marked: markedOf(figures, locale),
    record,
    columns: { label, value, note: label + value + 2 },
  }
}

/** Leaves out notes that a tile already shows. */
function markedOf(figures: ReportFigures, locale: LocaleContext): string {
  const isSaid = expectationOf(figures, 'new_leads')?.judgement === 'left_out'
  const said = isSaid ? notesOfPeriod(figures) : []
  const notes = new Set(marksOfSparks(figures).map(({ note }) => note))
  const left = [...notes].filter((note) => !said.includes(note)).map((note) => writeNote(note, locale))
  return left.length === 0 ? '' : locale.words('kpis.marked', { notes: left.join('; ') })
}

/** Returns the usual range of the win rate. With few decided (won or lost) leads, the range is wide. */
function usualRate({ insight }: ReportFigures, { words }: LocaleContext): Usual {
  const { range = null, decided = 0 } = rateOfAll(insight) ?? {}
  if (range === null) return NOTHING_USUAL
  return {
    ...NOTHING_USUAL,
    usual: words('kpis.usualRate'),
    usualRange: words('rateRange', percentsOf(range, decided)),
  }
}

/** Returns a sentence about how often numbers lay within their usual ranges; empty if none was tested. */
function recordOf({ insight }: ReportFigures, { words }: LocaleContext): string {
  const { expectations = [], winRates = [] } = insight ?? {}
  const judged = [...expectations, ...winRates].filter(({ pipeline }) => pipeline === null)
  const records = judged.flatMap(({ range, record }) => (range !== null && record !== null ? [record] : []))
  const sum = (count: (each: RangeRecord) => number) => records.reduce((all, each) => all + count(each), 0)
  const of = sum((each) => each.of)
  const { publishedRecord } = insight ?? {}
  if (of > 0 && publishedRecord && publishedRecord.of >= PUBLISHED_MIN)
    return words('kpis.publishedRecord', { ...publishedRecord })
  return of === 0 ? '' : words('kpis.record', { hits: sum((each) => each.hits), of })
}

/** Returns whether a figure is unusually high or low; null if it is usual or has no usual range. */
function newsIn(figures: ReportFigures, figure: ExpectedFigure | 'win_rate' | undefined): News {
  if (figure !== 'win_rate') return figure === undefined ? null : newsOf(expectationOf(figures, figure))
  const judgement = rateOfAll(figures.insight)?.judgement
  return judgement === 'high' || judgement === 'low' ? judgement : null
}

/** Returns a note instead that explains the period, or the length of a change that the range adapted to. */
function usualRange(figures: ReportFigures, figure: ExpectedFigure, locale: LocaleContext): Usual {
  const { words, tag } = locale
  const found = expectationOf(figures, figure)
  if (!found) return NOTHING_USUAL
  const { judgement, shift, range } = found
  const [note] = notesOfPeriod(figures)
  if (judgement === 'left_out' && note !== undefined)
    return { ...NOTHING_USUAL, usual: writeNote(note, locale) }
  if (judgement === 'usual' && shift !== null) {
    const { days } = shift
    return { ...NOTHING_USUAL, usual: words('kpis.shift', { direction: directionOf(found), days }) }
  }
  if (range === null) return NOTHING_USUAL
  return {
    ...NOTHING_USUAL,
    usual: words('kpis.usual', { ...namePeriod(tag, figures.kind, figures.period) }),
    usualRange: words('range', boundsOf(range)),
  }
}

function lineOf(
  chart: ChartSource | undefined,
  points: readonly (number | null)[],
  write: (value: number) => string,
  { kind }: ReportFigures,
  { words }: LocaleContext,
): KpiView['line'] {
  const known = points.filter((point) => point !== null)
  if (chart === undefined || known.length < 2) return null
  const [low, high] = [Math.min(...known), Math.max(...known)].map(write)
  return { ...chart, alt: words('kpis.range', { low: low ?? '', high: high ?? '', n: known.length, kind }) }
}

function rateOf(ratio: Ratio, { words, numbers }: LocaleContext): { value: string; note: string } {
  if (ratio.whole === 0) return { value: words('none'), note: words('kpis.noneClosed') }
  const counts = words('counts', { part: ratio.part, whole: ratio.whole })
  if (ratio.whole < FEW) return { value: counts, note: words('kpis.closedWon') }
  return { value: numbers.rate(ratio.part / ratio.whole), note: words('kpis.wonOfClosed', { counts }) }
}

/** Counts such as `2 of 7` are used if the current rate is written so, to make both comparable. */
function priorRate({ current, prior }: Compared<Ratio>, locale: LocaleContext): string {
  const areCounts = current.whole > 0 && current.whole < FEW
  return areCounts
    ? locale.words('counts', { part: prior.part, whole: prior.whole })
    : rateOf(prior, locale).value
}

function moneyOf(moneys: readonly Money[], locale: LocaleContext): { value: string; note: string } {
  const { largest, others } = splitMoneys(moneys, locale)
  if (largest === null) return { value: locale.words('none'), note: locale.words('kpis.noValues') }
  return { value: largest, note: others ?? '' }
}

/** If only a part of the period has been read, the text says that the value is not final. */
function worthOf(coverage: Coverage, won: number, moneys: readonly Money[], locale: LocaleContext): string {
  const value = formatMoneys(moneys, locale)
  if (coverage === 'part')
    return value ? locale.words('kpis.soFarWorth', { value }) : locale.words('kpis.soFar')
  if (won === 0) return ''
  return value ? locale.words('kpis.worth', { value }) : locale.words('kpis.noValues')
}
