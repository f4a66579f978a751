/** What health is judged by, and the words in which it is told. */

import type { Store } from '../../store/db/store.ts'
import type { Resource } from '../../store/sync/last-read.ts'
import type { Check } from '../../upstream/checkup.ts'
import type { EventSource } from '../events/event-source.ts'
import type { ScheduleSettings } from '../schedule/schedule.ts'

export interface Installation {
  readonly store: Pick<Store, 'db' | 'place'>
  readonly schedules: readonly ScheduleSettings[]
  /** What the upstream has, by its profile. */
  readonly resources: readonly Resource[]
  /** Its file; null where the settings want no snapshot, or one at due times of its own. */
  readonly snapshotAfterSync: string | null
  /** Null where the upstream has no webhooks, or nothing listens to them. */
  readonly events: EventSource | null
  /** What a look through the whole database has found, by somebody who could wait for it. */
  readonly found?: readonly HealthCheck[]
}

/**
 * What a check of health is about. None of them says an address, a password or what a mail server said: where that
 * stands is a matter of commands and pages that are for operators alone.
 */
export type Subject =
  | 'database'
  | 'daemon'
  | 'leads'
  | 'times'
  | 'statistics'
  | 'agents'
  | 'syncs'
  | 'upstream'
  | 'events'
  | 'schedules'
  | 'messages'
  | 'notices'
  | 'held records'
  | 'disk'
  | 'log'
  | 'snapshot'

export type HealthCheck = Check<Subject>

const MINUTE_MS = 60_000

/** `20 s`, `4 min`, `3 h`, `5 days`. */
export function tellSpan(ms: number): string {
  const minutes = Math.abs(ms) / MINUTE_MS
  if (minutes < 1) return `${Math.round(minutes * 60)} s`
  if (minutes < 120) return `${Math.floor(minutes)} min`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`
  return `${Math.floor(minutes / 60 / 24)} days`
}
