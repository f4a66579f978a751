/** Whether a token is the right one: each wrong one is answered later, and a network that goes on is heard no more. */
import { setTimeout as sleep } from 'node:timers/promises'
import { networkOf } from './rate-limit.ts'
import { isSameText } from './same-text.ts'

export type Verdict = 'right' | 'wrong' | 'too_many'

export interface TokenCheck {
  /** @param address from which it was given */
  judge(given: string, address: string): Promise<Verdict>
}

/** Wrong ones of a network in this time; its right one is not looked at either, so that nothing can be learned. */
const WRONG_MAX = 10
export const LOCKED_SECONDS = 300
const WAIT_MS = 250
const WAIT_MS_MAX = 2_000

/** @param wait before a wrong one is answered */
export function createTokenCheck(
  token: string,
  now: () => Date,
  wait: (ms: number) => Promise<unknown> = sleep,
): TokenCheck {
  const wrong = new Map<string, { count: number; readonly until: number }>()
  return {
    judge: async (given, address) => {
      const at = now().getTime()
      for (const [network, { until }] of wrong) if (until <= at) wrong.delete(network)
      const network = networkOf(address)
      const tries = wrong.get(network) ?? { count: 0, until: at + LOCKED_SECONDS * 1000 }
      if (tries.count >= WRONG_MAX) return 'too_many'
      if (isSameText(given, token)) {
        wrong.delete(network)
        return 'right'
      }
      tries.count += 1
      wrong.set(network, tries)
      await wait(Math.min(tries.count * WAIT_MS, WAIT_MS_MAX))
      return 'wrong'
    },
  }
}
