/** The funnel as bars: how many leads ever reached a stage, and what share of the stage before that is. */
import type { DailyFigures, FunnelStage } from '../model.ts'
import { FEW, formatCount, formatCounts, formatShare } from './format.ts'
import { words } from './messages.ts'
import { formatRecent, type Reader } from './moment.ts'
import { capitalise } from './text.ts'

export interface FunnelView {
  readonly title: string
  readonly note: string
  readonly columns: { readonly stage: string; readonly reached: string; readonly conversion: string }
  readonly stages: readonly FunnelRow[]
}

interface FunnelRow {
  readonly label: string
  readonly reached: string
  readonly conversion: string
  /** Widths of the bar and of what is left of its track, in percent; empty where there is none of it. */
  readonly bar: string
  readonly rest: string
}

export function composeFunnel({ funnel }: DailyFigures, reader: Reader): FunnelView {
  const most = Math.max(...funnel.stages.map((stage) => stage.reached), 0)
  return {
    title: words.funnel.title,
    note:
      funnel.asOf === null || funnel.stages.length === 0
        ? words.funnel.empty
        : words.funnel.source(formatRecent(funnel.asOf, reader)),
    columns: {
      stage: words.funnel.stage,
      reached: words.funnel.reached,
      conversion: words.funnel.conversion,
    },
    stages: funnel.stages.map((stage, position) => rowOf(stage, funnel.stages[position - 1], most)),
  }
}

function rowOf(stage: FunnelStage, before: FunnelStage | undefined, most: number): FunnelRow {
  // A stage that somebody reached is never shown as an empty track.
  const bar = stage.reached === 0 ? 0 : Math.max(1, Math.round((stage.reached / most) * 100))
  return {
    label: capitalise(stage.status),
    reached: formatCount(stage.reached),
    conversion: conversionOf(stage, before),
    bar: bar === 0 ? '' : String(bar),
    rest: bar === 100 ? '' : String(100 - bar),
  }
}

function conversionOf(stage: FunnelStage, before: FunnelStage | undefined): string {
  if (before === undefined || stage.conversion === null) return words.none
  if (before.reached < FEW) return formatCounts({ part: stage.reached, whole: before.reached })
  return formatShare(stage.conversion)
}
