/** The due times of a schedule, one after the other. */
import { Cron } from 'croner'
import type { Timing } from './timing.ts'

/** The next due time after an instant; null when there is none. */
export function nextSlot({ expression, timeZone }: Timing, after: Date): Date | null {
  return new Cron(expression, { timezone: timeZone, paused: true }).nextRun(after)
}
