/** Gives the rows of a table as models, with columns in camelCase. The folder `store/tables` has their meanings. */
import { CamelCasePlugin, type Kysely, type Selectable } from 'kysely'
import type { CamelCase } from '../../domain/names.ts'
import type { Tables } from '../tables/tables.ts'
import type { Db } from './store.ts'

type Models = {
  [T in keyof Tables]: { [Column in keyof Tables[T] as CamelCase<Column>]: Tables[T][Column] }
}

export type Model<T extends keyof Tables> = Readonly<Selectable<Models[T]>>

const CAMEL_CASE = new CamelCasePlugin()

/** The same database, for queries that name columns in camelCase and return models. Raw SQL stays as it is. */
export function modelsIn(db: Db): Kysely<Models> {
  return db.withPlugin(CAMEL_CASE) as unknown as Kysely<Models>
}
