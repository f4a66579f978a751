/** Messages that senders send while one of them is killed again and again. */
import { join } from 'node:path'
import { fileOf } from '../../../src/store/db/place.ts'
import { folderWith } from '../../support/folder.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { onlyTokens, withUser } from '../../support/mail/token-login.ts'
import { loginOf, startTokenServer } from '../../support/network/token-server.ts'
import { random } from '../../support/random.ts'
import { addressOf, IN_POSTGRES } from '../../support/store.ts'
import { expectSound } from '../support/store.ts'
import { compareRows } from './comparison.ts'
import { killSenders, pick } from './run.ts'
import { type SinkEvent, startSink } from './sink.ts'

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
  const onKill = (kill: number): void => {
    if (isTokenLogin && kill % KILLS_PER_REVOCATION === 0) tokens.revoke()
  }
  const killed = await killSenders(store, job, (times, next) => sink.untilEvent(pick(EVENTS, next), times), {
    ...extent,
    next: random(seed),
    onKill,
  })
  const rows = await store.db.selectFrom('delivery').selectAll().orderBy('recipient').execute()
  const found = { ...compareRows(rows, sink), tokens: tokens.asked.length, refusedTokens }
  // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
  console.info(`${killed} kills of ${kills}:`, found)
  await expectSound(file)
  return { killed, found }
}
