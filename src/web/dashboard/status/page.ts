/** The status page: whether all is well, and each part that says why; it updates itself. */

import type { Installation } from '../../../jobs/health/installation.ts'
import { readHealth } from '../../../jobs/health.ts'
import type { Log } from '../../../log.ts'
import { readChangeStamp } from '../../../store/db/dialect.ts'
import type { Store } from '../../../store/db/store.ts'
import { type DashboardDeps, frameOf } from '../../server/frame.ts'
import { type AddRoutes, sendPage } from '../../server/server.ts'
import { type Button, fullSyncButton, syncButton } from '../actions/buttons.ts'
import { clockOf, type Moment } from '../format.ts'
import { type FreshnessView, type RecordsView, readFreshnessView, readRecords } from './data.ts'
import { type EventsView, readEvents } from './events.ts'
import { type FindingsView, readFindings } from './findings.ts'
import {
  type InstallationFacts,
  type InstallationView,
  readInstallation,
  readWorkers,
  type WorkersView,
} from './installation.ts'
import { liveRoutes } from './live.ts'
import { type MessagesView, readMessages } from './messages.ts'
import { readSchedules, type SchedulesView } from './schedules.ts'
import { type ProgressView, type RunsView, readProgress, readRuns } from './syncs.ts'

export interface StatusDeps extends DashboardDeps, StatusOptions {
  readonly log: Log
}

export function statusRoutes(deps: StatusDeps): AddRoutes {
  const { pages, store, now, timeZone, log } = deps
  const page = pages.page<StatusView>('status')
  const parts = PARTS.map((name) => ({ name, render: pages.statusPart<object>(name) }))
  const live = liveRoutes(
    {
      readStamp: () => readChangeStamp(store.db),
      async renderParts() {
        const view = await readStatusView(deps, now())
        return new Map(
          parts.flatMap(({ name, render }) => {
            const part = view[name]
            return part === null ? [] : [[`part-${name}`, render(part)] as const]
          }),
        )
      },
      tellTime: () => clockOf(timeZone, now()).at(now().toISOString()).text,
    },
    log,
  )
  return (app) => {
    app.get('/', async (request, reply) =>
      sendPage(reply, page(await readStatusView(deps, now()), frameOf(request, 'Status', '/'))),
    )
    live(app)
  }
}

export interface StatusOptions extends InstallationFacts {
  readonly store: Store
  readonly installation: Installation
  /** IANA zone in which times are shown. */
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
  readonly findings: FindingsView
  readonly freshness: FreshnessView
  readonly schedules: SchedulesView
  /** Null where the upstream has no webhooks. */
  readonly events: EventsView | null
  readonly runs: RunsView
  readonly messages: MessagesView
  readonly records: RecordsView
  /** Null where the store is a file, which has one daemon. */
  readonly workers: WorkersView | null
  readonly installation: InstallationView
}

export const PARTS = [
  ...['head', 'progress', 'findings', 'freshness', 'schedules'],
  ...['events', 'runs', 'messages', 'records', 'workers', 'installation'],
] as const satisfies readonly (keyof StatusView)[]

/** @throws LeadsheetError store_* */
export async function readStatusView(options: StatusOptions, now: Date): Promise<StatusView> {
  const { store, timeZone, canAct } = options
  const clock = clockOf(timeZone, now)
  // All parts are read on one connection, so that no page of a sync is written in between.
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
      findings: await readFindings(db, health, { canAct, clock }),
      freshness: await readFreshnessView(db, health, options.snapshotFile, clock),
      schedules: await readSchedules(db, installation.schedules, { timeZone, canAct, clock }),
      events:
        installation.events &&
        (await readEvents(db, {
          ...{ way: installation.events, schedules: installation.schedules, checks: health.checks, clock },
        })),
      runs: await readRuns(db, clock, progress !== null),
      messages: await readMessages(db, clock),
      records: await readRecords(db, clock),
      workers: await readWorkers(installation.store, clock),
      installation: await readInstallation({ ...store, db }, options, clock),
    }
  })
}
