/** The dashboard's pages of agents and the record. */

import { onTestFinished } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import { dayBefore, daysUpTo, localDates } from '../../../src/domain/period.ts'
import { openWebPages } from '../../../src/report/preferences/page.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { listCountedDays, refreshDailyCounts } from '../../../src/store/insight/daily-count.ts'
import { endedSessionsIn } from '../../../src/store/reports/ended-session.ts'
import { createSignInGuard } from '../../../src/web/auth/sign-in.ts'
import { agentsRoutes } from '../../../src/web/dashboard/agents.ts'
import { leadRoutes } from '../../../src/web/dashboard/lead.ts'
import { recordRoutes } from '../../../src/web/dashboard/record.ts'
import { assetRoutes, createErrorPages, openDashboardPages } from '../../../src/web/server/frame.ts'
import { createAllowedHosts } from '../../../src/web/server/headers.ts'
import { openWeb } from '../../../src/web/server/server.ts'
import { TEMPLATES_FOLDER } from '../report.ts'
import { dailyNumbers } from '../reports/daily-numbers.ts'
import { lead, openFilledStore, save, saveWholeRun } from '../store.ts'
import { SILENT } from '../syncing.ts'

/** A Saturday. All leads were read a quarter of an hour before. */
export const LOOKED_AT = new Date('2026-11-21T09:15:00Z')
export const READ_AT = '2026-11-21T09:00:00.000Z'
export const ZONE = 'Europe/Vienna'

/** Updates the counts by day, as a report does. */
export async function countDays(store: Store): Promise<void> {
  const days = await listCountedDays(store.db, dayBefore(new Date(READ_AT), ZONE).to, ZONE)
  await refreshDailyCounts(store, days, LOOKED_AT)
}

/** @returns the address of the pages */
export async function openCountedPages(store: Store): Promise<string> {
  const [pages, dashboardPages] = await Promise.all([
    openWebPages(TEMPLATES_FOLDER),
    openDashboardPages(TEMPLATES_FOLDER),
  ])
  const now = () => LOOKED_AT
  const deps = { store, pages: dashboardPages, now, timeZone: ZONE, canAct: false }
  const server = await openWeb(
    { host: '127.0.0.1', port: 0, publicUrl: null, pages, log: SILENT },
    [assetRoutes(dashboardPages)],
    {
      guard: createSignInGuard({
        token: null,
        ended: endedSessionsIn(store),
        isOpen: true,
        remedy: '',
        log: SILENT,
        now,
        hosts: createAllowedHosts(null),
        sendErrorPage: createErrorPages(dashboardPages),
      }),
      parts: [agentsRoutes(deps), leadRoutes(deps), recordRoutes(deps)],
    },
  )
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
}

/**
 * Opens a store with new leads of two pipelines on so many days. On the last days there are three times as
 * many.
 */
export async function openDailyStore(days: number): Promise<Store> {
  const store = await openFilledStore(`${days} days`, (empty) => saveDays(empty, days))
  onTestFinished(() => store.close())
  return store
}

async function saveDays(store: Store, days: number): Promise<void> {
  const times = (day: number) => (day >= days - 3 ? 3 : 1)
  const counts = dailyNumbers({ mean: 8, days, seed: 5, times })
  const leads = daysUpTo(READ_AT, days, ZONE).flatMap((day, index) =>
    Array.from({ length: counts[index] ?? 0 }, (_, each): Lead => {
      const at = new Date(Date.parse(day.from) + 3_600_000 + each * 60_000).toISOString()
      const times = { createdAt: at, updatedAt: at, statusChangedAt: at }
      return lead(`${localDates(day)} ${each}`, { pipelineId: each % 2 === 0 ? 'p1' : 'p2', ...times })
    }),
  )
  await save(store, leads)
  await saveWholeRun(store, READ_AT)
}

/** Returns a page as text, without tags and with single spaces. */
export function textOf(html: string): string {
  return html
    .replace(/<(?:br|\/(?:td|th|p|dt|dd|h\d|li|summary|tr))[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll('&#x3D;', '=')
    .replace(/\s+/g, ' ')
}
