/** What had better be known of schedules: times of the day that the clocks of their zone jump over or show twice. */
import type { Config } from '../config/config.ts'
import { clockTroubles } from '../schedule/clock-change.ts'
import type { Timing } from '../schedule/timing.ts'
import { schedulesOf } from './schedules.ts'

/** Zones that change their clocks do so within a year. */
const AHEAD_MS = 400 * 86_400_000

/** A sentence for each schedule and kind, of the next time that it happens. */
export function scheduleWarnings(config: Config, now: Date): string[] {
  return schedulesOf(config)
    .filter(({ name }) => name !== 'sync-full' || config.sources['sync.full'] !== undefined)
    .flatMap(({ name, timing }) => clockWarnings(timing, now).map((warning) => `${name}: ${warning}`))
}

function clockWarnings(timing: Timing, now: Date): string[] {
  const troubles = clockTroubles(timing, now, new Date(now.getTime() + AHEAD_MS))
  return (['skipped', 'doubled'] as const).flatMap((kind) => {
    const trouble = troubles.find((each) => each.kind === kind)
    if (trouble === undefined) return []
    const [date, time] = trouble.time.split(' ')
    return kind === 'skipped'
      ? `${timing.timeZone} has no ${time} on ${date}; it is due at ${trouble.shown} then`
      : `${timing.timeZone} has ${time} twice on ${date}; it is due the first time`
  })
}
