/** The goals block shows for each goal where it stands, where it will end, and what is needed a day. */
import type { CountedFigure, Pace } from '../../../domain/insight.ts'
import { oneLine } from '../../words/clean-text.ts'
import { formatLocalDay } from '../../words/dates.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { joined, moreThan, NAME_LENGTH } from '../lists.ts'

/** The maximum number of goals in a report. The goals that are most at risk come first. */
const SHOWN = 3
/** How a goal stands, the worst first; `on_course` is not written. */
const STATES = ['out_of_reach', 'missed', 'at_risk', 'on_course', 'reached'] as const
type GoalState = (typeof STATES)[number]
const TONES = { out_of_reach: 'bad', missed: 'bad', at_risk: 'warn', on_course: '', reached: 'good' } as const

/** Returns no view if there is neither a goal nor an expected total. */
export function composeGoals(paces: readonly Pace[], locale: LocaleContext) {
  const { words } = locale
  const goals = paces
    .filter(({ goal }) => goal !== null)
    .map((pace) => ({ pace, state: stateOf(pace) }))
    .sort((one, other) => STATES.indexOf(one.state) - STATES.indexOf(other.state))
  const outlook = paces.filter(({ goal, end }) => goal === null && end !== null)
  if (goals.length + outlook.length === 0) return []
  return [
    {
      kind: 'goals' as const,
      title: words('goals.title'),
      goals: goals.slice(0, SHOWN).map(({ pace, state }) => lineOf(pace, state, locale)),
      more: moreThan(SHOWN, goals.length, locale),
      outlook: outlook.length === 0 ? '' : outlookOf(outlook, locale),
    },
  ]
}

/**
 * A goal is out of reach if even the upper end of the expected range is below it, and at risk if the expected
 * number is. A goal without an expected range, such as one of money, is judged by the pace of the last days.
 */
export function stateOf({ goal, soFar, daysLeft, perDay, end }: Pace): GoalState {
  const target = goal?.target ?? 0
  if (soFar >= target) return 'reached'
  if (daysLeft === 0) return 'missed'
  if (end !== null && end.high < target) return 'out_of_reach'
  return (end?.expected ?? soFar + perDay * daysLeft) < target ? 'at_risk' : 'on_course'
}

function lineOf(pace: Pace, state: GoalState, locale: LocaleContext) {
  const { words } = locale
  const { goal, pipelines, soFar, end, daysLeft, perDay } = pace
  const target = goal?.target ?? 0
  const { write, rate } = writersOf(pace, locale)
  const missing = target - soFar
  const until = formatLocalDay(locale.tag, pace.lastDay)
  const sentences = [
    end !== null &&
      daysLeft > 0 &&
      words('goals.end', { until, low: write(end.low), high: write(end.high), isOne: end.low === end.high }),
    state === 'missed' && words('goals.missing', { missing: write(missing) }),
    missing > 0 &&
      daysLeft > 0 &&
      words('goals.needed', { needed: rate(missing / daysLeft), now: rate(perDay) }),
  ]
  return {
    name: oneLine(goal?.name ?? '', NAME_LENGTH),
    scope: joined([
      goal?.owner ? oneLine(goal.owner, NAME_LENGTH) : null,
      pipelines === null ? null : locale.and(pipelines.map((name) => oneLine(name, NAME_LENGTH))),
    ]),
    soFar: words('goals.ofGoal', { value: write(soFar), target: write(target) }),
    state: state === 'on_course' ? '' : words(`goals.states.${state}`),
    tone: TONES[state],
    bar: barOf(pace, target),
    text: sentences.filter(Boolean).join(' '),
  }
}

/** The widths in percent of the target: what is reached, then up to where the expected range begins, and the range. */
function barOf({ soFar, end }: Pace, target: number) {
  const percent = (value: number) => Math.max(0, Math.min(100, Math.round((100 * value) / target)))
  const done = percent(soFar)
  const [low, high] = end === null ? [done, done] : [percent(end.low), percent(end.high)]
  return { done, until: Math.max(0, low - done), range: high - Math.max(low, done), rest: 100 - high }
}

/** Formats `November will end at 590–640 new leads and 20–31 won.` */
function outlookOf(paces: readonly Pace[], locale: LocaleContext): string {
  const parts = paces.map((pace) => {
    const { write } = writersOf(pace, locale)
    const { low, high } = pace.end ?? { low: 0, high: 0 }
    return locale.words(`goals.outlookOf.${pace.figure}`, {
      low: write(low),
      high: write(high),
      isOne: low === high,
    })
  })
  const until = formatLocalDay(locale.tag, paces[0]?.lastDay ?? '')
  return locale.words('goals.outlook', { until, parts: locale.and(parts) })
}

function writersOf(
  { currency }: { readonly figure: CountedFigure; readonly currency: string | null },
  locale: LocaleContext,
) {
  const { numbers } = locale
  const money = (amount: number) => numbers.money({ amount, currency: currency ?? '' })
  return {
    write: (value: number) => (currency === null ? numbers.count(Math.round(value)) : money(value)),
    /** With fewer than ten a day, a decimal tells more. */
    rate: (value: number) => (currency === null ? numbers.decimal(value, value < 10 ? 1 : 0) : money(value)),
  }
}
