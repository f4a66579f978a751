/** Times as the clock of a zone shows them. */
import { tellClock } from '../schedule/clock-change.ts'
import { offsetMs, wallMs } from '../schedule/zone.ts'

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const MINUTE_MS = 60_000

/** `Mon 2026-11-23 07:00 +01:00` */
export function localTime(at: Date, timeZone: string): string {
  const shownMs = wallMs(at.getTime(), timeZone)
  const minutes = Math.round(offsetMs(at.getTime(), timeZone) / MINUTE_MS)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  return `${WEEKDAYS[new Date(shownMs).getUTCDay()]} ${tellClock(shownMs)} ${offset}`
}
