/**
 * Whether a token is the right one: each wrong one is answered later, and a network that goes on with others is heard no
 * more. The same one again teaches nobody anything: a machine that was left with an old token must not lock out people.
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { networkOf } from '../server/rate-limit.ts'
import { isSameText } from './session.ts'

export type Verdict = 'right' | 'wrong' | 'too_many'

export interface TokenCheck {
  /** @param address from which it was given */
  judge(given: string, address: string): Promise<Verdict>
}

/** Different wrong ones of a network in this time; its right one is not looked at either, so that nothing can be learned. */
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
  const wrong = new Map<string, { readonly digests: Set<string>; readonly until: number }>()
  return {
    judge: async (given, address) => {
      const at = now().getTime()
      for (const [network, { until }] of wrong) if (until <= at) wrong.delete(network)
      const network = networkOf(address)
      const tries = wrong.get(network) ?? { digests: new Set(), until: at + LOCKED_SECONDS * 1000 }
      if (tries.digests.size >= WRONG_MAX) return 'too_many'
      if (isSameText(given, token)) {
        wrong.delete(network)
        return 'right'
      }
      tries.digests.add(createHash('sha256').update(given).digest('base64'))
      wrong.set(network, tries)
      await wait(Math.min(tries.digests.size * WAIT_MS, WAIT_MS_MAX))
      return 'wrong'
    },
  }
}
