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
  /**
   * Runs `work` in a transaction. `work` must use only its argument, because a query on `db` would wait for
   * ever.
   */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /**
   * Runs `work` in a transaction that does not wait for the disk. A power cut loses only the last of these
   * transactions, each as a whole. Use the method only for data that leadsheet reads again or makes again
   * after such a loss. The next `write` flushes these transactions too.
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

/**
 * Makes the observation for data that was read because of an event, not by a sync. Because no sync run has
 * read the data, the run id is made from the time: `event:20261121T061500Z`.
 */
export function observedByEvent(at: Instant): Observation {
  return { runId: `${OF_EVENT}${at.replace(/[-:]|\.\d+/g, '')}`, at }
}

export function isOfEvent(runId: string): boolean {
  return runId.startsWith(OF_EVENT)
}
