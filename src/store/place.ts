/** Where a store is: a file of SQLite, or a schema of a PostgreSQL database, as one text says it. */
import { LeadsheetError } from '../errors.ts'

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

/** Quoted nowhere, so that nobody has to. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,47}$/

/**
 * @param text a path, or `postgres://user@host:5432/database?schema=leadsheet`
 * @throws LeadsheetError config_invalid
 */
export function placeOf(text: string): StorePlace {
  if (!/^postgres(ql)?:/i.test(text)) return { kind: 'sqlite', file: text }
  if (!URL.canParse(text)) throw invalid('it is no URL')
  const url = new URL(text)
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA
  if (!SCHEMA.test(schema) || schema.startsWith('pg_'))
    throw invalid(`${JSON.stringify(schema)} cannot be a schema: small letters, digits and _, up to 48`)
  if (url.hostname === '' && !url.searchParams.has('host')) throw invalid('it names no host')
  if (url.pathname.length < 2) throw invalid('it names no database')
  url.searchParams.delete('schema')
  const shown = new URL(url)
  shown.password = ''
  shown.search = ''
  return { kind: 'postgres', url: url.href, schema, name: `${shown.href}?schema=${schema}` }
}

/** As messages call it. */
export function nameOf(place: StorePlace): string {
  return place.kind === 'sqlite' ? place.file : place.name
}

function invalid(what: string): LeadsheetError {
  return new LeadsheetError('config_invalid', `the address of the store is wrong: ${what}`, {
    hint: 'Such as postgres://leadsheet:PASSWORD@db.example.com:5432/leadsheet?schema=leadsheet.',
  })
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
