/**
 * Which leads that events told of are left to a sync of changes, in place of being asked for one by one: very many, since
 * a list has a hundred on a page, and all of an upstream that shows no single lead.
 */

import type { Store } from '../../store/db/store.ts'
import { countAskedLeads } from '../../store/events/event-queue.ts'
import type { Source } from '../../upstream/source.ts'

const BURST_LEADS = 500
/** Between two syncs that bursts ask for: while one writes, messages wait for their answers. */
const BURST_PAUSE_MS = 15_000
/** Between two syncs that are asked for since no single lead can be. */
const PAUSE_MS = 60_000

/** Syncs of changes. */
export interface ChangeSyncs {
  /** Has one run as soon as may be. False where another sync runs just now. */
  ask(): Promise<boolean>
  /** Whether one is due or runs. */
  isOpen(): Promise<boolean>
}

export interface LeftToSyncDeps {
  readonly source: Pick<Source, 'has'>
  readonly store: Store
  readonly now: () => Date
  /** Null where the upstream cannot be asked for changes, or none are scheduled. */
  readonly syncs: ChangeSyncs | null
}

export interface LeftToSync {
  /** Whether no lead is to be asked for now; then a sync is due, or will be. */
  areLeads(): Promise<boolean>
  /** To be called for each that is asked for. */
  countOne(): void
}

export function createLeftToSync({ source, store, now, syncs }: LeftToSyncDeps): LeftToSync {
  let hasAsked = false
  /** So many are asked for one by one before a sync is asked for again. */
  let oneByOne = 0
  let restsUntilMs = 0
  let burstRestsUntilMs = 0

  async function askForAll(): Promise<void> {
    if (syncs === null || now().getTime() < restsUntilMs) return
    if ((await countAskedLeads(store.db, 1)) === 0 || (await syncs.isOpen())) return
    restsUntilMs = now().getTime() + PAUSE_MS
    await syncs.ask()
  }

  return {
    async areLeads() {
      if (!source.has('lead')) {
        await askForAll()
        return true
      }
      const isBurst = (await countAskedLeads(store.db, BURST_LEADS + 1)) > BURST_LEADS
      if (!isBurst) hasAsked = false
      if (syncs === null || !isBurst || oneByOne > 0) return false
      if (await syncs.isOpen()) return true
      if (!hasAsked && now().getTime() < burstRestsUntilMs) return true
      // One that is over and has not brought them may not be able to.
      hasAsked = !hasAsked && (await syncs.ask())
      if (hasAsked) burstRestsUntilMs = now().getTime() + BURST_PAUSE_MS
      if (!hasAsked) oneByOne = BURST_LEADS
      return hasAsked
    },
    countOne() {
      oneByOne = Math.max(0, oneByOne - 1)
    },
  }
}
