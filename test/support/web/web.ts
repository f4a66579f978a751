/** The recipients' pages on a server of the test, with a report for ana, ben and dana. */
import { onTestFinished } from 'vitest'
import { openPreferencePage } from '../../../src/jobs/reports/preferences.ts'
import { signLink } from '../../../src/mail/message.ts'
import type { Timing } from '../../../src/schedule/timing.ts'
import {
  findPreference,
  type Preference,
  readOrCreateLinkKey,
} from '../../../src/store/reports/preference.ts'
import { preferenceRoutes, preferencesUrl } from '../../../src/web/preferences.ts'
import type { WebLimits } from '../../../src/web/server/server.ts'
import { DAILY, recipient } from '../mail/reports.ts'
import { openEmptyStore } from '../store.ts'
import { SILENT } from '../syncing.ts'
import { openTestWeb, webPages } from './server.ts'

/** A Friday. */
const NOW = new Date('2026-11-20T09:00:00Z')

const WEEKDAYS: Timing = { expression: '0 7 * * 1-5', timeZone: 'Europe/Berlin', holidays: [] }

export async function openPages({
  timing = WEEKDAYS,
  limits = {},
}: {
  timing?: Timing
  limits?: Partial<WebLimits>
} = {}) {
  const store = await openEmptyStore()
  onTestFinished(store.close)
  const berlin = { timeZone: 'Europe/Berlin' }
  const filter = {
    pipelineIds: ['eu-mid-market'],
    conditions: [{ field: 'score', min: 60, max: null }],
  }
  const listed = {
    report: { ...DAILY, ...berlin, weekStarts: 'monday', title: null } as const,
    recipients: [
      recipient('ana@example.com', berlin),
      recipient('Ben@Example.com', berlin),
      recipient('dana@example.com', {
        ...berlin,
        locale: 'de-DE',
        filter,
        attachments: ['stalled.xlsx', 'charts'],
      }),
    ],
    timing,
  }
  const desk = openPreferencePage({
    store,
    log: SILENT,
    now: () => NOW,
    reports: [listed],
    reader: { locale: 'en-GB', timeZone: 'UTC' },
  })
  const publicUrl = 'https://reports.example.com'
  const server = await openTestWeb({ publicUrl, trustedProxies: ['loopback'], limits }, [
    preferenceRoutes(desk, webPages),
  ])
  const key = await readOrCreateLinkKey(store, NOW)
  return {
    store,
    server,
    /** Returns the URL of a recipient's page on the test's server. */
    pageOf: (address: string, report = 'daily') =>
      preferencesUrl(server.url, signLink(key, { address, report })),
    standingOf: async (address: string): Promise<Preference['state'] | null> => {
      const found = await findPreference(store.db, { address, report: 'daily' })
      return found?.state ?? null
    },
  }
}

/** Unsubscribes by one click, like a mail program. */
export function clickOnce(url: string): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) })
}

export function wishFor(url: string, choice: string): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams({ choice }) })
}
