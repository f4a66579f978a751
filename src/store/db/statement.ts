/**
 * Statements that run very often. Kysely compiles each of them once for each kind of database, because
 * compiling takes longer than most of them take to run.
 */
import type { CompiledQuery, Kysely, QueryResult } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import { isPostgres } from './postgres.ts'

/** Stands for a value while a statement is compiled. */
class Place {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/**
 * Makes a function that runs a statement with new values, which are given by name.
 * @param build builds the statement. It runs once for each kind of database and gets stand-ins for the
 * values, so it may do nothing with them but put them into the statement
 */
export function statement<Values extends object, Row>(
  build: (db: Kysely<Tables>, values: Values) => CompiledQuery<Row>,
): (db: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>> {
  const compiled = new Map<boolean, CompiledQuery<Row>>()
  return (db, values) => {
    const kind = isPostgres(db)
    let query = compiled.get(kind)
    if (query === undefined) {
      const places = Object.keys(values).map((name) => [name, new Place(name)])
      query = build(db, Object.fromEntries(places))
      compiled.set(kind, query)
    }
    const parameters = query.parameters.map((value) =>
      value instanceof Place ? Reflect.get(values, value.name) : value,
    )
    return db.executeQuery({ ...query, parameters })
  }
}
