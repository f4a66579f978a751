// @long
/** `leadsheet outbox list` and `resend`: the state of each mail, and sending some of them again. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { type MailServer, openMailServer } from '../../../support/mail-server.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startService } from '../../../support/service.ts'

const ENV = { LEADSHEET_LOG_LEVEL: 'error', LEADSHEET_FROM: 'reports@example.com' }
const SETTINGS = `
recipients: [ana@example.com, gone@example.com, lost@example.com, later@example.com]
reports:
  - name: daily
enrichment: { policy: none }
snapshot: { when: never }
`

/**
 * The folder of an installation after a report. The mail server refused one of four recipients, deferred
 * another, and lost its answer for a third.
 */
const mailedFolder = mkdtempSync(join(tmpdir(), 'leadsheet-'))
afterAll(() => rmSync(mailedFolder, { recursive: true }))

beforeAll(async () => {
  writeFileSync(join(mailedFolder, 'leadsheet.yaml'), SETTINGS)
  await using service = await startService(mailedFolder, new Date(), 5)
  const key = await service.createKey({ name: 'test', scope: 'read' })
  const answers = { gone: [550, '5.1.1 no such user'], later: [450, '4.2.0 greylisted'] } as const
  await using server = await openMailServer(
    {
      onRcptTo: ({ address }, _session, done) => {
        const [, answer] = Object.entries(answers).find(([name]) => address.startsWith(name)) ?? []
        if (answer === undefined) return done()
        done(Object.assign(new Error(answer[1]), { responseCode: answer[0] }))
      },
    },
    async () => {
      if (server.received.at(-1)?.to[0] === 'lost@example.com') server.dropConnections()
    },
  )
  const env = {
    ...ENV,
    LEADSHEET_API_URL: service.url,
    LEADSHEET_API_KEY: key,
    LEADSHEET_SMTP_URL: server.url,
  }
  const run = async (...args: string[]) => (await runWarm(args, { cwd: mailedFolder, env })).status
  expect([await run('sync'), await run('report', 'send', 'daily')]).toEqual([0, 3])
})

/** Copies that installation, and opens a mail server for the copy that accepts everything. */
async function openMailed() {
  const cwd = folderWith()
  cpSync(mailedFolder, cwd, { recursive: true })
  const server = await openMailServer()
  const env = { ...ENV, LEADSHEET_SMTP_URL: server.url }
  const run = (...args: string[]) => runWarm(args, { cwd, env })
  const runFrom = (from: string, ...args: string[]) =>
    runWarm(args, { cwd, env: { ...env, LEADSHEET_FROM: from } })
  const list = async (...args: string[]) =>
    JSON.parse((await run('outbox', 'list', ...args, '--json')).stdout)
  return { run, runFrom, list, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

interface Listed {
  readonly recipient: string
  readonly message_id: string
}

const CANCEL = ['outbox', 'resolve', '--as', 'cancelled'] as const

/** Returns the Message-IDs that an address has received. */
const receivedBy = (server: MailServer, address: string) =>
  server.received.filter(({ to }) => to[0] === address).map(({ mail }) => mail.messageId)

describe('leadsheet outbox list', () => {
  it('says of each mail how it stands, what the server said, and when it is tried again', async () => {
    await using mailed = await openMailed()
    const { data: messages, meta } = await mailed.list()
    expect(meta).toEqual({ servers_away: [], refusing: [] })
    const minutes = (from: string, to: string | null) =>
      to && Math.round((Date.parse(to) - Date.parse(from)) / 60_000)
    const told = messages.map((one: Record<string, string | null>) => [
      ...[one.recipient, one.state, one.attempts, one.reply_code, one.response],
      minutes(one.state_at ?? '', one.next_attempt_at ?? null),
    ])
    expect(told).toEqual([
      ['ana@example.com', 'sent', 1, 250, expect.stringMatching(/^250 /), null],
      ['gone@example.com', 'failed', 1, 550, '550 5.1.1 no such user', null],
      ['later@example.com', 'pending', 1, 450, '450 4.2.0 greylisted', 1],
      ['lost@example.com', 'unconfirmed', 1, null, expect.stringMatching(/closed/), 1],
    ])
    const table = await mailed.run('outbox', 'list', '--state', 'failed')
    expect(table.stdout.split('\n')[0]).toMatch(
      /^RECIPIENT +REPORT +PERIOD +STATE +TRIES +SINCE +NEXT +ANSWER$/,
    )
    expect(table.stdout.trim().split('\n')).toHaveLength(2)
    expect((await mailed.list('--recipient', 'ANA@example.com', '--since', '2026-01-01')).data).toHaveLength(
      1,
    )
    expect(await mailed.run('outbox', 'list', '--report', 'weekly')).toMatchObject({
      status: 0,
      stderr: 'No messages found.\n',
    })
  })

  it('cancels what waits for a recipient, an issue or an id, once it is meant', async () => {
    await using mailed = await openMailed()
    const listed = async (recipient: string) =>
      JSON.parse((await mailed.run('outbox', 'list', '--recipient', recipient, '--json')).stdout).data[0]
    const [later, lost] = [await listed('later@example.com'), await listed('lost@example.com')]
    const asked = await mailed.run(...CANCEL, '--recipient', 'later@example.com')
    expect([asked.status, asked.stdout, asked.stderr]).toEqual([
      2,
      expect.stringMatching(/^later@example.com +daily .* waiting/m),
      expect.stringContaining('Nothing was changed. With --yes: 1 message cancelled.'),
    ])
    expect((await listed('later@example.com')).state).toBe('pending')
    const { message_id: id, period } = later
    const done = await mailed.run(...CANCEL, id.slice(1, -1), '--yes', '--json')
    expect(JSON.parse(done.stdout).data).toEqual({
      resolved: true,
      as: 'cancelled',
      messages: [{ message_id: id, recipient: 'later@example.com', report: 'daily', period }],
    })
    expect(await listed('later@example.com')).toMatchObject({
      state: 'withdrawn',
      response: 'cancelled by the operator',
      next_attempt_at: null,
    })
    const day = period.from.slice(0, 10)
    expect((await mailed.run(...CANCEL, '--period', day, '--yes')).stdout).toContain('lost@')
    // It may have arrived, so only a person knows what it is; but it is not sent again.
    expect(await listed('lost@example.com')).toMatchObject({ state: lost.state, next_attempt_at: null })
    const none = await mailed.run(...CANCEL, '--report', 'daily', '--yes')
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('no such message is waiting')])
    expect((await mailed.run(...CANCEL)).stderr).toContain('which messages are meant is missing')
  })

  it('takes the word of a person for what is unconfirmed', async () => {
    await using mailed = await openMailed()
    const resolve = (recipient: string, ...args: string[]) =>
      mailed.run('outbox', 'resolve', '--report', 'daily', '--recipient', recipient, ...args)
    expect(await resolve('lost@example.com')).toMatchObject({ status: 2 })
    expect(await resolve('ana@example.com', '--as', 'delivered')).toMatchObject({ status: 1 })
    const asked = await resolve('lost@example.com', '--as', 'delivered')
    expect([asked.status, asked.stderr]).toEqual([2, expect.stringContaining('With --yes')])
    expect((await mailed.list('--state', 'unconfirmed')).data).toHaveLength(1)
    const done = await resolve('lost@example.com', '--as', 'delivered', '--yes')
    expect(done).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^daily, .*, to lost@example\.com: delivered\n$/),
    })
    expect((await mailed.list('--state', 'unconfirmed')).data).toEqual([])
    expect((await mailed.list('--recipient', 'lost@example.com')).data).toMatchObject([
      { state: 'sent', response: 'resolved by hand: delivered', next_attempt_at: null },
    ])
  })
})

describe('leadsheet report resend', () => {
  it('sends the failed ones under their Message-ID, and to nobody else', async () => {
    await using mailed = await openMailed()
    const [gone] = (await mailed.list('--recipient', 'gone@example.com')).data
    expect(await mailed.run('report', 'resend', 'daily', '--failed')).toMatchObject({ status: 0 })
    expect(receivedBy(mailed.server, 'gone@example.com')).toEqual([gone.message_id])
    expect(mailed.server.received).toHaveLength(1)
    expect((await mailed.list('--state', 'sent')).data).toHaveLength(2)
    expect(await mailed.run('report', 'resend', 'daily', '--failed')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('no mail matches'),
    })
  })

  it('gives one who has it a new mail that says so, in answer to the first', async () => {
    await using mailed = await openMailed()
    const [first] = (await mailed.list('--recipient', 'ana@example.com')).data
    const reason = 'the first one had the wrong currency'
    expect(
      await mailed.run('report', 'resend', 'daily', '--to', 'ana@example.com', '--reason', reason),
    ).toMatchObject({
      status: 0,
    })
    const [mail] = mailed.server.received.map((one) => one.mail)
    expect(mail?.messageId).not.toBe(first.message_id)
    expect(mail?.inReplyTo).toBe(first.message_id)
    expect(mail?.text).toMatch(/^Sent again at /m)
    expect(mail?.html).toContain(reason)
    // A further resend has a new id and refers to the first mail, also after the sender's address has
    // changed.
    const moved = await mailed.runFrom(
      'reports@example.net',
      'report',
      'resend',
      'daily',
      '--to',
      'ana@example.com',
    )
    expect(moved).toMatchObject({ status: 0 })
    expect(mailed.server.received[1]?.mail).toMatchObject({ inReplyTo: first.message_id })
    expect(new Set(receivedBy(mailed.server, 'ana@example.com')).size).toBe(2)
    expect((await mailed.list('--recipient', 'ana@example.com')).data).toMatchObject([
      { revision: 2, state: 'sent' },
      { revision: 1, state: 'sent' },
      { revision: 0, state: 'sent' },
    ])
  })

  it('asks before several people get again what they have or may have', async () => {
    await using mailed = await openMailed()
    const asked = await mailed.run('report', 'resend', 'daily', '--all')
    expect(asked).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') })
    expect(asked.stdout).toMatch(/^ana@example\.com .* sent +a new mail$/m)
    expect(asked.stdout).toMatch(/^lost@example\.com .* unconfirmed +the same mail$/m)
    expect(mailed.server.received).toEqual([])
    const before: readonly Listed[] = (await mailed.list()).data
    const done = await mailed.run('report', 'resend', 'daily', '--all', '--yes')
    expect(done).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('not sent to later@example.com'),
    })
    const isSame = (address: string) =>
      before.find(({ recipient }) => recipient === address)?.message_id ===
      receivedBy(mailed.server, address)[0]
    expect(mailed.server.received).toHaveLength(3)
    const table = await mailed.run('outbox', 'list', '--state', 'sent')
    expect(table.stdout).toMatch(/^lost@example\.com .* sent, perhaps twice /m)
    expect(table.stdout).toMatch(/^ana@example\.com .* sent \(again\) /m)
    expect(['ana', 'gone', 'lost'].map((name) => isSame(`${name}@example.com`))).toEqual([false, true, true])
  })
})

it('a test reaches one person, is of nobody’s preference, and is not in the ledger', async () => {
  await using mailed = await openMailed()
  expect(await mailed.run('report', 'preview', 'daily', '--to', 'me@example.com')).toMatchObject({
    status: 0,
  })
  expect(mailed.server.received.map(({ to }) => to)).toEqual([['me@example.com']])
  expect(mailed.server.received[0]?.mail.subject).toMatch(/^\[Test\] /)
  expect((await mailed.list()).data).toHaveLength(4)
})
