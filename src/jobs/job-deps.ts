import type { Log } from '../log.ts'
import type { Store } from '../store/db/store.ts'

/** What nearly every job works with. */
export interface JobDeps {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
}
