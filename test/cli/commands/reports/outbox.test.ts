// @long
/** `leadsheet outbox list` and `resend`: the state of each mail, and sending some of them again. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { type MailServer, openMailServer } from '../../../support/mail-server.ts'
import { clockAt, clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startService } from '../../../support/service.ts'

const ENV = { LEADSHEET_LOG_LEVEL: 'error', LEADSHEET_FROM: 'reports@example.com' }
const NOW = '2026-11-24T12:00:00Z'
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
  await using service = await startService(mailedFolder, new Date(NOW), 5)
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
    ...clockStandingAt(NOW),
  }
  const run = async (...args: string[]) => (await runWarm(args, { cwd: mailedFolder, env })).status
  expect([await run('sync'), await run('report', 'send', 'daily')]).toEqual([0, 3])
})

/** Copies that installation, and opens a mail server for the copy that accepts everything. */
async function openMailed() {
  const cwd = folderWith()
  cpSync(mailedFolder, cwd, { recursive: true })
  const server = await openMailServer()
  const env = { ...ENV, ...clockAt(NOW), LEADSHEET_SMTP_URL: server.url }
  const run = (...args: string[]) => runWarm(args, { cwd, env })
  const runFrom = (from: string, ...args: string[]) =>
    runWarm(args, { cwd, env: { ...env, LEADSHEET_FROM: from } })
  const list = async (...args: string[]) =>
    JSON.parse((await run('outbox', 'list', ...args, '--json')).stdout)
  return { cwd, run, runFrom, list, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** Returns the Message-IDs that an address has received. */
const receivedBy = (server: MailServer, address: string) =>
  server.received.filter(({ to }) => to[0] === address).map(({ mail }) => mail.messageId)

it('each mail is listed as it stands, cancelled, and resolved by the word of a person, once it is meant', async () => {
  await using mailed = await openMailed()
  const waiting: readonly Record<string, string>[] = (await mailed.list('--recipient', 'later@example.com'))
    .data
  const lost: readonly Record<string, string>[] = (await mailed.list('--state', 'unconfirmed')).data
  const [next, again] = [...waiting, ...lost].map((each) => each['next_attempt_at'] ?? '')
  // A message is tried again after about a minute.
  for (const at of [next, again])
    expect(Math.round((Date.parse(at ?? '') - Date.parse(NOW)) / 60_000)).toBe(1)
  const known = {
    LATER: waiting[0]?.['message_id']?.slice(1, -1) ?? '',
    NEXT: next ?? '',
    AGAIN: again ?? '',
  }
  const options = { cwd: mailed.cwd, env: { ...ENV, ...clockStandingAt('2026-11-24T12:00:30Z') } }
  await checkTranscript(join(import.meta.dirname, 'golden/outbox.txt'), options, known)
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

  it('asks before several people get again what they have or may have, or one does where all were meant', async () => {
    await using mailed = await openMailed()
    const asked = await mailed.run('report', 'resend', 'daily', '--all')
    expect(asked).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') })
    expect(asked.stdout).toMatch(/^ana@example\.com .* sent +a new mail$/m)
    expect(asked.stdout).toMatch(/^lost@example\.com .* unconfirmed +the same mail$/m)
    await mailed.run('outbox', 'resolve', '--recipient', 'lost@example.com', '--as', 'lost', '--yes')
    const askedOfOne = await mailed.run('report', 'resend', 'daily', '--all')
    expect(askedOfOne).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') })
    expect(mailed.server.received).toEqual([])
    const before: readonly Record<string, string>[] = (await mailed.list()).data
    const done = await mailed.run('report', 'resend', 'daily', '--all', '--yes')
    expect(done).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('not sent to later@example.com'),
    })
    const isSame = (address: string) =>
      before.find(({ recipient }) => recipient === address)?.['message_id'] ===
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
