/** Publishes the snapshot of a store and reads it, for tests. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { PublishDeps } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'

export const QUERIES = join(import.meta.dirname, '../../../docs/queries')

export function publishing(
  store: Store,
  folder: string,
  options: { readonly now?: () => Date } = {},
): PublishDeps {
  return {
    store,
    now: options.now ?? (() => new Date('2026-11-21T06:30:00Z')),
    profile: REFERENCE_PROFILE,
    file: join(folder, 'snapshot.db'),
    version: '0.0.0',
    group: null,
  }
}

/** Returns the rows of a query, read as an analyst without write access. */
export function ask<Row = Record<string, unknown>>(file: string, query: string): Row[] {
  const database = new Database(file, { readonly: true, fileMustExist: true })
  try {
    return database.prepare<[], Row>(query).all()
  } finally {
    database.close()
  }
}
