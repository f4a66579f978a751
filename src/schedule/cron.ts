/**
 * Parses cron expressions of five fields. The library croner computes the times in UTC, so that its own
 * handling of clock changes has no effect.
 */
import { Cron, CronPattern } from 'croner'

/** The start of the search for a next time. Any other instant would do too. */
const SOME_DAY_MS = Date.UTC(2026, 0, 1)
/** The names of the fields, in the order of the expression. */
const FIELDS = [
  ...['minute (0 to 59)', 'hour (0 to 23)', 'day of the month (1 to 31)'],
  ...['month (1 to 12, or JAN to DEC)', 'weekday (0 to 7, or SUN to SAT)'],
]

export function parseCron(expression: string): Pattern | Fault {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5) return { fault: 'it has not five fields' }
  const pattern = read(expression)
  if (pattern === null) return { fault: formatWrong(fields) }
  if (!pattern.starDOM && !pattern.starDOW) {
    return {
      fault:
        'it restricts both day of month and weekday, which some crons read as "and", others as "or"; restrict one',
    }
  }
  const job = new Cron(expression, { utcOffset: 0, paused: true })
  const next = (afterMs: number) => job.nextRun(new Date(afterMs))?.getTime() ?? null
  if (next(SOME_DAY_MS) === null) return { fault: 'that day never comes' }
  return { isContinuous: /[*?]/.test(fields.slice(0, 2).join('')), next }
}

function read(expression: string): CronPattern | null {
  try {
    return new CronPattern(expression, undefined, { mode: '5-part' })
  } catch {
    return null
  }
}

/**
 * Names the wrong field of an expression. The messages of croner are not used, because they count days and
 * months from 0.
 */
function formatWrong(fields: readonly string[]): string {
  const wrong = fields.findIndex(
    (field, at) => read(FIELDS.map((_, each) => (each === at ? field : '*')).join(' ')) === null,
  )
  return `${JSON.stringify(fields[wrong])} cannot be read as its ${FIELDS[wrong]}`
}

/* A parsed schedule expression, to which no time zone has been applied yet. */

/** The times of a schedule on a clock that never changes, in milliseconds as if they were UTC. */
export interface Pattern {
  /**
   * Tells whether the schedule repeats all day, as the clock shows it. Otherwise the schedule has times of
   * day, each of which occurs once a date.
   */
  readonly isContinuous: boolean
  /** Returns the first time of the schedule after a time; null if there is none. */
  readonly next: (afterMs: number) => number | null
}

/** The reason why an expression cannot be read, worded so that it can stand after "expected …;". */
export interface Fault {
  readonly fault: string
  /** The unknown word, if the expression contains one and cannot be read because of it. */
  readonly unknown?: string
}
