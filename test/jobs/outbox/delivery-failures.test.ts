/** The effect of each failure on a message and on the messages after it. */
import { describe, expect, it } from 'vitest'
import type { Facts } from '../../../src/checks/check.ts'
import { MAIL_CHECKS } from '../../../src/checks/mail.ts'
import { openSession, sendAll } from '../../../src/jobs/outbox/send-batch.ts'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import type { SmtpTimeouts } from '../../../src/mail/smtp.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { listRefusing } from '../../../src/store/outbox/delivery-problems.ts'
import { listMailOutages } from '../../../src/store/outbox/send-limits.ts'
import {
  CONTENT,
  enqueueTo,
  type Ledger,
  openLedger,
  openNoServer,
  openPost,
} from '../../support/mail/ledger.ts'
import {
  type Answer,
  judging,
  openMailServer,
  openScriptedServer,
  refusal,
  type Step,
} from '../../support/mail-server.ts'
import { SILENT } from '../../support/syncing.ts'

const { signal } = new AbortController()
const BOTH = ['ana@example.com', 'ben@example.com']
const THREE = [...BOTH, 'cleo@example.com']
const MINUTE_MS = 60_000
/** With a user, the program logs in. 0.0.0.0 does not count as this machine, so TLS is required. */
const withUser = (url: string) => url.replace('//', '//dana:hunter22@')
const elsewhere = (url: string) => withUser(url).replace('127.0.0.1', '0.0.0.0')

/**
 * Short limits for servers that say nothing at a step. The other limits stay long, because the machine may be
 * busy.
 */
const SHORT: Partial<Record<Step, Partial<SmtpTimeouts>>> = {
  greeting: { greetingMs: 200 },
  RCPT: { socketMs: 1000 },
  body: { dataReplyMs: 200 },
}

type Script = Partial<Record<Step, Answer>>

function open(url: string, script: Script = {}) {
  const stalled = (Object.keys(script) as Step[]).find((step) => script[step] === 'stall')
  return openTransport(url, { log: SILENT, timeouts: (stalled && SHORT[stalled]) ?? {} })
}

interface Server extends AsyncDisposable {
  readonly url: string
  connections?(): number
}
/** A server, and how its address is written: with a user the program logs in, elsewhere it requires TLS. */
type Case = readonly [server: Script | (() => Promise<Server>), written?: (url: string) => string]
const EHLO = '250-mail.example.com\r\n250 STARTTLS'

/** The things that a server does to three messages, and thus says of itself or of one message. */
const CASES: Readonly<Record<string, Case>> = {
  '421 for a greeting': [{ greeting: '421 too busy' }, withUser],
  'a drop before the greeting': [{ greeting: 'drop' }, withUser],
  '454 to a login': [{ AUTH: '454 try later' }, withUser],
  '421 to RCPT': [{ RCPT: '421 shutting down' }, withUser],
  '554 for a greeting': [{ greeting: '554 go away' }, withUser],
  '535 to a login': [{ AUTH: '535 wrong' }, withUser],
  '553 to MAIL': [{ MAIL: '553 not you' }, withUser],
  '550 5.4.5 to MAIL': [{ MAIL: '550 5.4.5 daily user sending limit exceeded' }, withUser],
  '550 5.7.1 to RCPT': [{ RCPT: '550 5.7.1 Relaying denied' }, withUser],
  '554 5.2.252 after the dot': [{ body: '554 5.2.252 SendAsDenied' }, withUser],
  'no STARTTLS': [{}, elsewhere],
  'a STARTTLS that is refused': [{ EHLO, STARTTLS: '502 not here' }, elsewhere],
  'a STARTTLS that is deferred': [{ EHLO, STARTTLS: '454 not now' }, elsewhere],
  'a certificate that does not hold': [() => openMailServer({ disabledCommands: [] }), elsewhere],
  'no server': [openNoServer],
  'a name that nobody knows': [openNoServer, () => 'smtp://mail.invalid:25'],
  '450 to RCPT': [{ RCPT: '450 greylisted' }],
  '452 to DATA': [{ DATA: '452 no space' }],
  '451 after the dot': [{ body: '451 later' }],
  '550 to RCPT': [{ RCPT: '550 no such user' }],
  '552 to RCPT': [{ RCPT: '552 mailbox full' }],
  '554 after the dot': [{ body: '554 spam' }],
  '554 to DATA': [{ DATA: '554 no' }],
  '250 and then a drop before QUIT': [{ QUIT: 'drop' }],
  'a drop at RCPT': [{ RCPT: 'drop' }],
  'silence at RCPT': [{ RCPT: 'stall' }],
  'a drop after the dot': [{ body: 'drop' }],
  'silence after the dot': [{ body: 'stall' }],
}

it('what each answer of a server makes of three messages, and of the server', async () => {
  const lines = ['who | state | attempts | unconfirmed | minutes to the next try | reply code | answer']
  for (const [name, [server, written = (url: string) => url]] of Object.entries(CASES)) {
    const [opening, script] =
      typeof server === 'function' ? [server, {}] : [() => openScriptedServer(server), server]
    await using post = await openPost<Server>(THREE, opening(), (url) => open(written(url), script))
    await post.deliver()
    const connections = post.server.connections?.()
    await post.deliver()
    // Until the next attempt there is no other connection.
    expect(post.server.connections?.(), name).toBe(connections)
    await post.transport[Symbol.asyncDispose]()
    const about = (at: string | null) => {
      const minutes = at === null ? 'never' : (Date.parse(at) - post.clock.now.getTime()) / MINUTE_MS
      return [0, 1, 60].find((some) => Math.abs(Number(minutes) - some) <= some / 5) ?? minutes
    }
    lines.push(name)
    for (const each of await post.deliveries()) {
      const { recipient, state, attempts, unconfirmedCount, nextAttemptAt, replyCode, response } = each
      const again = about(nextAttemptAt)
      lines.push([recipient, state, attempts, unconfirmedCount, again, replyCode, response].join(' | '))
    }
    for (const { kind, failures, nextAttemptAt, response } of await listMailOutages(post.store.db)) {
      const answer = response.replace(/getaddrinfo \w+/, 'getaddrinfo').replace(/127\S+/, 'SERVER')
      lines.push(['the server', kind, failures, '', about(nextAttemptAt), '', answer].join(' | '))
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/delivery-failures.txt')
})

it('a message in whose midst the connection is lost each time counts as deferred, and is not given up', async () => {
  await using post = await openPost(['ana@example.com'], openScriptedServer({ RCPT: 'drop' }))
  const first = post.clock.now.toISOString()
  await post.deliver()
  for (let attempt = 2; attempt <= 30; attempt++) await post.deliver(120)
  expect(await post.deliveries()).toMatchObject([{ state: 'pending', attempts: 30, deferredAt: first }])
})

it('a message in whose midst the server ends the session does not stand in the way of the others', async () => {
  await using post = await openPost(THREE, openScriptedServer({ RCPT: '421 shutting down' }))
  for (const minutes of [1, 2, 7]) await post.deliver(minutes)
  const asked = post.server.commands.filter((command) => command.startsWith('RCPT'))
  expect([asked.length, new Set(asked).size]).toEqual([3, 3])
})

const NAMES = ['ana', 'ben', 'cleo', 'dan', 'eve'].map((name) => `${name}@example.com`)

describe('a deferral that may be for what the sender did', () => {
  it('makes all wait after two in a row, and counts against none while it lasts', async () => {
    await using post = await openPost(
      NAMES,
      openScriptedServer({ RCPT: '450 4.7.1 too many messages, slow down' }),
    )
    const asked = () => post.server.commands.filter((command) => command.startsWith('RCPT')).length
    await post.deliver()
    expect(asked()).toBe(2)
    expect(await listMailOutages(post.store.db)).toMatchObject([
      { kind: 'transient', failures: 1, response: expect.stringContaining('450 4.7.1') },
    ])
    for (let times = 0; times < 20; times++) await post.deliver(270)
    expect(asked()).toBe(22)
    const known = await post.deliveries()
    expect(known.map(({ state }) => state)).toEqual(NAMES.map(() => 'pending'))
    expect(Math.max(...known.map(({ attempts }) => attempts))).toBe(1)
  })

  it('does not keep greylisting from having begun for everybody after the first wait', async () => {
    const seen = new Set<string>()
    await using post = await openPost(
      NAMES,
      openMailServer({
        onRcptTo: ({ address }, _session, done) =>
          done(seen.size < seen.add(address).size ? refusal(451, '4.7.1 greylisted, later') : null),
      }),
    )
    await post.deliver()
    expect(seen.size).toBe(2)
    for (let round = 0; round < 2; round++) await post.deliver(2)
    expect((await post.states()).map(([, state]) => state)).toEqual(NAMES.map(() => 'sent'))
  })
})

describe('a refusal that names neither the recipient nor the sender', () => {
  const findings = ({ store, clock }: Ledger, check: 'messages_waiting' | 'recipient_failing') =>
    MAIL_CHECKS[check].find({ db: store.db, now: clock.now } as Facts)

  it('makes the whole issue wait after two in a row, with one alert; all go once the server takes it', async () => {
    await using refusing = await openPost(NAMES, openScriptedServer({ body: '554 5.7.1 rejected by policy' }))
    await refusing.deliver()
    expect(refusing.server.bodies()).toBe(2)
    const tried = [1, 1, 0, 0, 0].map((attempts) => ({ state: 'pending', attempts, unconfirmedCount: 0 }))
    expect(await refusing.deliveries()).toMatchObject(tried)
    expect(await listMailOutages(refusing.store.db)).toEqual([])
    const message = /^5 messages of the report daily were deferred .*: 554 5\.7\.1 rejected/
    expect(await findings(refusing, 'messages_waiting')).toMatchObject([
      { subject: 'daily', message: expect.stringMatching(message) },
    ])
    await using server = await openMailServer()
    await using transport = open(server.url)
    for (let round = 0; round < 2; round++) {
      refusing.clock.now = new Date(refusing.clock.now.getTime() + 2 * MINUTE_MS)
      await deliverDue({ ...refusing.deps, transport }, signal)
    }
    expect(server.received).toHaveLength(5)
  })

  it('makes all fail after two days, and counts against none', async () => {
    await using post = await openPost(NAMES, openScriptedServer({ body: '554 5.7.1 rejected by policy' }))
    await post.deliver()
    for (let times = 0; times < 9; times++) await post.deliver(240)
    expect((await post.states()).every(([, state]) => state === 'pending')).toBe(true)
    for (let times = 0; times < 7; times++) await post.deliver(240)
    expect((await post.states()).map(([, state]) => state)).toEqual(NAMES.map(() => 'failed'))
    expect(await findings(post, 'messages_waiting')).toEqual([])
    expect(await listRefusing(post.store.db, 1)).toEqual([])
  })

  it('of two recipients alone leaves the others alone', async () => {
    await using post = await openPost(
      NAMES,
      openMailServer({
        onData: judging((_message, { envelope }) => {
          const isOne = /^(?:ana|ben)/.test(envelope.rcptTo[0]?.address ?? '')
          return isOne ? refusal(554, 'rejected by policy') : null
        }),
      }),
    )
    for (const minutes of [0, 2]) await post.deliver(minutes)
    expect((await post.states()).map(([, state]) => state).join(' ')).toBe('pending pending sent sent sent')
  })
})

it('a refusal that names neither the recipient nor the sender, of one message again and again leaves the other messages of the issue alone', async () => {
  await using post = await openPost(BOTH, openScriptedServer({ body: '554 5.7.1 rejected by policy' }))
  const deps = post.deps
  const [, ben] = await post.deliveries()
  await using sender = await openSession(deps)
  if (sender === null) throw new Error('another process sends')
  for (let attempt = 0; attempt < 3; attempt++) {
    const [again] = await post.deliveries()
    if (again !== undefined) await sendAll(sender, [again], { signal, until: null })
    post.clock.now = new Date(post.clock.now.getTime() + 30 * MINUTE_MS)
  }
  expect(await post.deliveries()).toMatchObject([{ attempts: 3 }, { ...ben }])
})

it('a message that is too large for the server fails alone with a clear cause, and the others are sent', async () => {
  await using ledger = await openLedger(BOTH, { ...CONTENT, text: 'long '.repeat(1000) })
  const { store, issue } = ledger
  await store.write((trx) => enqueueTo(trx, store, issue, 'cleo@example.com'))
  await using server = await openMailServer({
    hideSize: true,
    onData: judging(({ length }) =>
      length > 2_500 ? refusal(552, '5.3.4 Message size exceeds limit') : null,
    ),
  })
  await using transport = open(server.url)
  await deliverDue({ ...ledger.deps, transport }, signal)
  const [cleo, ...large] = (await ledger.deliveries()).toReversed()
  expect(cleo?.state).toBe('sent')
  const failed = { state: 'failed', replyCode: null, response: expect.stringMatching(/size|bytes/) }
  expect(large).toMatchObject([failed, failed])
  expect([await listMailOutages(store.db), await listRefusing(store.db, 1)]).toEqual([[], []])
})

describe('a message that is deferred again and again', () => {
  /** Opens a message that is deferred each time. `next` goes on to its next attempt, some hours late. */
  async function openDeferred() {
    const post = await openPost(['ana@example.com'], openScriptedServer({ RCPT: '450 greylisted' }))
    const next = async (hours: number) => {
      const [one] = await post.deliveries()
      post.clock.now = new Date(one?.nextAttemptAt ?? '')
      await post.deliver(hours * 60)
    }
    return { ...post, next }
  }

  it('has failed after 24 attempts, the last ones an hour apart', async () => {
    await using post = await openDeferred()
    await post.deliver()
    const began = post.clock.now
    for (let attempt = 2; attempt < 24; attempt++) await post.next(0)
    expect(await post.deliveries()).toMatchObject([{ state: 'pending', attempts: 23 }])
    await post.next(0)
    const response = 'given up after 24 attempts: 450 greylisted'
    expect(await post.deliveries()).toMatchObject([
      { state: 'failed', attempts: 24, nextAttemptAt: null, response },
    ])
    const hours = (post.clock.now.getTime() - began.getTime()) / (60 * MINUTE_MS)
    expect(hours).toBeGreaterThan(0.8 * 20)
    expect(hours).toBeLessThan(1.2 * 21)
  })

  it('has failed after 48 hours, counted from the first time it was deferred', async () => {
    await using post = await openDeferred()
    // The three days in which the server was away do not count.
    post.clock.now = new Date('2026-11-24T07:00:00Z')
    await post.deliver()
    for (let attempt = 2; attempt <= 4; attempt++) await post.next(12)
    expect(await post.deliveries()).toMatchObject([{ state: 'pending', attempts: 4 }])
    await post.next(12)
    expect(await post.deliveries()).toMatchObject([
      { state: 'failed', attempts: 5, response: 'given up after 48 hours: 450 greylisted' },
    ])
  })

  it('is not given up where nothing could be tried between its attempts', async () => {
    await using post = await openDeferred()
    await post.deliver()
    for (let attempt = 2; attempt <= 4; attempt++) await post.next(72)
    expect(await post.deliveries()).toMatchObject([{ state: 'pending', attempts: 4 }])
    await post.next(72)
    expect(await post.deliveries()).toMatchObject([{ state: 'failed', attempts: 5 }])
  })
})
