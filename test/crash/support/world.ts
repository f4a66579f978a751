/** The service and the folders of a program that is killed. The service's clock stands still. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openService } from '../../../src/service/open.ts'
import { openStore } from '../../../src/store/open.ts'
import { folderWith } from '../../support/folder.ts'

const DAY_MS = 86_400_000

/**
 * Small pages and the details of one lead, so that each kind of work is short. The snapshot has its own
 * tests.
 */
const SETTINGS = `
enrichment: { per_run: 1 }
snapshot: { when: never }
recipients: [ana@example.com, ben@example.com]
`

export type World = Awaited<ReturnType<typeof openWorld>>

/** @param historyDays the length of the service's history; a day has about 30 leads */
export async function openWorld(historyDays: number) {
  const clock = { now: lastTuesdayNoon() }
  const service = await openService({
    file: join(folderWith(), 'service.db'),
    companiesFile: 'data/companies.ndjson',
    seed: 7,
    historyDays,
    rateLimitPerMinute: 1_000_000,
    now: () => clock.now,
  })
  const key = await service.createKey({ name: 'crash', scope: 'read' })
  return {
    service,
    env: { LEADSHEET_API_URL: service.url, LEADSHEET_API_KEY: key, LEADSHEET_FROM: 'reports@example.com' },
    /** Lets a day pass at the service. */
    async toNextDay() {
      clock.now += DAY_MS
      await service.catchUp()
    },
    [Symbol.asyncDispose]: service.close,
  }
}

/** Returns the noon of a Tuesday in the past. Leads change on the day after; on a weekend none might. */
function lastTuesdayNoon(): number {
  const tuesday = 2
  const latest = new Date(Date.now() - 2 * DAY_MS)
  const days = (latest.getUTCDay() - tuesday + 7) % 7
  return latest.setUTCHours(12, 0, 0, 0) - days * DAY_MS
}

/** Makes a working directory with settings and an empty database. */
export async function openFolder(api = 'api: { page_size: 100 }'): Promise<string> {
  const folder = folderWith({ 'leadsheet.yaml': `${api}${SETTINGS}`, 'data/.keep': '' })
  await (await openStore(databaseIn(folder), new Date())).close()
  return folder
}

export function databaseIn(folder: string): string {
  return join(folder, 'data', 'leadsheet.db')
}

/** Copies a working directory into another folder. */
export function copyOf(folder: string, into: string, name: string): string {
  const copy = join(into, name)
  mkdirSync(copy)
  cpSync(folder, copy, { recursive: true })
  return copy
}
