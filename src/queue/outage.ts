/** What pg-boss meets while nobody waits for it: told once while PostgreSQL is away, and that it is back. */
import type { PgBoss } from 'pg-boss'
import { errorText } from '../errors.ts'
import type { Log } from '../log.ts'
import { postgresFailure } from '../store/postgres-driver.ts'

const PROBE_MS = 2_000

/** Without a listener an `error` would end the process; pg-boss goes on by itself. */
export function watchOutages(boss: PgBoss, name: string, log: Log): void {
  let isAway = false
  const probe = async (): Promise<void> => {
    try {
      await boss.getDb().executeSql('SELECT 1')
    } catch {
      // Stopped meanwhile, or still away.
      if (isAway) setTimeout(() => void probe(), PROBE_MS).unref()
      return
    }
    isAway = false
    log.info(`${name} is back`)
  }
  boss.on('error', (thrown) => {
    const failure = postgresFailure(name, thrown)
    if (failure?.code !== 'store_unreachable') {
      log.error({ err: thrown }, `the queue: ${errorText(thrown)}`)
      return
    }
    if (isAway) return
    isAway = true
    log.warn({ code: failure.code }, `${failure.message}; the work goes on when it is back`)
    setTimeout(() => void probe(), PROBE_MS).unref()
  })
  boss.on('stopped', () => {
    isAway = false
  })
  boss.on('warning', ({ message, data }) => log.warn({ data }, `the queue: ${message}`))
}
