/** The reference service for tests: on a free port, its clock standing at a fixed moment. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SQLite from 'better-sqlite3'
import { openService, type Service, type ServiceOptions } from '../../src/service/open.ts'

export const COMPANIES = fileURLToPath(new URL('../../data/companies.ndjson', import.meta.url))

/**
 * @param now where simulated time ends; the history before it has `historyDays`
 * @param rateLimitPerMinute more than usual for tests that sync again and again
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

/** Opens a service whose past is copied where another one of this worker has had the same; to make it up takes longer. */
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
