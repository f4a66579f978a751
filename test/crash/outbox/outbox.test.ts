// @both-stores
/** Messages through kills of those that send them: one after the other from a file, beside each other from PostgreSQL. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { fileOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { random } from '../../support/random.ts'
import { addressOf, IN_POSTGRES } from '../../support/store.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'
import { compareRows } from './comparison.ts'
import { type Job, type Sender, startSender } from './run.ts'
import { type Sink, type SinkEvent, startSink } from './sink.ts'

const [MESSAGES, KILLS, SENDERS] = IN_POSTGRES
  ? [IS_FULL ? 600 : 40, IS_FULL ? 60 : 5, 3]
  : [IS_FULL ? 1_500 : 75, IS_FULL ? 100 : 10, 2]
/** The share of planned kills that must happen. The last ones may come when everything has been sent. */
const KILLED_SHARE = IN_POSTGRES ? 0.5 : 0.9
const FAULTS = { seed: SEED, turnedAway: 0.1, lostReplies: 0.03, refusals: 0.05, greylisted: 0.05 }
const EVENTS = ['MAIL', 'RCPT', 'DATA', 'bytes', 'dot'] as const satisfies readonly SinkEvent[]
/** A kill comes within this time after a step: about the time that a message takes, so every moment is hit. */
const KILL_WITHIN_MS = 4

it(`${MESSAGES} messages through ${KILLS} kills of one of ${SENDERS} senders, lost replies and refusals all arrive or are known to be unconfirmed, more than once only where they were unconfirmed, and byte for byte the same; SEED=${SEED}`, async () => {
  const recipients = Array.from({ length: MESSAGES }, (_, number) => `r${1_000 + number}@example.org`)
  await using ledger = await openLedger(recipients, { ...CONTENT, files: FILES })
  const { store } = ledger
  const sink = await startSink(FAULTS)
  const job = { file: IN_POSTGRES ? addressOf(store) : fileOf(store), url: sink.url }
  const killed = await sendThroughKills(store, job, sink, random(SEED))
  const rows = await store.db.selectFrom('delivery').selectAll().orderBy('recipient').execute()
  const found = compareRows(rows, sink)
  // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
  console.info(`${killed} kills:`, found)
  expect(killed).toBeGreaterThanOrEqual(KILLS * KILLED_SHARE)
  expect(found).toMatchObject({ lost: [], doubled: [], altered: [], messages: MESSAGES })
  expect(found.unconfirmed).toBeGreaterThan(0)
  expect(found.turnedAway + found.deferred + found.refused + found.lostReplies).toBeGreaterThan(0)
  await expectSound(job.file)
})

/**
 * Lets senders send all messages. One of them is killed a moment after a session has reached a step, and replaced. The
 * step and the moment are random.
 * @returns how many were killed
 */
async function sendThroughKills(store: Store, job: Job, sink: Sink, next: () => number): Promise<number> {
  const running: Sender[] = []
  let killed = 0
  for (;;) {
    while (running.length < SENDERS) running.push(startSender(job))
    const ended = Promise.all(running.map(({ end }) => end))
    if (killed === KILLS) break
    // A part of the remaining messages is left for the next sender.
    const upTo = (0.8 * (await countUnsent(store))) / (KILLS - killed)
    const event = EVENTS[Math.floor(next() * EVENTS.length)] ?? 'dot'
    const reached = sink.untilEvent(event, 1 + Math.floor(next() * upTo))
    if ((await Promise.race([reached, ended.then(() => 'ended')])) === 'ended') break
    await sleep(next() * KILL_WITHIN_MS)
    const [gone] = running.splice(await findSending(store, running, next), 1)
    gone?.child.kill('SIGKILL')
    await gone?.end
    if (gone?.child.signalCode === 'SIGKILL') killed++
  }
  for (const { status, stderr } of await Promise.all(running.map(({ end }) => end))) {
    if (status !== 0) throw new Error(`a sender ended with ${status}: ${stderr}`)
  }
  return killed
}

async function countUnsent({ db }: Store): Promise<number> {
  const left = db.selectFrom('delivery').where('next_attempt_at', 'is not', null).where('state', '<>', 'sent')
  return (await left.select('message_id').execute()).length
}

/** Returns the place of a sender. Of a file, one sends and the others wait; in PostgreSQL, all send. */
async function findSending({ db }: Store, running: readonly Sender[], next: () => number): Promise<number> {
  if (IN_POSTGRES) return Math.floor(next() * running.length)
  const holder = await db.selectFrom('lease').where('name', '=', 'delivery').select('pid').executeTakeFirst()
  const found = running.findIndex(({ child }) => child.pid === holder?.pid)
  return found < 0 ? running.length : found
}
