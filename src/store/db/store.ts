/** The open store that all other folders work with: its database for reading, and its methods for writing. */
import type { Kysely, Transaction } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import type { Tables } from '../tables/tables.ts'
import type { StorePlace } from './place.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export interface Store {
  /** The database for reading. To write, call {@link Store.write}. */
  readonly db: Db
  readonly place: StorePlace
  /** A random id that was made when the store was created. See the table `installation`. */
  readonly installationId: string
  /** `work` must use only its argument, because a query on `db` would wait for ever. */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /**
   * A power cut may lose the last of these transactions, so use it only for data that is made again. The next
   * `write` flushes them.
   */
  writeSoon<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The time at which a row was read from the upstream (the API of the leads), and the run that read it. */
export interface Observation {
  readonly runId: string
  readonly at: Instant
}

const OF_EVENT = 'event:'

/** No sync run has read the data, so the id is made from the time: `event:20261121T061500Z`. */
export function observedByEvent(at: Instant): Observation {
  return { runId: `${OF_EVENT}${at.replace(/[-:]|\.\d+/g, '')}`, at }
}

export function isOfEvent(runId: string): boolean {
  return runId.startsWith(OF_EVENT)
}
