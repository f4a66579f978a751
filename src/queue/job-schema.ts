/** Where jobs are: beside the store, so that installations that share a database do not share them. */
import type { PostgresPlace } from '../store/db/postgres.ts'

export function jobSchemaOf({ schema }: PostgresPlace): string {
  return `${schema}_jobs`
}
