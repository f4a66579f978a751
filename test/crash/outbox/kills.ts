/** Messages that senders send while one of them is killed again and again. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { folderWith } from '../../support/folder.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { onlyTokens, withUser } from '../../support/mail/token-login.ts'
import { loginOf, startTokenServer } from '../../support/network/token-server.ts'
import { random } from '../../support/random.ts'
import { addressOf, IN_POSTGRES } from '../../support/store.ts'
import { expectSound } from '../support/store.ts'
import { compareRows } from './comparison.ts'
import { type Job, type Sender, startSender } from './run.ts'
import { type Sink, type SinkEvent, startSink } from './sink.ts'

/** The extent of a test. */
interface Extent {
  readonly messages: number
  readonly kills: number
  readonly senders: number
  readonly seed: number
  /** True if the server takes access tokens alone. They last two seconds, and each fourth kill revokes them. */
  readonly isTokenLogin: boolean
}

const FAULTS = { turnedAway: 0.1, lostReplies: 0.03, refusals: 0.05, greylisted: 0.05 }
const EVENTS = ['MAIL', 'RCPT', 'DATA', 'bytes', 'dot'] as const satisfies readonly SinkEvent[]
/** A kill comes within this time after a step: about the time that a message takes, so every moment is hit. */
const KILL_WITHIN_MS = 4
const LIFETIME_S = 2
const KILLS_PER_REVOCATION = 4

/** Sends all messages through kills, and compares what arrived with what is recorded. */
export async function sendThroughKills(extent: Extent) {
  const { messages, kills, seed, isTokenLogin } = extent
  const recipients = Array.from({ length: messages }, (_, number) => `r${1_000 + number}@example.org`)
  await using ledger = await openLedger(recipients, { ...CONTENT, files: FILES })
  const { store } = ledger
  await using tokens = await startTokenServer(LIFETIME_S)
  let refusedTokens = 0
  const sink = await startSink(
    { ...FAULTS, seed },
    isTokenLogin ? onlyTokens(tokens, () => refusedTokens++) : {},
  )
  const file = IN_POSTGRES ? addressOf(store) : fileOf(store)
  const oauth = {
    login: loginOf(tokens.url, { settings: 'mail.oauth' }),
    file: join(folderWith(), 'tokens.db'),
  }
  const job = isTokenLogin ? { file, url: withUser(sink.url), oauth } : { file, url: sink.url }
  const killed = await killSenders(store, job, sink, random(seed), extent, (kill) => {
    if (isTokenLogin && kill % KILLS_PER_REVOCATION === 0) tokens.revoke()
  })
  const rows = await store.db.selectFrom('delivery').selectAll().orderBy('recipient').execute()
  const found = { ...compareRows(rows, sink), tokens: tokens.asked.length, refusedTokens }
  // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
  console.info(`${killed} kills of ${kills}:`, found)
  await expectSound(file)
  return { killed, found }
}

/**
 * Lets senders send all messages. One of them is killed a moment after a session has reached a step, and replaced. The
 * step and the moment are random.
 * @returns how many were killed
 */
async function killSenders(
  store: Store,
  job: Job,
  sink: Sink,
  next: () => number,
  { kills, senders }: Extent,
  onKill: (kill: number) => void,
): Promise<number> {
  const running: Sender[] = []
  let killed = 0
  for (;;) {
    while (running.length < senders) running.push(startSender(job))
    const ended = Promise.all(running.map(({ end }) => end))
    if (killed === kills) break
    // A part of the remaining messages is left for the next sender.
    const upTo = (0.8 * (await countUnsent(store))) / (kills - killed)
    const event = EVENTS[Math.floor(next() * EVENTS.length)] ?? 'dot'
    const reached = sink.untilEvent(event, 1 + Math.floor(next() * upTo))
    if ((await Promise.race([reached, ended.then(() => 'ended')])) === 'ended') break
    await sleep(next() * KILL_WITHIN_MS)
    const [gone] = running.splice(await findSending(store, running, next), 1)
    gone?.child.kill('SIGKILL')
    await gone?.end
    if (gone?.child.signalCode === 'SIGKILL') onKill(++killed)
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
