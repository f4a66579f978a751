/** The operators' pages without sign-in on a server of the test. The test fills the store and sets the time. */

import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Installation } from '../../../src/checks/check.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { endedSessionsIn } from '../../../src/store/reports/ended-session.ts'
import { createSignInGuard } from '../../../src/web/auth/sign-in.ts'
import { agentsRoutes } from '../../../src/web/dashboard/agents.ts'
import { leadRoutes } from '../../../src/web/dashboard/lead.ts'
import { recordRoutes } from '../../../src/web/dashboard/record.ts'
import { statusRoutes } from '../../../src/web/dashboard/status/page.ts'
import { assetRoutes, createErrorPages, openDashboardPages } from '../../../src/web/server/frame.ts'
import { createAllowedHosts } from '../../../src/web/server/headers.ts'
import { TEMPLATES_FOLDER } from '../report.ts'
import { scheduleOf, timing } from '../schedule/schedule.ts'
import { openEmptyStore } from '../store.ts'
import { SILENT } from '../syncing.ts'
import { bareInstallation } from './installation.ts'
import { openTestWeb } from './server.ts'

export type StatusPage = Awaited<ReturnType<typeof openStatusPage>>

export interface StatusPageOptions {
  /** The store; by default a new one, which is closed with the page. */
  readonly store?: Store
  readonly canAct?: boolean
  /** The state of events; by default an upstream without webhooks. */
  readonly events?: Installation['events']
  /** The time at which the pages are looked at; by default {@link STATUS_AT}. */
  readonly at?: Date
}

const dashboardPages = await openDashboardPages(TEMPLATES_FOLDER)

export const STATUS_AT = new Date('2026-11-21T12:00:00Z')

export async function openStatusPage(options: StatusPageOptions = {}) {
  const { canAct = false, events = null, at = STATUS_AT } = options
  const store = options.store ?? (await openEmptyStore())
  if (options.store === undefined) onTestFinished(store.close)
  const now = () => at
  const schedules = [
    scheduleOf({ name: 'sync', timing: timing('*/15 * * * *') }),
    scheduleOf({ name: 'report:daily', timing: timing('0 15 * * *') }),
  ]
  const deps = { store, pages: dashboardPages, now, timeZone: 'Europe/Vienna', canAct }
  const guard = createSignInGuard({
    token: null,
    ended: endedSessionsIn(store),
    isOpen: true,
    remedy: '',
    log: SILENT,
    now,
    hosts: createAllowedHosts(null),
    sendErrorPage: createErrorPages(dashboardPages),
  })
  const parts = [
    statusRoutes({
      ...deps,
      version: '1.2.3',
      snapshotFile: join(fileOf(store), '../snapshot.db'),
      installation: bareInstallation(store, { schedules, events }),
    }),
    ...[agentsRoutes(deps), leadRoutes(deps), recordRoutes(deps)],
  ]
  const server = await openTestWeb({}, [assetRoutes(dashboardPages)], { guard, parts })
  /** Returns the HTML of the status page. */
  const readHtml = async () => (await fetch(server.url)).text()
  return { url: server.url, store, readHtml }
}
