/** The funnel as bars: how many leads ever reached a stage, what share of the stage before that is, and how long they stay. */
import type { Funnel, ReportFigures } from '../../../domain/figures.ts'
import { composeHistory, type HistoryView } from '../../coverage.ts'
import type { Voice } from '../../words/locale-context.ts'
import { nameStatus } from '../../words/locale-context.ts'
import { FEW } from '../../words/numbers.ts'
import { joined } from '../list-rows.ts'

export interface FunnelView {
  readonly kind: 'funnel'
  readonly title: string
  readonly note: string
  readonly columns: {
    readonly stage: string
    readonly reached: string
    readonly conversion: string
    /** Null where no stage has it. */
    readonly inStage: string | null
  }
  readonly stages: readonly FunnelRow[]
}

interface FunnelRow {
  readonly label: string
  readonly reached: string
  readonly conversion: string
  readonly inStage: string
  /** Widths of the bar and of what is left of its track, in percent; empty where there is none of it. */
  readonly bar: string
  readonly rest: string
}

type Stage = Funnel['stages'][number]

export function composeFunnel({ funnel }: ReportFigures, voice: Voice): FunnelView {
  const { words, dates } = voice
  const most = Math.max(...funnel.stages.map((stage) => stage.reached), 0)
  const isEmpty = funnel.asOf === null || funnel.stages.length === 0
  const history = funnel.coverage === null ? null : composeHistory(funnel.coverage, voice)
  const days = composeHistory(funnel.daysCoverage, voice)
  const stages =
    isEmpty || history?.isShown === false
      ? []
      : funnel.stages.map((stage) => (days.isShown ? stage : { ...stage, medianDays: null }))
  const source = funnel.source === 'service' ? words.funnel.ofService : words.funnel.ofOurs
  return {
    kind: 'funnel',
    title: words.funnel.title,
    note: isEmpty
      ? words.funnel.empty
      : history?.isShown === false
        ? words.notShown(null, history.note)
        : joined([source(dates.recent(funnel.asOf)), history?.note ?? null, noteOfDays(days, voice)]),
    columns: {
      stage: words.funnel.stage,
      reached: words.funnel.reached,
      conversion: words.funnel.conversion,
      inStage: stages.some(({ medianDays }) => medianDays !== null) ? words.funnel.inStage : null,
    },
    stages: stages.map((stage, position) => rowOf(stage, stages[position - 1], most, voice)),
  }
}

function noteOfDays({ isShown, note }: HistoryView, { words }: Voice): string {
  if (note === '') return ''
  return isShown ? `${words.funnel.inStage}: ${note}` : words.notShown(words.funnel.inStage, note)
}

function rowOf(stage: Stage, before: Stage | undefined, most: number, voice: Voice): FunnelRow {
  const { words, numbers } = voice
  // A stage that somebody reached is never shown as an empty track.
  const bar = stage.reached === 0 ? 0 : Math.max(1, Math.round((stage.reached / most) * 100))
  const { medianDays } = stage
  return {
    label: nameStatus(stage.status, voice),
    reached: numbers.count(stage.reached),
    conversion: conversionOf(stage, before, voice),
    inStage: medianDays === null ? words.none : words.funnel.medianDays(writeDays(medianDays, voice)),
    bar: bar === 0 ? '' : String(bar),
    rest: bar === 100 ? '' : String(100 - bar),
  }
}

/** `<0.1`, `0.2`, `4.0`, `12` */
function writeDays(days: number, { numbers }: Voice): string {
  if (days < 0.05) return `<${numbers.fixed(0.1, 1)}`
  return days < 9.95 ? numbers.fixed(days, 1) : numbers.count(days)
}

function conversionOf(stage: Stage, before: Stage | undefined, { words, numbers }: Voice): string {
  if (before === undefined || stage.conversion === null) return words.none
  if (before.reached < FEW) return words.counts(stage.reached, before.reached)
  return numbers.share(stage.conversion)
}
