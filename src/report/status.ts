/** The names of statuses, which are the upstream's own words. */
import { capitalise } from './text.ts'
import type { Voice } from './voice.ts'

/** The language's word for it; else its own name, `meeting_booked` as `Meeting booked`. All capitals stay so. */
export function nameStatus(status: string, { words }: Voice): string {
  const known = Object.hasOwn(words.statuses, status) ? words.statuses[status] : undefined
  return known ?? capitalise(status)
}
