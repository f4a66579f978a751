import { describe, expect, it } from 'vitest'
import { random } from '../../support/random.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'
import { compare } from './comparison.ts'
import { openStoreWithMessages, sendThroughKills, startSink } from './run.ts'

const MESSAGES = IS_FULL ? 1_500 : 75
const KILLS = IS_FULL ? 100 : 10
/** The share of planned kills that must happen. The last ones may come when everything has been sent. */
const KILLED_SHARE = 0.9
const FAULTS = { seed: SEED, turnedAway: 0.1, lostReplies: 0.03, refusals: 0.05, greylisted: 0.05 }

describe(`${MESSAGES} messages through ${KILLS} kills, lost replies and refusals, one sender after the other; SEED=${SEED}`, () => {
  it('all arrive or are known to be unconfirmed, more than once only where they were unconfirmed, and byte for byte the same (row 60)', async () => {
    const { killed, found } = await deliverThroughKills()
    expect(killed).toBeGreaterThanOrEqual(KILLS * KILLED_SHARE)
    expect(found).toMatchObject({ lost: [], doubled: [], altered: [], messages: MESSAGES })
    expect(found.unconfirmed).toBeGreaterThan(0)
  })
})

describe('the same kills', () => {
  const NO_FAULTS = { seed: SEED, turnedAway: 0, lostReplies: 0, refusals: 0, greylisted: 0 }

  it.each([
    ['lose', 'mark before sending', 'lost'],
    ['double', 'mark after sending', 'doubled'],
  ] as const)(
    '%s messages of a sender that would %s: the comparison can tell',
    async (_what, way, broken) => {
      const file = await openStoreWithMessages(MESSAGES)
      const sink = await startSink(NO_FAULTS)
      const find = () => compare(file, sink.log)[broken]
      const isEnough = (): boolean => find().length > 0
      const killing = { kills: KILLS, standby: 0, next: random(SEED), isEnough }
      await sendThroughKills({ file, url: sink.url, way }, sink, killing)
      expect(find()).not.toEqual([])
    },
  )
})

async function deliverThroughKills() {
  const file = await openStoreWithMessages(MESSAGES)
  const sink = await startSink(FAULTS)
  const job = { file, url: sink.url, way: 'program' } as const
  const killed = await sendThroughKills(job, sink, { kills: KILLS, standby: 1, next: random(SEED) })
  const found = compare(file, sink.log)
  expect(found.turnedAway + found.deferred + found.refused + found.lostReplies).toBeGreaterThan(0)
  // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
  console.info(`${killed} kills:`, found)
  await expectSound(file)
  return { killed, found }
}
