/** What pg-boss meets while nobody waits for it: told once while PostgreSQL is away, and that it is back. */
import type { PgBoss } from 'pg-boss'
import type { Log } from '../log.ts'
import { postgresFailure } from '../store/db/postgres-driver.ts'

const PROBE_MS = 2_000
/** Of the connection that wakes workers: it is opened anew by itself, and meanwhile they look every few seconds. */
const LISTENING = /LISTEN\/NOTIFY/

/** Without a listener an `error` would end the process; pg-boss goes on by itself. */
export function watchOutages(boss: PgBoss, name: string, log: Log): void {
  let isAway = false
  const probe = async (): Promise<void> => {
    try {
      await boss.getDb().executeSql('SELECT 1')
    } catch {
      // Stopped meanwhile, or still away.
      if (isAway) setTimeout(probe, PROBE_MS).unref()
      return
    }
    isAway = false
    log.info(`${name} is back`)
  }
  boss.on('error', (thrown) => {
    // What a worker meets is no Error but has all that belongs to one.
    const error = thrown instanceof Error ? thrown : Object.assign(new Error(), thrown)
    if (LISTENING.test(error.message)) return
    if (!isOutage(name, error)) {
      log.error({ err: error }, `the queue: ${error.message}`)
      return
    }
    if (isAway) return
    isAway = true
    log.warn(
      { code: 'store_unreachable' },
      `${name} is away: ${error.message}; the work goes on when it is back`,
    )
    setTimeout(probe, PROBE_MS).unref()
  })
  boss.on('stopped', () => {
    isAway = false
  })
  boss.on('warning', ({ message, data }) => log.warn({ data }, `the queue: ${message}`))
}

function isOutage(name: string, error: Error): boolean {
  const isTold = 'code' in error && error.code === 'store_unreachable'
  return isTold || postgresFailure(name, error)?.code === 'store_unreachable'
}
