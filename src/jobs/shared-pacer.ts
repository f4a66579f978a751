/** The pace of requests to the upstream that all processes on one store keep together. */

import type { Store } from '../store/db/store.ts'
import { endTurn, holdRequests, readHeldMs, takeTurn } from '../store/sync/upstream-pace.ts'
import type { Pacer } from '../upstream/client/pacer.ts'

/** Undefined where one process alone asks. */
export function sharedPacerOf({ db, place }: Pick<Store, 'db' | 'place'>): Pacer | undefined {
  if (place.kind === 'sqlite') return undefined
  return {
    takeTurn: (gapMs, maxWaitMs) => takeTurn(db, gapMs, maxWaitMs),
    heldMs: () => readHeldMs(db),
    hold: (ms) => holdRequests(db, ms),
    endTurn: (budget) => endTurn(db, budget),
    putOff: (ms) => holdRequests(db, ms),
  }
}
