/** The pace block shows which totals are expected at the end of a month, quarter or year, and the goals. */
import type { Pace } from '../../../domain/insight.ts'
import { oneLine } from '../../words/clean-text.ts'
import { formatLocalDay } from '../../words/dates.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { joined, NAME_LENGTH } from '../lists.ts'

/** Returns no view if there is neither a goal nor an expected total. The dashboard uses this function too. */
export function composePace(paces: readonly Pace[], locale: LocaleContext) {
  const shown = paces.filter(({ goal, end }) => goal !== null || end !== null)
  if (shown.length === 0) return []
  const { words } = locale
  const records = shown.flatMap(({ end }) => (end === null ? [] : [end.record]))
  const of = records.reduce((sum, record) => sum + record.of, 0)
  const hits = records.reduce((sum, record) => sum + record.hits, 0)
  return [
    {
      kind: 'pace' as const,
      title: words('pace.title'),
      lines: shown.map((pace) => lineOf(pace, locale)),
      record: of === 0 ? '' : words('pace.record', { hits, of }),
    },
  ]
}

function lineOf(pace: Pace, locale: LocaleContext) {
  const { words, numbers } = locale
  const { goal, currency, pipelines, soFar, end, daysLeft, perDay } = pace
  const write = (value: number) =>
    currency === null ? numbers.count(Math.round(value)) : numbers.money({ amount: value, currency })
  const rate = (value: number) =>
    currency === null ? numbers.decimal(value, 1) : numbers.money({ amount: value, currency })
  const until = formatLocalDay(locale.tag, pace.lastDay)
  const missing = goal === null ? 0 : goal.target - soFar
  return {
    name: goal === null ? words(`pace.${pace.figure}`) : oneLine(goal.name, NAME_LENGTH),
    scope: joined([
      goal?.owner ? oneLine(goal.owner, NAME_LENGTH) : null,
      pipelines === null ? null : locale.and(pipelines.map((name) => oneLine(name, NAME_LENGTH))),
    ]),
    soFar:
      goal === null
        ? words('pace.soFar', { value: write(soFar) })
        : words('pace.ofGoal', { value: write(soFar), target: write(goal.target) }),
    end:
      end === null
        ? currency !== null || daysLeft === 0
          ? ''
          : words('pace.unknown', { until })
        : words('pace.end', {
            until,
            expected: write(end.expected),
            low: write(end.low),
            high: write(end.high),
          }),
    needed:
      goal === null
        ? ''
        : missing <= 0
          ? words('pace.reached')
          : daysLeft === 0
            ? words('pace.missed', { missing: write(missing) })
            : words('pace.needed', { needed: rate(missing / daysLeft), now: rate(perDay) }),
  }
}
