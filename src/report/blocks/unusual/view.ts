/** The unusual block names the pipelines whose numbers are unusual although the whole is not. */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { Expectation } from '../../../domain/insight.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { directionOf, listUnusual, nameOfPipeline, writeRange } from '../headline/judged.ts'

/** The maximum number of pipelines that are named. */
const NAMED = 3

/** Returns no view if no pipeline is unusual. */
export function composeUnusual(figures: ReportFigures, locale: LocaleContext) {
  const unusual = listUnusual(figures)
  const ofAll = unusual.flatMap(({ pipeline, figure }) => (pipeline === null ? [figure] : []))
  const single = unusual.filter(({ pipeline, figure }) => pipeline !== null && !ofAll.includes(figure))
  if (single.length === 0) return []
  const judged = (figures.insight?.expectations ?? []).filter(({ pipeline }) => pipeline !== null)
  const named = new Set(single.map(({ pipeline }) => pipeline?.id))
  const others = new Set(judged.map(({ pipeline }) => pipeline?.id)).size - named.size
  // The other pipelines are called normal only if each of their numbers has a normal range and has not moved.
  const areNormal = judged.every(
    ({ pipeline, range, shift }) => named.has(pipeline?.id) || (range !== null && shift === null),
  )
  return [
    {
      kind: 'unusual' as const,
      lines: single.slice(0, NAMED).map((each) => sentenceOf(each, locale)),
      others:
        single.length > NAMED
          ? locale.words('unusual.more', { n: single.length - NAMED })
          : areNormal && others > 0
            ? locale.words('unusual.others', { n: others })
            : '',
    },
  ]
}

/** The name and its direction are apart, because the name is in bold type. */
function sentenceOf(expectation: Expectation, locale: LocaleContext) {
  const { figure, actual, range, shift } = expectation
  const direction = directionOf(expectation)
  const { words, numbers } = locale
  return {
    name: words('unusual.name', { name: nameOfPipeline(expectation), direction }),
    text:
      range === null || shift !== null
        ? words(`unusual.shift.${figure}`, {
            n: shift?.actual ?? actual,
            days: shift?.days ?? 0,
            expected: numbers.count(Math.round(shift?.expected ?? 0)),
          })
        : words(`unusual.${figure}`, { n: actual, range: writeRange(range, locale) }),
  }
}
