/** What a detector of troubles is given, and what it gives. */
import type { Instant } from '../../model.ts'
import type { Store } from '../../store/db/store.ts'
import type { EventSource } from '../events/event-source.ts'
import type { Trouble } from '../notice.ts'
import type { Reason } from '../notice-reasons.ts'

/** What the troubles of an installation are found by. */
export interface Watched {
  readonly store: Store
  /** Names of the reports that are sent. */
  readonly reports: readonly string[]
  /** The longest that a sync may take. */
  readonly runMinutes: number
  /** Null where the settings want no snapshot, or one at due times of its own. */
  readonly snapshotAfterSync: string | null
  /** Null where the upstream has no webhooks, or nothing listens to them. */
  readonly events: EventSource | null
  /** The mail server by its name, such as `smtp://mail.example.com:587`; null where nothing is mailed. */
  readonly mailServer: string | null
  /** Null where they are from the environment alone. */
  readonly settingsFile: string | null
  /** By how much our clock is ahead of the upstream's; null where that is not known. */
  readonly clockAheadMs: () => number | null
}

export interface Watch {
  /** All that it may find. */
  readonly reasons: readonly Reason[]
  /** Quick enough for each minute: no network, no table that grows. Null where it has not looked this time. */
  readonly find: (watched: Watched, now: Date) => Promise<Trouble[] | null>
}

const MINUTE_MS = 60_000

export function minutesBefore(now: Date, minutes: number): Instant {
  return new Date(now.getTime() - minutes * MINUTE_MS).toISOString()
}
