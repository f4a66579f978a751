/** The place of a store: an SQLite file, or a schema of a PostgreSQL database, parsed from one text. */
import { LeadsheetError } from '../../errors.ts'

/** The PostgreSQL schema of a store whose address names no schema. */
const DEFAULT_SCHEMA = 'leadsheet'

export type StorePlace =
  | { readonly kind: 'sqlite'; readonly file: string }
  | {
      readonly kind: 'postgres'
      /** The address for the driver: without the schema, with the password. */
      readonly url: string
      readonly schema: string
      /** The address for people: without the password. */
      readonly name: string
    }

/** A name without quotes. pg-boss allows 50 characters and appends `_jobs` to it, so 45 are left. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,44}$/

/** Other parameters could override the settings of our connections. */
const PARAMETERS = ['schema', 'user', 'host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey']

/** Those of libpq without `prefer` and `allow`, which try connections both ways, as the driver cannot. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/**
 * Parses the address of a store.
 * @param text a path, or `postgres://user@host:5432/database?schema=leadsheet`
 * @throws LeadsheetError config_invalid
 */
export function placeOf(text: string): StorePlace {
  if (!/^postgres(ql)?:/i.test(text)) return { kind: 'sqlite', file: text }
  const fault = postgresFault(text)
  if (fault !== null) {
    throw new LeadsheetError('config_invalid', `the address of the store is wrong: ${fault}`, {
      hint: 'Such as postgres://leadsheet:PASSWORD@db.example.com:5432/leadsheet?schema=leadsheet.',
    })
  }
  const url = new URL(text)
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA
  url.searchParams.delete('schema')
  // Makes the mode `require` mean the same to the driver as in psql and pg_dump.
  if (url.searchParams.has('sslmode')) url.searchParams.set('uselibpqcompat', 'true')
  const shown = new URL(url)
  shown.password = ''
  shown.search = ''
  return { kind: 'postgres', url: url.href, schema, name: `${shown.href}?schema=${schema}` }
}

/** Returns null for a valid address. Shows nothing that may belong to the password. */
export function postgresFault(text: string): string | null {
  const url = URL.parse(text)
  // Because no @ may follow the host, an @ in the path or query is the rest of a password that was not
  // encoded.
  if (url === null || /\/\/[^/?#]*[/?#].*@/.test(text))
    return 'it is no URL; characters such as @, /, ? or # in a password are percent-encoded'
  if (!/^postgres(ql)?:$/.test(url.protocol)) return 'it does not begin with postgres://'
  if (!isDecodable(url.username + url.password + url.pathname)) return 'a % of its own is written %25'
  const { searchParams } = url
  if (url.hostname === '' && !searchParams.has('host')) return 'it names no host'
  if (!/^\/[^/]+$/.test(url.pathname) || url.hash !== '') return 'it names no database'
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown === 'password') return 'the password belongs before the host'
  if (unknown !== undefined) return `there is no parameter ${unknown}; known: ${PARAMETERS.join(', ')}`
  const twice = PARAMETERS.find((name) => searchParams.getAll(name).length > 1)
  if (twice !== undefined) return `${twice} stands in it twice`
  const mode = searchParams.get('sslmode')
  if (mode !== null && !SSL_MODES.includes(mode)) return `sslmode must be one of ${SSL_MODES.join(', ')}`
  if (mode === 'verify-ca' && !searchParams.has('sslrootcert')) return 'sslmode=verify-ca needs sslrootcert'
  const schema = searchParams.get('schema') ?? DEFAULT_SCHEMA
  return SCHEMA.test(schema) && !/^(pg_|information_schema$)/.test(schema)
    ? null
    : `${JSON.stringify(schema)} cannot be a schema: small letters, digits and _, up to 45`
}

export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

export function nameOf(place: StorePlace): string {
  return place.kind === 'sqlite' ? place.file : place.name
}

/**
 * For operations that need a file.
 * @throws LeadsheetError store_elsewhere for PostgreSQL
 */
export function fileOf(store: { readonly place: StorePlace }, what = 'this'): string {
  if (store.place.kind === 'sqlite') return store.place.file
  throw new LeadsheetError(
    'store_elsewhere',
    `${what} is for a store in a file; this one is ${store.place.name}`,
    {
      hint: 'PostgreSQL has its own tools for it; docs/how-to/postgresql-and-workers.md names them.',
    },
  )
}
