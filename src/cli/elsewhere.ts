/** Commands whose work PostgreSQL's own tools do, where it has the store: refused, with what to call in their place. */
import type { Config } from '../config/config.ts'
import { LeadsheetError } from '../errors.ts'
import type { StorePlace } from '../store/place.ts'
import { storePlaceOf } from './installation.ts'

type PostgresPlace = Extract<StorePlace, { kind: 'postgres' }>

/** What they do, as one would type it; the password is asked for, or comes by PGPASSWORD or ~/.pgpass. */
const COMMANDS = {
  backup: (address: string, schema: string) =>
    `pg_dump --format=custom --schema=${schema} --file=leadsheet.dump '${address}'`,
  restore: (address: string) =>
    `pg_restore --clean --if-exists --single-transaction --dbname='${address}' leadsheet.dump`,
} as const

/**
 * The file that is the store.
 * @throws LeadsheetError store_elsewhere
 */
export function requireFile(
  config: Pick<Config, 'dataDir' | 'store'>,
  command: keyof typeof COMMANDS,
): string {
  const place = storePlaceOf(config)
  if (place.kind === 'sqlite') return place.file
  throw new LeadsheetError(
    'store_elsewhere',
    `\`leadsheet ${command}\` is for a store in a file; this one is ${place.name}`,
    { hint: `Call ${COMMANDS[command](addressOf(place), place.schema)}` },
  )
}

/** For programs of PostgreSQL, which know of no schema in an address. */
function addressOf({ name }: PostgresPlace): string {
  return name.replace(/\?.*$/, '')
}
