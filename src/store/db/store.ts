import type { Kysely, Transaction } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Tables } from '../tables/tables.ts'
import type { StorePlace } from './place.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export interface Store {
  /** For reading. Writing goes through {@link Store.write}. */
  readonly db: Db
  readonly place: StorePlace
  /** Random, made with the store; see the table `installation`. */
  readonly installationId: string
  /** All or nothing; inside, use the argument only: `db` would wait for ever. */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /**
   * As `write`, without waiting for the disk: for what can be read again from the upstream. A power cut takes the
   * last of these away, whole and in order; the next `write` puts them on the disk with its own.
   */
  writeSoon<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/* When and by which run something was read, as every row that is read from the upstream has it. */

export interface Observation {
  readonly runId: string
  readonly at: Instant
}

const OF_EVENT = 'event:'

/** What is read since an event told of it is of no run of a sync: `event:20261121T061500Z`. */
export function observedByEvent(at: Instant): Observation {
  return { runId: `${OF_EVENT}${at.replace(/[-:]|\.\d+/g, '')}`, at }
}

export function isOfEvent(runId: string): boolean {
  return runId.startsWith(OF_EVENT)
}
