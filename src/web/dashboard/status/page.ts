/** The status page: the overall verdict and the parts that explain it. The page updates itself. */

import type { Installation } from '../../../checks/facts.ts'
import { readHealth } from '../../../checks/run-checks.ts'
import type { Log } from '../../../log.ts'
import { readChangeStamp } from '../../../store/db/dialect.ts'
import { type DashboardDeps, frameOf } from '../../server/frame.ts'
import { type AddRoutes, sendPage } from '../../server/server.ts'
import { fullSyncButton, syncButton } from '../actions/buttons.ts'
import { clockOf } from '../format.ts'
import { readFreshnessView, readRecords } from './data.ts'
import { readEvents } from './events.ts'
import { readFindings } from './findings.ts'
import { type InstallationFacts, readInstallation, readWorkers } from './installation.ts'
import { liveRoutes } from './live.ts'
import { readMessages } from './messages.ts'
import { readSchedules } from './schedules.ts'
import { readProgress, readRuns } from './syncs.ts'

interface StatusDeps extends DashboardDeps, InstallationFacts {
  readonly installation: Installation
  readonly snapshotFile: string
  readonly log: Log
}

/** The parts of the page. `templates/dashboard/status/NAME.hbs` renders into the element `part-NAME`. */
const PARTS = [
  ...['head', 'progress', 'findings', 'freshness', 'schedules'],
  ...['events', 'runs', 'messages', 'records', 'workers', 'installation'],
] as const satisfies readonly (keyof StatusView)[]

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
      formatTime: () => clockOf(timeZone, now()).at(now().toISOString()).text,
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

type StatusView = Awaited<ReturnType<typeof readStatusView>>

/** @throws LeadsheetError store_* */
async function readStatusView(deps: StatusDeps, now: Date) {
  const { store, timeZone, canAct } = deps
  const clock = clockOf(timeZone, now)
  // All parts are read on one connection, so that no page of a sync is written in between.
  return store.db.connection().execute(async (db) => {
    const installation = { ...deps.installation, store: { db, place: store.place } }
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
      freshness: await readFreshnessView(db, health, deps.snapshotFile, clock),
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
      installation: await readInstallation({ ...store, db }, deps, clock),
    }
  })
}
