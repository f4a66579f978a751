/** The reference service for tests: on a free port, its clock standing at a fixed moment. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openService } from '../../src/service/open.ts'

const COMPANIES = fileURLToPath(new URL('../../data/companies.ndjson', import.meta.url))

/**
 * @param now where simulated time ends; the history before it has `historyDays`
 * @param rateLimitPerMinute more than usual for tests that sync again and again
 */
export function startService(folder: string, now: Date, historyDays: number, rateLimitPerMinute?: number) {
  return openService({
    file: join(folder, 'service.db'),
    companiesFile: COMPANIES,
    seed: 7,
    historyDays,
    now: () => now.getTime(),
    ...(rateLimitPerMinute === undefined ? {} : { rateLimitPerMinute }),
  })
}
