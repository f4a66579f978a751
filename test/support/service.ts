/** The reference service for tests, on a free port and with a fixed clock. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SQLite from 'better-sqlite3'
import { openService, type Service, type ServiceOptions } from '../../src/service/open.ts'

export const COMPANIES = fileURLToPath(new URL('../../data/companies.ndjson', import.meta.url))

/**
 * @param now the end of the simulated history
 * @param historyDays the length of the history
 * @param rateLimitPerMinute higher than usual for tests that sync often
 */
export function startService(folder: string, now: Date, historyDays: number, rateLimitPerMinute?: number) {
  return openWithPast({
    file: join(folder, 'service.db'),
    companiesFile: COMPANIES,
    seed: 7,
    historyDays,
    now: () => now.getTime(),
    ...(rateLimitPerMinute === undefined ? {} : { rateLimitPerMinute }),
  })
}

/**
 * Opens a service. Its past is copied if another service of this worker has the same, because simulating it
 * takes longer.
 */
export async function openWithPast(
  options: ServiceOptions & Required<Pick<ServiceOptions, 'historyDays' | 'now'>>,
): Promise<Service> {
  const { file, companiesFile, seed, historyDays, now, speed, playFrom } = options
  const key = JSON.stringify([companiesFile, seed, historyDays, now(), speed, playFrom])
  const past = pasts.get(key)
  if (past !== undefined && !existsSync(file)) writeFileSync(file, past, { mode: 0o600 })
  const isNew = !existsSync(file)
  const service = await openService(options)
  if (isNew) pasts.set(key, readDatabase(file))
  return service
}

const pasts = new Map<string, Buffer>()

function readDatabase(file: string): Buffer {
  const database = new SQLite(file, { readonly: true })
  try {
    return database.serialize()
  } finally {
    database.close()
  }
}
