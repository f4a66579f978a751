// @both-stores
/** Messages through kills of those that send them: one after the other from a file, beside each other from PostgreSQL. */
import { expect, it } from 'vitest'
import { fileOf } from '../../../src/store/db/place.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { random } from '../../support/random.ts'
import { addressOf, IN_POSTGRES } from '../../support/store.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'
import { compareRows } from './comparison.ts'
import { pick, sendThroughKills } from './run.ts'
import { type SinkEvent, startSink } from './sink.ts'

const [MESSAGES, KILLS, SENDERS] = IN_POSTGRES
  ? [IS_FULL ? 600 : 40, IS_FULL ? 60 : 5, 3]
  : [IS_FULL ? 1_500 : 75, IS_FULL ? 100 : 10, 2]
/** The share of planned kills that must happen. The last ones may come when everything has been sent. */
const KILLED_SHARE = IN_POSTGRES ? 0.5 : 0.9
const FAULTS = { seed: SEED, turnedAway: 0.1, lostReplies: 0.03, refusals: 0.05, greylisted: 0.05 }
const EVENTS = ['MAIL', 'RCPT', 'DATA', 'bytes', 'dot'] as const satisfies readonly SinkEvent[]

it(`${MESSAGES} messages through ${KILLS} kills of one of ${SENDERS} senders, lost replies and refusals all arrive or are known to be unconfirmed, more than once only where they were unconfirmed, and byte for byte the same; SEED=${SEED}`, async () => {
  const recipients = Array.from({ length: MESSAGES }, (_, number) => `r${1_000 + number}@example.org`)
  await using ledger = await openLedger(recipients, { ...CONTENT, files: FILES })
  const { store } = ledger
  const sink = await startSink(FAULTS)
  const job = { file: IN_POSTGRES ? addressOf(store) : fileOf(store), url: sink.url }
  const wanted = { kills: KILLS, senders: SENDERS, next: random(SEED) }
  const killed = await sendThroughKills(
    store,
    job,
    (times, next) => sink.untilEvent(pick(EVENTS, next), times),
    wanted,
  )
  const rows = await store.db.selectFrom('delivery').selectAll().orderBy('recipient').execute()
  const found = compareRows(rows, sink)
  // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
  console.info(`${killed} kills:`, found)
  expect(killed).toBeGreaterThanOrEqual(KILLS * KILLED_SHARE)
  expect(found).toMatchObject({ lost: [], doubled: [], unsaid: [], altered: [], messages: MESSAGES })
  expect(found.unconfirmed).toBeGreaterThan(0)
  expect(found.turnedAway + found.deferred + found.refused + found.lostReplies).toBeGreaterThan(0)
  await expectSound(job.file)
})
