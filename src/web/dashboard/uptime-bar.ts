/** The uptime bar of an agent: its states over time, shown by height as well as by colour. */

import { capitalise } from '../../report/words/clean-text.ts'
import { counted } from '../../report/words/numbers.ts'
import type { AgentSpan, AgentState } from '../../store/figures/pipeline-overview.ts'
import { lengthOf } from './format.ts'

export interface UptimeBar {
  readonly label: string
  readonly width: number
  readonly spans: readonly {
    readonly state: AgentState
    readonly x: string
    readonly y: number
    readonly width: string
    readonly height: number
  }[]
  /** A text such as `99.2% of 29 days known`; empty if too little is known. */
  readonly uptime: string
  /** The text that is shown if `uptime` is empty. */
  readonly unknown: string
}

// The width of every bar. In a bar over 30 days, one unit is one hour.
const STRIP_WIDTH = 720
// Narrower spans are drawn with this width, because they would be invisible otherwise.
const LEAST_WIDTH = 2
// Positions and heights in a bar that is 20 high.
const SHAPES = {
  well: { y: 7, height: 6 },
  failing: { y: 0, height: 20 },
  other: { y: 9, height: 2 },
} as const
const HOUR_MS = 60 * 60_000
const TOO_FEW = 'not enough samples yet'
// No uptime is shown if less time than this is known, because such an uptime would mean nothing.
const KNOWN_LEAST_MS = HOUR_MS

/** @param spans the spans of one agent in order of time */
export function composeUptimeBar(
  spans: readonly AgentSpan[],
  { from, to }: { readonly from: string; readonly to: string },
): UptimeBar {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  const scale = STRIP_WIDTH / (toMs - fromMs)
  const drawn = spans.map(({ state, from, to }) => {
    const x = (Date.parse(from) - fromMs) * scale
    const width = Math.max((Date.parse(to) - Date.parse(from)) * scale, LEAST_WIDTH)
    return {
      state,
      ...SHAPES[state],
      x: Math.min(x, STRIP_WIDTH - width).toFixed(1),
      width: width.toFixed(1),
    }
  })
  const timeIn = (state?: AgentState) =>
    spans
      .filter((span) => state === undefined || span.state === state)
      .reduce((sum, span) => sum + Date.parse(span.to) - Date.parse(span.from), 0)
  const [known, failing] = [timeIn(), timeIn('failing')]
  const failures = spans.filter(({ state }) => state === 'failing').length
  return {
    width: STRIP_WIDTH,
    // Failures are drawn last, so that the widened spans beside them do not cover them.
    spans: drawn.toSorted(
      (one, other) => Number(one.state === 'failing') - Number(other.state === 'failing'),
    ),
    uptime: known < KNOWN_LEAST_MS ? '' : `${shareUp(failing, known)} of ${lengthOf(known)} known`,
    unknown: spans.length === 0 ? 'nothing known' : TOO_FEW,
    label:
      spans.length > 0 && known < KNOWN_LEAST_MS
        ? capitalise(TOO_FEW)
        : labelOf(failures, failing, known, toMs - fromMs),
  }
}

/** Formats the uptime. `100%` means that the agent never failed. */
function shareUp(failing: number, known: number): string {
  if (failing === 0) return '100%'
  return `${Math.min(99.9, (100 * (known - failing)) / known).toFixed(1)}%`
}

function labelOf(failures: number, failing: number, known: number, whole: number): string {
  if (known === 0) return 'Nothing is known of this time'
  const failed =
    failures === 0 ? 'never failing' : `failing ${counted(failures, 'time')}, ${lengthOf(failing)} in all`
  const unknown = whole - known > 2 * HOUR_MS ? `; nothing is known of ${lengthOf(whole - known)}` : ''
  return `Over ${lengthOf(known)} ${failed}${unknown}`
}
