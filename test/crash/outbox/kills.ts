/** Messages that senders send while one of them is killed again and again. */
import { join } from 'node:path'
import { fileOf } from '../../../src/store/db/place.ts'
import { folderWith } from '../../support/folder.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { onlyTokens, withUser } from '../../support/mail/token-login.ts'
import { loginOf, startTokenServer, tokenAnswer } from '../../support/network/token-server.ts'
import { random } from '../../support/random.ts'
import { addressOf, IN_POSTGRES } from '../../support/store.ts'
import { expectSound } from '../support/store.ts'
import { startApiSink } from './api-sink.ts'
import { compareRows } from './comparison.ts'
import { killSenders } from './run.ts'
import { findLastMove } from './sender.ts'
import { startSink } from './sink.ts'

/** The servers. Those of logins take access tokens alone, which last two seconds and are revoked at kills. */
export const WAYS = ['SMTP', 'SMTP with logins', 'Graph with logins', 'Resend'] as const

/** The extent of a test. */
interface Extent {
  readonly messages: number
  readonly kills: number
  readonly senders: number
  readonly seed: number
}

const FAULTS = { turnedAway: 0.1, lostReplies: 0.03, refusals: 0.05, greylisted: 0.05 }
const LIFETIME_S = 2
/** Each second revocation also makes the next request for a token fail. */
const KILLS_PER_REVOCATION = 2

/** Sends all messages through kills, and compares what arrived with what is recorded. */
export async function sendThroughKills(way: (typeof WAYS)[number], extent: Extent) {
  const { messages, kills, seed } = extent
  const recipients = Array.from({ length: messages }, (_, number) => `r${1_000 + number}@example.org`)
  await using ledger = await openLedger(recipients, { ...CONTENT, files: FILES })
  const { store } = ledger
  await using tokens = await startTokenServer(LIFETIME_S)
  const isLogin = way.endsWith('logins')
  const sink = way.startsWith('SMTP')
    ? await startSink({ ...FAULTS, seed }, isLogin ? onlyTokens(tokens) : {})
    : await startApiSink(isLogin ? 'graph' : 'resend', seed, {
        now: () => findLastMove(store),
        ...(isLogin && { allows: tokens.allows }),
      })
  const file = IN_POSTGRES ? addressOf(store) : fileOf(store)
  const login = loginOf(tokens.url, { settings: 'mail.oauth' })
  const oauth = { login, file: join(folderWith(), 'tokens.db') }
  const job = isLogin ? { file, url: withUser(sink.url), oauth } : { file, url: sink.url }
  const onKill = (kill: number): void => {
    if (kill % KILLS_PER_REVOCATION === 0) tokens.revoke()
    if (kill % (2 * KILLS_PER_REVOCATION) === 0) tokens.answers.push(tokenAnswer(503, 'down'))
  }
  const killed = await killSenders(store, job, sink.untilStep, { ...extent, next: random(seed), onKill })
  const rows = await store.db.selectFrom('delivery').selectAll().orderBy('recipient').execute()
  const found = {
    ...compareRows(rows, sink),
    sent: rows.filter(({ state }) => state === 'sent').length,
    tokens: tokens.asked.length,
    refusedTokens: tokens.refusals,
  }
  // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
  console.info(`${way}, ${killed} kills of ${kills}:`, found)
  await expectSound(file)
  return { killed, found }
}
