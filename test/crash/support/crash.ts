import type { OwnPostgres } from '../../support/postgres/own-postgres.ts'

/** In one of two ways: all of the server is gone and started again, or it loses a process and is back by itself. */
export async function crash(postgres: OwnPostgres, next: () => number): Promise<void> {
  if (next() < 0.5) return postgres.killProcess()
  await postgres.stop('immediate')
  await postgres.start()
}
