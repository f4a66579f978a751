/** What recipients and operators wish of a report, done: from now on, and for messages that still wait. */
import type { Wish } from '../../report/preferences/page.ts'
import type { Store } from '../../store/db/store.ts'
import { withdrawMessages } from '../../store/outbox/message-cancel.ts'
import {
  findSubscription,
  type Subscription,
  type SubscriptionKey,
  saveSubscription,
} from '../../store/reports/preference.ts'
import { copyPreferences } from '../../store/reports/preference-copy.ts'

export interface WishedBy {
  readonly by: Subscription['changedBy']
  readonly reason: string | null
}

export interface ChangedSubscription {
  readonly subscription: Subscription
  /** False where the wish could not be done, since they had unsubscribed. */
  readonly isFit: boolean
  /** Messages that waited and now never go out. */
  readonly withdrawn: number
}

type Standing = Pick<Subscription, 'state' | 'cadence'>

const NEVER_CHANGED: Standing = { state: 'active', cadence: 'as_scheduled' }
const OUTCOMES: Readonly<Record<Wish, Partial<Standing>>> = {
  weekly: { cadence: 'weekly' },
  as_scheduled: { cadence: 'as_scheduled' },
  pause: { state: 'paused' },
  resume: { state: 'active' },
  start: { state: 'active' },
  stop: { state: 'unsubscribed' },
}

/** What changes nothing leaves also who said it last, and when. */
export async function changeSubscription(
  store: Store,
  key: SubscriptionKey,
  wish: Wish,
  { by, reason }: WishedBy,
  now: Date,
): Promise<ChangedSubscription> {
  const at = now.toISOString()
  const changed = await store.write(async (trx) => {
    const earlier = await findSubscription(trx, key)
    const { state, cadence } = earlier ?? NEVER_CHANGED
    const isFit = fits({ state, cadence }, wish)
    const wished = { state, cadence, ...(isFit ? OUTCOMES[wish] : {}) }
    if (earlier && wished.state === state && wished.cadence === cadence) {
      return { subscription: earlier, isFit, withdrawn: 0 }
    }
    const address = key.address.toLowerCase()
    const { report } = key
    const subscription = { address, report, ...wished, changedAt: at, changedBy: by, reason }
    await saveSubscription(trx, subscription)
    const withdrawn = wished.state === 'active' ? 0 : await withdrawMessages(trx, key, at)
    return { subscription, isFit, withdrawn }
  })
  await copyPreferences(store)
  return changed
}

/** A page that was opened long ago may wish what no longer fits: who has unsubscribed does not become paused. */
function fits({ state }: Standing, wish: Wish): boolean {
  return state !== 'unsubscribed' || (wish !== 'pause' && wish !== 'resume')
}
