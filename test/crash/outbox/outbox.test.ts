// @both-stores
/** Messages through kills of those that send them: one after the other from a file, beside each other from PostgreSQL. */
import { expect, it } from 'vitest'
import { IN_POSTGRES } from '../../support/store.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { sendThroughKills } from './kills.ts'

const [messages, kills, senders] = IN_POSTGRES
  ? [IS_FULL ? 600 : 40, IS_FULL ? 60 : 5, 3]
  : [IS_FULL ? 1_500 : 75, IS_FULL ? 100 : 10, 2]
/** The share of planned kills that must happen. The last ones may come when everything has been sent. */
const KILLED_SHARE = IN_POSTGRES ? 0.5 : 0.9

it.each([
  ['', false],
  [' that log in with tokens, which expire and are revoked,', true],
])(
  `${messages} messages through ${kills} kills of one of ${senders} senders%s, lost replies and refusals all arrive or are known to be unconfirmed, more than once only where they were unconfirmed, and byte for byte the same; SEED=${SEED}`,
  async (_login, isTokenLogin) => {
    const { killed, found } = await sendThroughKills({ messages, kills, senders, seed: SEED, isTokenLogin })
    expect(killed).toBeGreaterThanOrEqual(kills * KILLED_SHARE)
    expect(found).toMatchObject({ lost: [], doubled: [], altered: [], messages })
    expect(found.unconfirmed).toBeGreaterThan(0)
    expect(found.turnedAway + found.deferred + found.refused + found.lostReplies).toBeGreaterThan(0)
    if (!isTokenLogin) return
    expect(found.tokens).toBeGreaterThan(kills / 4)
    expect(found.refusedTokens).toBeGreaterThan(0)
  },
)
