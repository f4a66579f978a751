/** All that the status page shows, read at one go: part by part, as its templates take them. */

import type { Installation } from '../../../jobs/health/installation.ts'
import { readHealth } from '../../../jobs/health.ts'
import type { Store } from '../../../store/db/store.ts'
import { type Button, fullSyncButton, syncButton } from '../buttons.ts'
import { clockOf, type Moment } from '../moment.ts'
import { type EventsView, readEvents } from './events.ts'
import { type FreshnessView, readFreshnessView } from './freshness.ts'
import { type InstallationFacts, type InstallationView, readInstallation } from './installation.ts'
import { type LettersView, readLetters } from './letters.ts'
import { type ProgressView, readProgress } from './progress.ts'
import { type RecordsView, readRecords } from './records.ts'
import { type RunsView, readRuns } from './runs.ts'
import { readSchedules, type SchedulesView } from './schedules.ts'
import { readTroubles, type TroublesView } from './troubles.ts'
import { readWorkers, type WorkersView } from './workers.ts'

export interface StatusOptions extends InstallationFacts {
  readonly store: Store
  readonly installation: Installation
  /** IANA zone in which times are told. */
  readonly timeZone: string
  readonly snapshotFile: string
  /** Whether the page has buttons. */
  readonly canAct: boolean
}

export interface HeadView {
  readonly kind: 'ok' | 'warn' | 'fail'
  readonly sentence: string
  readonly asOf: Moment
  readonly timeZone: string
  readonly buttons: readonly Button[]
}

export interface StatusView {
  readonly head: HeadView
  readonly progress: { readonly progress: ProgressView | null }
  readonly troubles: TroublesView
  readonly freshness: FreshnessView
  readonly schedules: SchedulesView
  /** Null where the upstream has no webhooks. */
  readonly events: EventsView | null
  readonly runs: RunsView
  readonly letters: LettersView
  readonly records: RecordsView
  /** Null where the store is a file, and one daemon does it all. */
  readonly workers: WorkersView | null
  readonly installation: InstallationView
}

export const PARTS = [
  ...['head', 'progress', 'troubles', 'freshness', 'schedules'],
  ...['events', 'runs', 'letters', 'records', 'workers', 'installation'],
] as const satisfies readonly (keyof StatusView)[]

/** @throws LeadsheetError store_* */
export async function readStatusView(options: StatusOptions, now: Date): Promise<StatusView> {
  const { store, timeZone, canAct } = options
  const clock = clockOf(timeZone, now)
  // One connection for all of it: a sync that writes page after page comes before or behind, and not in between.
  return store.db.connection().execute(async (db) => {
    const installation = { ...options.installation, store: { db, place: store.place } }
    const health = await readHealth(installation, now)
    const progress = await readProgress(db, clock)
    return {
      head: {
        ...{ kind: health.verdict, sentence: clock.within(health.sentence), timeZone },
        asOf: clock.at(now.toISOString()),
        buttons: canAct ? [syncButton(), fullSyncButton()] : [],
      },
      progress: { progress },
      troubles: await readTroubles(db, health, { canAct, clock }),
      freshness: await readFreshnessView(db, health, options.snapshotFile, clock),
      schedules: await readSchedules(db, installation.schedules, { timeZone, canAct, clock }),
      events:
        installation.events &&
        (await readEvents(db, {
          ...{ way: installation.events, schedules: installation.schedules, checks: health.checks, clock },
        })),
      runs: await readRuns(db, clock, progress !== null),
      letters: await readLetters(db, clock),
      records: await readRecords(db, clock),
      workers: await readWorkers(installation.store, clock),
      installation: await readInstallation({ ...store, db }, options, clock),
    }
  })
}
