/** Where a store is: a file of SQLite, or a schema of a PostgreSQL database, as one text says it. */
import { LeadsheetError } from '../../errors.ts'

/** Of PostgreSQL, where the address does not name one. */
export const DEFAULT_SCHEMA = 'leadsheet'

export type StorePlace =
  | { readonly kind: 'sqlite'; readonly file: string }
  | {
      readonly kind: 'postgres'
      /** For the driver: without the schema, with the password. */
      readonly url: string
      readonly schema: string
      /** For people: without the password. */
      readonly name: string
    }

/** Quoted nowhere, so that nobody has to; and short enough for that of the jobs beside it, which pg-boss wants in 50. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,44}$/

/** What the driver would take besides could undo what our connections begin with. */
const PARAMETERS = ['schema', 'user', 'host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey']

/**
 * As libpq has them. `prefer` and `allow` are left out: the driver does not fall back, and who wants no encryption
 * says so.
 */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/**
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
  // Or `require` would be another thing here than in psql and pg_dump, with the same address.
  if (url.searchParams.has('sslmode')) url.searchParams.set('uselibpqcompat', 'true')
  const shown = new URL(url)
  shown.password = ''
  shown.search = ''
  return { kind: 'postgres', url: url.href, schema, name: `${shown.href}?schema=${schema}` }
}

/** What is wrong with an address of PostgreSQL, without what may be a part of its password; null for one that will do. */
export function postgresFault(text: string): string | null {
  const url = URL.parse(text)
  // Behind the host there is no @: what looks like a path or a query then is rather the rest of a password.
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

/** Whether each % in it begins a percent-encoded character. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** As messages call it. */
export function nameOf(place: StorePlace): string {
  return place.kind === 'sqlite' ? place.file : place.name
}

/**
 * The file of a store, for what only files can.
 * @throws LeadsheetError store_elsewhere where it is in PostgreSQL
 */
export function fileOf(store: { readonly place: StorePlace }, what = 'this'): string {
  if (store.place.kind === 'sqlite') return store.place.file
  throw new LeadsheetError(
    'store_elsewhere',
    `${what} is for a store in a file; this one is ${store.place.name}`,
    {
      hint: 'PostgreSQL has its own tools for it; README "Beyond one machine" names them.',
    },
  )
}
