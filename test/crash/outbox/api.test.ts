/**
 * Messages over the APIs of providers, through kills of those that send them, and through tokens that end: Graph
 * cannot recognise a message that it has, and Resend can.
 */
import { expect, it } from 'vitest'
import { fileOf } from '../../../src/store/db/place.ts'
import { folderWith } from '../../support/folder.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { loginOf, startTokenServer, tokenAnswer } from '../../support/network/token-server.ts'
import { random } from '../../support/random.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'
import { type ApiEvent, startApiSink } from './api-sink.ts'
import { compareRows } from './comparison.ts'
import { killSenders, pick } from './run.ts'
import { findLastMove } from './sender.ts'

const [MESSAGES, KILLS] = IS_FULL ? [1_500, 100] : [75, 10]
const KILLED_SHARE = 0.9
const EVENTS = ['request', 'bytes', 'message'] as const satisfies readonly ApiEvent[]
/** After so many messages, all tokens are revoked, and the next request for a token fails. */
const REVOKED_EACH = 20

it.each(['graph', 'resend'] as const)(
  `${MESSAGES} messages over %s through ${KILLS} kills of one of 2 senders, revoked tokens, lost and unclear answers all arrive or are known to be unconfirmed, and more than once only where the ledger says so; SEED=${SEED}`,
  async (scheme) => {
    const recipients = Array.from({ length: MESSAGES }, (_, number) => `r${1_000 + number}@example.org`)
    await using ledger = await openLedger(recipients, { ...CONTENT, files: FILES })
    const { store } = ledger
    await using server = await startTokenServer()
    const isByToken = scheme === 'graph'
    const sink = await startApiSink(scheme, {
      seed: SEED,
      allows: (headers) => !isByToken || server.allows(headers),
      now: () => findLastMove(store),
      onMessage(number) {
        if (number % REVOKED_EACH !== 0) return
        server.good.clear()
        if (number % (2 * REVOKED_EACH) === 0) server.answers.push(tokenAnswer(503, 'down'))
      },
    })
    const login = loginOf(server.url, { settings: 'mail.oauth' })
    const oauth = { login, file: `${folderWith()}/tokens.db` }
    const job = { file: fileOf(store), url: sink.url, ...(isByToken && { oauth }) }
    const wanted = { kills: KILLS, senders: 2, next: random(SEED) }
    const untilStep = (times: number, next: () => number) => sink.untilEvent(pick(EVENTS, next), times)
    const killed = await killSenders(store, job, untilStep, wanted)
    const rows = await store.db.selectFrom('delivery').selectAll().orderBy('recipient').execute()
    const found = compareRows(rows, sink)
    const states = Object.fromEntries(
      [...Map.groupBy(rows, ({ state }) => state)].map(([state, all]) => [state, all.length]),
    )
    const { messages: recognised } = sink.recognised
    // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
    console.info(`${scheme}, ${killed} kills, ${server.asked.length} tokens:`, {
      ...found,
      recognised,
      states,
    })
    expect(killed).toBeGreaterThanOrEqual(KILLS * KILLED_SHARE)
    expect(found).toMatchObject({ lost: [], doubled: [], unsaid: [], altered: [], messages: MESSAGES })
    expect(found.unconfirmed).toBeGreaterThan(0)
    expect(found.refused + found.lostReplies).toBeGreaterThan(0)
    expect(Object.keys(states).sort()).toEqual(expect.arrayContaining(['sent']))
    if (isByToken) expect(server.asked.length).toBeGreaterThan(2)
    else {
      expect(found.twice).toBe(0)
      expect(recognised).toBeGreaterThan(0)
    }
    await expectSound(job.file)
  },
)
