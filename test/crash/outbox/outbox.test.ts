// @both-stores
/** Messages through kills of those that send them: one after the other from a file, beside each other from PostgreSQL. */
import { expect, it } from 'vitest'
import { IN_POSTGRES } from '../../support/store.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { sendThroughKills, WAYS } from './kills.ts'

const [messages, kills, senders] = IN_POSTGRES
  ? [IS_FULL ? 600 : 40, IS_FULL ? 60 : 5, 3]
  : [IS_FULL ? 1_500 : 75, IS_FULL ? 100 : 10, 2]
/** The share of planned kills that must happen. The last ones may come when everything has been sent. */
const KILLED_SHARE = IN_POSTGRES ? 0.5 : 0.9

it.each(IN_POSTGRES ? WAYS.slice(0, 2) : WAYS)(
  `${messages} messages over %s through ${kills} kills of one of ${senders} senders, tokens that expire and are revoked, lost and unclear answers, and refusals all arrive or are known to be unconfirmed, more than once only where the ledger says so, and byte for byte the same; SEED=${SEED}`,
  async (way) => {
    const { killed, found } = await sendThroughKills(way, { messages, kills, senders, seed: SEED })
    expect(killed).toBeGreaterThanOrEqual(kills * KILLED_SHARE)
    expect(found).toMatchObject({ lost: [], doubled: [], unsaid: [], altered: [], messages })
    for (const happened of [found.sent, found.unconfirmed, found.refused + found.lostReplies])
      expect(happened).toBeGreaterThan(0)
    if (way === 'Resend') {
      // It can recognise a message that it has.
      expect(found.twice).toBe(0)
      expect(found.recognised).toBeGreaterThan(0)
    }
    if (!way.endsWith('logins')) return
    expect(found.tokens).toBeGreaterThan(kills / 4)
    // Few kills may happen to leave no token that is used after it was revoked.
    if (IS_FULL) expect(found.refusedTokens).toBeGreaterThan(0)
  },
)
