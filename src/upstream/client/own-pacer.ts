/** The pace of requests of one process alone, by a steady clock. */
import { admit, heed, hold, type Pacer, UNPACED, upstreamFreeAt } from './pacer.ts'

export function createOwnPacer(nowMs: () => number): Pacer {
  let pace = UNPACED
  let underWay = 0
  return {
    async takeTurn(gapMs, maxWaitMs) {
      const at = nowMs()
      const upstreamMs = upstreamFreeAt(pace, at) - at
      if (upstreamMs > maxWaitMs) return { isTaken: false, inMs: upstreamMs }
      const turn = admit(pace, at, gapMs)
      pace = turn.pace
      underWay++
      return { isTaken: true, inMs: turn.at - at }
    },
    heldMs: async () => Math.max(0, pace.heldUntil - nowMs()),
    async hold(ms) {
      pace = hold(pace, nowMs() + ms)
    },
    async endTurn(budget) {
      underWay--
      if (budget !== null) pace = heed(pace, budget, underWay, nowMs())
    },
    async putOff() {
      pace = UNPACED
    },
  }
}
