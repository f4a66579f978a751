/** Progress of a long command: a bar on a terminal, otherwise a line in the log every few seconds. */
import { clearLine, cursorTo } from 'node:readline'
import type { Log } from '../../log.ts'

export interface Progress extends Disposable {
  /**
   * @param total null if unknown
   * @param detail a few more words, such as `12 pages`
   */
  update(done: number, total: number | null, detail?: string): void
}

/** Returns milliseconds since any fixed moment. */
export type Clock = () => number

const LOG_EVERY_MS = 5_000
const DRAW_EVERY_MS = 100
const BAR_CELLS = 24

/** Draws the bar on `stream`, always in the same line, and clears the line on dispose. */
export function openBar(label: string, stream: NodeJS.WritableStream, clock: Clock): Progress {
  const pace = createPace(clock)
  let drawnAt = Number.NEGATIVE_INFINITY
  const draw = (line: string) => {
    cursorTo(stream, 0)
    stream.write(line)
    clearLine(stream, 1)
  }
  draw(label)
  return {
    update(done, total, detail) {
      const line = progressLine(label, done, total, pace(done), detail)
      if (clock() - drawnAt < DRAW_EVERY_MS) return
      drawnAt = clock()
      // The line is cut to the width of the terminal, because a wrapped line could not be overwritten.
      draw('columns' in stream ? line.slice(0, Number(stream.columns) - 1) : line)
    },
    [Symbol.dispose]: () => draw(''),
  }
}

export function openLoggedProgress(label: string, log: Log, clock: Clock): Progress {
  let loggedAt = clock()
  return {
    update(done, total, detail) {
      if (clock() - loggedAt < LOG_EVERY_MS) return
      loggedAt = clock()
      log.info({ done, total }, detail === undefined ? label : `${label}: ${detail}`)
    },
    [Symbol.dispose]: () => {},
  }
}

export const NO_PROGRESS: Progress = { update: () => {}, [Symbol.dispose]: () => {} }

/**
 * Formats `Leads ████████░░░░ 45% 4,500 of 10,000 12 pages 1,200/s 5 s left`. Unknown parts are left out.
 */
export function progressLine(
  label: string,
  done: number,
  total: number | null,
  perSecond: number | null,
  detail?: string,
): string {
  const share = total === null || total === 0 ? null : Math.min(done / total, 1)
  const secondsLeft = total === null || !perSecond ? null : Math.max(total - done, 0) / perSecond
  const filled = Math.round((share ?? 0) * BAR_CELLS)
  return [
    label,
    share !== null && '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled),
    share !== null && `${Math.floor(share * 100)}%`.padStart(4),
    total === null ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`,
    detail,
    perSecond !== null && `${formatCount(perSecond)}/s`,
    secondsLeft !== null && `${formatDuration(secondsLeft)} left`,
  ]
    .filter((part) => part)
    .join('  ')
}

/**
 * Measures items per second. The count restarts when `done` falls, and the rate is null during the first half
 * second.
 */
function createPace(clock: Clock): (done: number) => number | null {
  let start: { readonly at: number; readonly done: number } | null = null
  let last = 0
  return (done) => {
    if (start === null || done < last) start = { at: clock(), done }
    last = done
    const seconds = (clock() - start.at) / 1000
    return seconds < 0.5 ? null : (done - start.done) / seconds
  }
}

function formatCount(count: number): string {
  return count.toLocaleString('en', { maximumFractionDigits: count < 10 ? 1 : 0 })
}

function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
