/** Recipients whose server refuses one issue after the other: after so many they get no more, until a person says so. */
import type { Log } from '../../log.ts'
import type { Store } from '../../store/db/store.ts'
import { listRefusing } from '../../store/outbox/delivery-list.ts'
import { changeSubscription } from './change-preference.ts'

export interface PauseDeps {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  /** Issues in a row; 0 for never. */
  readonly pauseAfter: number
}

export async function pauseRefused({ store, log, now, pauseAfter }: PauseDeps): Promise<void> {
  if (pauseAfter === 0) return
  for (const { recipient, report, issues, response } of await listRefusing(store.db, pauseAfter)) {
    const reason = `${issues} issues in a row were refused: ${response}`
    const wishedBy = { by: 'leadsheet', reason } as const
    await changeSubscription(store, { address: recipient, report }, 'pause', wishedBy, now())
    log.warn({ recipient, report }, `paused: ${reason}`)
  }
}
