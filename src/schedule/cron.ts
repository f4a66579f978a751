/** Cron expressions of five fields. croner finds the times; in UTC, so that its treatment of clock changes is none of ours. */
import { Cron, CronPattern } from 'croner'
import type { Fault, Pattern } from './pattern.ts'

/** Any moment does: it is where the search for a next time begins. */
const SOME_DAY_MS = Date.UTC(2026, 0, 1)

export function parseCron(expression: string): Pattern | Fault {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5) return { fault: 'it has not five fields' }
  let pattern: CronPattern
  try {
    pattern = new CronPattern(expression, undefined, { mode: '5-part' })
  } catch (error) {
    return { fault: error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error) }
  }
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
