/**
 * Checks a token in constant time. Each wrong token delays its answer, and a network with too many different
 * wrong tokens is locked for a while. The same wrong token counts once, so that a machine with an old token
 * locks nobody out.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { normalizeIP } from '@fastify/rate-limit'

type Verdict = 'right' | 'wrong' | 'too_many'

export interface TokenCheck {
  /** @param address the IP address that sent the token */
  judge(given: string, address: string): Promise<Verdict>
}

// After this many different wrong tokens the right one is refused too, so that guessing tells nothing.
const WRONG_MAX = 10
export const LOCKED_SECONDS = 300
const WAIT_MS = 250
const WAIT_MS_MAX = 2_000

/** @param wait delays the answer to a wrong token */
export function createTokenCheck(
  token: string,
  now: () => Date,
  wait: (ms: number) => Promise<unknown> = sleep,
): TokenCheck {
  const expected = digestOf(token)
  const wrong = new Map<string, { readonly digests: Set<string>; readonly until: number }>()
  return {
    judge: async (given, address) => {
      const at = now().getTime()
      for (const [network, { until }] of wrong) if (until <= at) wrong.delete(network)
      // A /64 of IPv6 counts as one network, because one customer has all of it.
      const network = normalizeIP(address)
      const tries = wrong.get(network) ?? { digests: new Set(), until: at + LOCKED_SECONDS * 1000 }
      if (tries.digests.size >= WRONG_MAX) return 'too_many'
      const digest = digestOf(given)
      if (timingSafeEqual(digest, expected)) {
        wrong.delete(network)
        return 'right'
      }
      tries.digests.add(digest.toString('base64'))
      wrong.set(network, tries)
      await wait(Math.min(tries.digests.size * WAIT_MS, WAIT_MS_MAX))
      return 'wrong'
    },
  }
}

/** Returns a digest, because `timingSafeEqual` needs inputs of equal length. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
