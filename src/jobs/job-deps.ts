import type { Log } from '../log.ts'
import type { Store } from '../store/db/store.ts'

/** The store, the log and the clock, with which nearly every job works. */
export interface JobDeps {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
}
