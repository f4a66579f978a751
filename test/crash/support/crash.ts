import type { OwnPostgres } from '../../support/postgres/own-postgres.ts'

/**
 * Crashes a server in one of two ways: all processes end and it is started again, or one process ends and it
 * recovers by itself.
 */
export async function crash(postgres: OwnPostgres, next: () => number): Promise<void> {
  if (next() < 0.5) return postgres.killProcess()
  await postgres.stop('immediate')
  await postgres.start()
}
