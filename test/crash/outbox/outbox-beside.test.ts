// @both-stores
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { random } from '../../support/random.ts'
import { addressOf, IN_POSTGRES } from '../../support/store.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'
import { compareRows } from './comparison.ts'
import { EVENTS, type Job, KILL_WITHIN_MS, type Sender, type Sink, startSender, startSink } from './run.ts'

const MESSAGES = IS_FULL ? 600 : 40
const KILLS = IS_FULL ? 60 : 5
const SENDERS = 3
const FAULTS = { seed: SEED, turnedAway: 0.1, lostReplies: 0.03, refusals: 0.05, greylisted: 0.05 }

describe.skipIf(!IN_POSTGRES)(
  `${MESSAGES} messages through ${KILLS} kills of one of ${SENDERS} that may send; SEED=${SEED}`,
  () => {
    it('all arrive or are known to be unconfirmed, more than once only where they were unconfirmed (row 60)', async () => {
      const found = await deliverThroughKills()
      expect(found).toMatchObject({ lost: [], doubled: [], altered: [], messages: MESSAGES })
      expect(found.unconfirmed).toBeGreaterThan(0)
    })
  },
)

async function deliverThroughKills() {
  const recipients = Array.from({ length: MESSAGES }, (_, number) => `r${1_000 + number}@example.org`)
  await using ledger = await openLedger(recipients, { ...CONTENT, files: FILES })
  const sink = await startSink(FAULTS)
  const job = { file: addressOf(ledger.store), url: sink.url, way: 'program' } as const
  const killed = await sendBesideEachOther(job, sink, random(SEED))
  const rows = await ledger.store.db.selectFrom('delivery').selectAll().orderBy('recipient').execute()
  const found = compareRows(rows, sink.log)
  // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
  console.info(`${killed} kills:`, found)
  expect(killed).toBeGreaterThanOrEqual(KILLS / 2)
  await expectSound(job.file)
  return found
}

/**
 * Starts several senders. A killed one is replaced, and the last ones send the rest.
 * @returns how many were killed
 */
async function sendBesideEachOther(job: Job, sink: Sink, next: () => number): Promise<number> {
  const running: Sender[] = Array.from({ length: SENDERS }, () => startSender(job))
  let killed = 0
  while (killed < KILLS) {
    const event = EVENTS[Math.floor(next() * EVENTS.length)] ?? 'dot'
    const reached = sink.untilEvent(event, 1 + Math.floor((next() * MESSAGES) / KILLS))
    const ended = Promise.all(running.map(({ end }) => end)).then(() => 'ended')
    if ((await Promise.race([reached, ended])) === 'ended') break
    await sleep(next() * KILL_WITHIN_MS)
    const [gone] = running.splice(Math.floor(next() * SENDERS), 1)
    gone?.child.kill('SIGKILL')
    await gone?.end
    if (gone?.child.signalCode === 'SIGKILL') killed++
    running.push(startSender(job))
  }
  for (const { status, stderr } of await Promise.all(running.map(({ end }) => end))) {
    if (status !== 0) throw new Error(`a sender ended with ${status}: ${stderr}`)
  }
  return killed
}
