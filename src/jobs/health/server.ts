/** Whether a PostgreSQL server takes what is to be written, and has room for who comes. */

import { readServerState } from '../../store/db/postgres.ts'
import type { Db } from '../../store/db/store.ts'
import { fail, ok, warn } from '../../upstream/checkup.ts'
import type { HealthCheck } from './installation.ts'

/** A worker that starts wants as many. */
const CONNECTIONS_LEAST = 10

export async function checkServer(db: Db): Promise<HealthCheck> {
  const { isStandby, isReadOnly, connections } = await readServerState(db)
  if (isStandby) {
    return fail(
      'database',
      'the PostgreSQL server follows another one, and takes no writes',
      'name the primary in database_url (LEADSHEET_DATABASE_URL)',
    )
  }
  if (isReadOnly) {
    return fail(
      'database',
      'PostgreSQL lets this user only read',
      'name another user in database_url (LEADSHEET_DATABASE_URL), or set default_transaction_read_only off',
    )
  }
  const { used, most } = connections
  const left = most - used
  return left < CONNECTIONS_LEAST
    ? warn(
        'database',
        `${left} of the ${most} connections of PostgreSQL are left`,
        'raise max_connections, or end what else connects to it',
      )
    : ok('database', `can be written, ${used} of ${most} connections in use`)
}
