/** What PostgreSQL's own programs do, where it has the store: refused, with what to call in its place. */
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { PostgresPlace } from '../store/db/postgres.ts'

/** As one would type it; the password is asked for, or comes by PGPASSWORD or ~/.pgpass. */
export function backupElsewhere(place: PostgresPlace): LeadsheetError {
  return new LeadsheetError(
    'store_elsewhere',
    `${shellCommand('backup')} is for a store in a file; this one is ${place.name}`,
    {
      hint: `Call pg_dump --format=custom --schema=${place.schema} --file=leadsheet.dump '${addressOf(place)}'`,
    },
  )
}

export function restoreElsewhere(place: PostgresPlace): LeadsheetError {
  return new LeadsheetError(
    'store_elsewhere',
    `${shellCommand('restore FILE')} is for a store in a file; this one is ${place.name}`,
    {
      hint: `Stop all workers, call pg_restore --clean --if-exists --single-transaction --dbname='${addressOf(place)}' leadsheet.dump, and then ${shellCommand('restore')} without a file, so that nothing is mailed twice.`,
    },
  )
}

/** For programs of PostgreSQL, which know of no schema in an address. */
function addressOf({ url }: PostgresPlace): string {
  const address = new URL(url)
  address.password = ''
  address.searchParams.delete('uselibpqcompat')
  return address.href
}
