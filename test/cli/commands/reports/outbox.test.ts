// @long
/** `leadsheet outbox list` and `resend`: the state of each mail, and sending some of them again. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import {
  autoReplyMail,
  complaintMail,
  ordinaryMail,
  statusMail,
  unsubscribeMail,
} from '../../../support/mail/notifications.ts'
import { openMailServer, refusal } from '../../../support/mail-server.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { syncedForFile } from '../../../support/process/synced-installation.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

const NOW = '2026-11-24T12:00:00Z'
const SETTINGS = `
recipients: [ana@example.com, gone@example.com, lost@example.com, later@example.com]
reports:
  - name: daily
enrichment: { policy: none }
snapshot: { when: never }
`

const synced = syncedForFile(SETTINGS, NOW, 5)
const ENV = { ...synced.env, LEADSHEET_FROM: 'reports@example.com' }

/** Mails a report. The server refuses one of four recipients, defers another, and its answer for a third is lost. */
beforeAll(async () => {
  const answers = { gone: refusal(550, '5.1.1 no such user'), later: refusal(450, '4.2.0 greylisted') }
  await using server = await openMailServer(
    {
      onRcptTo: ({ address }, _session, done) => {
        done(Object.entries(answers).find(([name]) => address.startsWith(name))?.[1])
      },
    },
    async () => {
      if (server.received.at(-1)?.to[0] === 'lost@example.com') server.dropConnections()
    },
  )
  const options = { cwd: synced.folder, env: { ...ENV, LEADSHEET_MAIL_URL: server.url } }
  expect(await runWarm(['report', 'send', 'daily'], options)).toMatchObject({ status: 3 })
})

/** Copies that installation, and opens a mail server for the copy that accepts everything. */
async function openMailed() {
  const server = await openMailServer()
  const options = {
    cwd: synced.copy(),
    env: { ...ENV, ...clockStandingAt('2026-11-24T12:00:30Z'), LEADSHEET_MAIL_URL: server.url },
  }
  const { stdout } = await runWarm(['outbox', 'list', '--json'], options)
  const listed: readonly Record<string, string>[] = JSON.parse(stdout).data
  return {
    server,
    folder: options.cwd,
    /** Runs the commands of a golden file. */
    check: (file: string, known = {}) =>
      checkTranscript(join(import.meta.dirname, 'golden', file), options, known),
    /** Returns the state of the first mail to somebody. */
    firstTo: (name: string) => listed.find(({ recipient }) => recipient === `${name}@example.com`) ?? {},
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

it('each mail is listed as it stands, cancelled, and resolved by the word of a person, once it is meant', async () => {
  await using mailed = await openMailed()
  const [later, lost] = ['later', 'lost'].map(mailed.firstTo)
  const [NEXT = '', AGAIN = ''] = [later, lost].map((each) => each?.['next_attempt_at'])
  // A message is tried again after about a minute.
  for (const at of [NEXT, AGAIN]) expect(Math.round((Date.parse(at) - Date.parse(NOW)) / 60_000)).toBe(1)
  await mailed.check('outbox.txt', { LATER: later?.['message_id']?.slice(1, -1) ?? '', NEXT, AGAIN })
})

it('a failed mail is sent again as it is; who has one gets a new one, which answers the first; a test reaches one person', async () => {
  await using mailed = await openMailed()
  await mailed.check('resend.txt')
  const [gone, ana] = ['gone', 'ana'].map((name) => mailed.firstTo(name)['message_id'])
  const mails = mailed.server.received.map(({ to, mail }) => ({ ...mail, to }))
  expect(mails).toMatchObject([
    { to: ['gone@example.com'], messageId: gone },
    {
      to: ['ana@example.com'],
      inReplyTo: ana,
      text: expect.stringMatching(/^Sent again at /m),
      html: expect.stringContaining('the first one had the wrong currency'),
    },
    // It refers to the first mail, although the sender's address has changed.
    { to: ['ana@example.com'], inReplyTo: ana },
    { to: ['me@example.com'], subject: expect.stringMatching(/^\[Test\] /) },
  ])
  expect(new Set([ana, ...mails.map(({ messageId }) => messageId)]).size).toBe(5)
})

it('before several people get again what they have or may have, or one does where all were meant, that is asked', async () => {
  await using mailed = await openMailed()
  await mailed.check('resend-all.txt')
  const sent = mailed.server.received.map(({ to, mail }) => [to[0], mail.messageId])
  const firstOf = (name: string) => [`${name}@example.com`, mailed.firstTo(name)['message_id']]
  expect(sent).toHaveLength(3)
  expect(sent).toEqual(expect.arrayContaining([firstOf('gone'), firstOf('lost')]))
  expect(sent).not.toContainEqual(firstOf('ana'))
})

it('what came back is read, shown, and told', async () => {
  await using mailed = await openMailed()
  const about = (name: string) => {
    const { message_id: messageId = '', recipient = '' } = mailed.firstTo(name)
    return { messageId, recipient }
  }
  mkdirSync(join(mailed.folder, 'data', 'bounces'), { recursive: true })
  const mails = {
    bounced: statusMail(about('ana')),
    complaint: complaintMail(about('lost')),
    unsubscribe: unsubscribeMail('later@example.com', 'unsubscribe daily'),
    unknown: statusMail({ messageId: `<${'0'.repeat(40)}@example.com>`, recipient: 'eve@example.net' }),
    holiday: autoReplyMail(about('ana')),
    ordinary: ordinaryMail(1),
  }
  for (const [name, mail] of Object.entries(mails))
    writeFileSync(join(mailed.folder, 'data', 'bounces', `${name}.eml`), mail)
  await mailed.check('bounces.txt')
  expect(mailed.server.received.map(({ to }) => to[0])).toEqual(['ana@example.com', 'gone@example.com'])
})
