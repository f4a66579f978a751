/** Compiles frequent statements once, because compiling them takes longer than running them. */
import type { CompiledQuery, Kysely, QueryResult } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import { isPostgres } from './postgres.ts'

class Place {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Must only put the placeholders into the statement, and use them in no other way. */
type Build<Values, Row> = (db: Kysely<Tables>, values: Values) => CompiledQuery<Row>

/** Makes a function that runs a statement with values by name. `build` runs once per kind of database. */
export function statement<Values extends object, Row>(
  build: Build<Values, Row>,
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
