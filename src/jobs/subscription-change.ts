/** What recipients and operators wish of a report, done: from now on, and for letters that still wait. */
import type { Wish } from '../report/subscription-page.ts'
import type { Store } from '../store/open.ts'
import {
  findSubscription,
  type Subscription,
  type SubscriptionKey,
  saveSubscription,
} from '../store/subscription.ts'
import { withdrawLetters } from '../store/withdrawn-letter.ts'

export interface WishedBy {
  readonly by: Subscription['changedBy']
  readonly reason: string | null
}

export interface ChangedSubscription {
  readonly subscription: Subscription
  /** Letters that waited and now never go out. */
  readonly withdrawn: number
}

type Standing = Pick<Subscription, 'state' | 'cadence'>

const NEVER_CHANGED: Standing = { state: 'active', cadence: 'as_scheduled' }

/** What changes nothing leaves also who said it last, and when. */
export async function changeSubscription(
  store: Store,
  key: SubscriptionKey,
  wish: Wish,
  { by, reason }: WishedBy,
  now: Date,
): Promise<ChangedSubscription> {
  const at = now.toISOString()
  return store.write(async (trx) => {
    const earlier = await findSubscription(trx, key)
    const { state, cadence } = earlier ?? NEVER_CHANGED
    const wished = standingAfter({ state, cadence }, wish)
    if (earlier && wished.state === state && wished.cadence === cadence) {
      return { subscription: earlier, withdrawn: 0 }
    }
    const address = key.address.toLowerCase()
    const { report } = key
    const subscription = { address, report, ...wished, changedAt: at, changedBy: by, reason }
    await saveSubscription(trx, subscription)
    const withdrawn = wished.state === 'active' ? 0 : await withdrawLetters(trx, key, at)
    return { subscription, withdrawn }
  })
}

/** A page that was opened long ago may wish what no longer fits: who has unsubscribed does not become paused. */
function standingAfter(standing: Standing, wish: Wish): Standing {
  switch (wish) {
    case 'weekly':
    case 'as_scheduled':
      return { ...standing, cadence: wish }
    case 'pause':
      return standing.state === 'active' ? { ...standing, state: 'paused' } : standing
    case 'resume':
      return standing.state === 'paused' ? { ...standing, state: 'active' } : standing
    case 'start':
      return { ...standing, state: 'active' }
    case 'stop':
      return { ...standing, state: 'unsubscribed' }
  }
}
