/** The key figures block shows four numbers, each with its normal range or its change. */
import type { ReportFigures } from '../../../domain/figures.ts'
import { type ExpectedFigure, rateOfAll } from '../../../domain/insight.ts'
import type { Compared, HistoryCoverage } from '../../../domain/model.ts'
import {
  type Change,
  changeOfCount,
  changeOfMoney,
  changeOfRate,
  type News,
  type Tone,
  toneOfNews,
} from '../../change.ts'
import { canCompare, composeHistory, coverageOf, isImplausible, newLeadsOf } from '../../context.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { expectationOf, newsOf, percentsOf, writeRange } from '../headline/judged.ts'
import { countCell, rateCell, splitMoneys } from '../lists.ts'

const LARGE_LENGTH = 6

/** The line below a number, such as `normal 14–31` or `+9 (+18%)`; empty if nothing is known. */
interface Line {
  readonly line: string
  readonly tone: Tone
}

const NOTHING: Line = { line: '', tone: 'neutral' }

export function composeKpis(figures: ReportFigures, locale: LocaleContext) {
  const { words } = locale
  const { won, winRate, openValue, known, insight } = figures
  const historyOf = ({ current, prior }: Compared<HistoryCoverage>) =>
    [current, prior].map((each) => composeHistory(each, locale))
  const isStatusKnown = historyOf(known.status).every(({ note }) => note === '')
  const isValueKnown = historyOf(known.value).every(({ isExact }) => isExact)
  const countOf = (figure: ExpectedFigure, isKnown: boolean) => {
    const [name, count] =
      figure === 'won' ? (['won', won.current] as const) : (['newLeads', newLeadsOf(figures)] as const)
    return {
      label: words(`kpis.${name}`),
      value: countCell(count, figures, locale),
      ...lineOfCount(figure, isKnown && !isImplausible(figures, name), figures, locale),
    }
  }
  const { isShown, isExact } = composeHistory(known.value.current, locale)
  const money = isShown ? splitMoneys(openValue.current, locale).largest : null
  const tiles = [
    countOf('new_leads', true),
    countOf('won', isStatusKnown),
    {
      label: words('kpis.winRate'),
      value: rateCell(winRate.current, locale),
      ...lineOfRate(isStatusKnown && !isImplausible(figures, 'won'), figures, locale),
    },
    {
      label: words('kpis.openValue'),
      value: money === null ? words('none') : `${isExact ? '' : '≈ '}${money}`,
      ...(isValueKnown && !insight?.backfill && canCompare(figures)
        ? changed(changeOfMoney(openValue, null, locale), null)
        : { ...NOTHING, line: isShown ? '' : words('kpis.unknown') }),
    },
  ].map((tile) => ({ ...tile, isLong: tile.value.length > LARGE_LENGTH }))
  const widthOf = (part: 'label' | 'value') => Math.max(...tiles.map((tile) => tile[part].length))
  return { kind: 'kpis' as const, tiles, columns: { label: widthOf('label') + 1, value: widthOf('value') } }
}

function lineOfCount(
  figure: ExpectedFigure,
  isKnown: boolean,
  figures: ReportFigures,
  locale: LocaleContext,
): Line {
  if (coverageOf(figures) === 'part') return { ...NOTHING, line: locale.words('kpis.soFar') }
  if (!isKnown || !canCompare(figures)) return NOTHING
  const judged = expectationOf(figures, figure)
  const change = changeOfCount(figure === 'won' ? figures.won : figures.newLeads, 'up', locale)
  return judged?.range
    ? normal(writeRange(judged.range, locale), change, newsOf(judged), locale)
    : changed(change, newsOf(judged))
}

function lineOfRate(isKnown: boolean, figures: ReportFigures, locale: LocaleContext): Line {
  if (!isKnown || !canCompare(figures)) return NOTHING
  const { range = null, decided = 0, judgement = 'normal' } = rateOfAll(figures.insight) ?? {}
  const news = judgement === 'high' || judgement === 'low' ? judgement : null
  const change = changeOfRate(figures.winRate, 'up', locale)
  if (range === null || decided === 0) return change === null ? NOTHING : changed(change, news)
  return normal(locale.words('rateRange', percentsOf(range, decided)), change, news, locale)
}

function normal(range: string, change: Change | null, news: News, { words }: LocaleContext): Line {
  return {
    line: words('kpis.normal', { range }),
    tone: change === null ? 'neutral' : toneOfNews(change, news),
  }
}

function changed(change: Change | null, news: News): Line {
  return change === null ? NOTHING : { line: change.text, tone: toneOfNews(change, news) }
}
