/** Mailboxes over IMAP (Dovecot), a folder and a Maildir: what is read behind a position, and what a failure says. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LeadsheetError } from '../../src/errors.ts'
import type { Mailbox } from '../../src/mail/mailbox.ts'
import { openMailbox } from '../../src/mail/mailbox.ts'
import { folderWith } from '../support/folder.ts'
import { freePort } from '../support/network/free-port.ts'
import { listen } from '../support/network/http-server.ts'
import { isSkipped } from '../support/process/programs.ts'
import { missingImap, PASSWORD, startDovecot } from './real/dovecot.ts'

const TEST_MS = 60_000
const { signal } = new AbortController()
const mail = (subject: string, body = 'Hello.') =>
  `From: a@example.com\r\nMessage-ID: <${subject}@example.com>\r\nSubject: ${subject}\r\n\r\n${body}\r\n`

async function read(mailbox: Mailbox, after: string | null, newest?: number) {
  const subjects: string[] = []
  let position = after
  for await (const message of mailbox.read(after, newest === undefined ? { signal } : { signal, newest })) {
    subjects.push(/^Subject: (.*)$/m.exec(message.raw.toString())?.[1]?.trim() ?? '')
    position = message.position
  }
  return { subjects, position }
}

const failure = (mailbox: Mailbox) =>
  mailbox.position(signal).catch((error) => `${error.code}: ${error.message}\n${error.hint}`)

const isWithoutImap = isSkipped('reading a mailbox over IMAP', missingImap())

describe.skipIf(isWithoutImap)('a mailbox over IMAP', { timeout: TEST_MS }, () => {
  async function start() {
    const dovecot = await startDovecot()
    const address = 'bounces@example.org'
    const put = (subject: string, body?: string, folder = 'INBOX') =>
      execFileSync('doveadm', ['-c', dovecot.file, 'save', '-u', address, '-m', folder], {
        input: mail(subject, body),
      })
    const url = (user = address, password = PASSWORD, folder = '') =>
      `imap://${encodeURIComponent(user)}:${password}@127.0.0.1:${dovecot.imapPort}/${folder}`
    return { ...dovecot, address, put, url }
  }

  it('yields the messages behind a position, and marks none as read', async () => {
    const { url, put, run, address } = await start()
    for (let i = 0; i < 45; i++) put(`m${i}`)
    await using mailbox = openMailbox(url())
    const first = await read(mailbox, null)
    expect(first.subjects).toEqual(Array.from({ length: 45 }, (_, i) => `m${i}`))
    expect(await mailbox.position(signal)).toBe(first.position)
    expect(await read(mailbox, first.position)).toEqual({ subjects: [], position: first.position })
    put('later')
    expect((await read(mailbox, first.position)).subjects).toEqual(['later'])
    expect((await read(mailbox, null, 2)).subjects).toEqual(['m44', 'later'])
    expect(run('search', '-u', address, 'mailbox', 'INBOX', 'seen')).toBe('')
    expect(run('search', '-u', address, 'mailbox', 'INBOX', 'recent').trim().split('\n')).toHaveLength(46)
  })

  it('yields all of a mailbox that was made anew, and the start of a large message', async () => {
    const { url, put, run, address } = await start()
    run('mailbox', 'create', '-u', address, 'Bounces')
    put('one', undefined, 'Bounces')
    await using mailbox = openMailbox(url(address, PASSWORD, 'Bounces'))
    const { position } = await read(mailbox, null)
    run('mailbox', 'delete', '-u', address, 'Bounces')
    await new Promise((done) => setTimeout(done, 1_100))
    run('mailbox', 'create', '-u', address, 'Bounces')
    put('two', 'x'.repeat(3_000_000), 'Bounces')
    await using anew = openMailbox(url(address, PASSWORD, 'Bounces'))
    const all = await Array.fromAsync(anew.read(position, { signal }))
    expect(all.map(({ raw }) => raw.length)).toEqual([1_000_000])
    expect(all[0]?.position).not.toBe(position)
  })

  it('is opened with an access token, and with another one once the first is refused', async () => {
    const asked: string[] = []
    const server = createServer(async (request, response) => {
      const token = new URLSearchParams(await text(request)).get('token') ?? ''
      asked.push(token)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ active: token === 'imap-token-good', email: 'bounces@example.org' }))
    })
    const dovecot = await startDovecot(`http://127.0.0.1:${await listen(server)}/`)
    onTestFinished(() => void server.close())
    const tokensOf = (...left: string[]) => ({
      async current() {
        if (left[0] === undefined) throw new LeadsheetError('api_unauthorized', 'no access token: 400')
        return left[0]
      },
      hasOther: async () => left.length > 1 && left.shift() !== undefined,
      close: async () => undefined,
    })
    const url = `imap://bounces%40example.org@127.0.0.1:${dovecot.imapPort}`
    await using renewed = openMailbox(url, tokensOf('imap-token-revoked', 'imap-token-good'))
    expect(await renewed.position(signal)).toMatch(/^\d+:0$/)
    await using refused = openMailbox(
      url,
      tokensOf('imap-token-revoked', 'imap-token-revoked-too', 'imap-token-never'),
    )
    expect(await failure(refused)).toMatch(
      /^mail_unreachable: .* did not let us in: .*\nThe login gave a token\./,
    )
    await using without = openMailbox(url, tokensOf())
    expect(await failure(without)).toMatch(/^mail_unreachable: imap:\S+ was not asked: no access token: 400/)
    expect(asked).toEqual([
      'imap-token-revoked',
      'imap-token-good',
      'imap-token-revoked',
      'imap-token-revoked-too',
    ])
  })

  it('says what is wrong', async () => {
    const { url, put, address, imapPort } = await start()
    put('one')
    const away = await freePort()
    const said: string[] = []
    for (const each of [
      url(address, 'wrong-password'),
      url(address, PASSWORD, 'Bounced'),
      `imap://a:b@127.0.0.1:${away}`,
      `imaps://a:b@127.0.0.1:${imapPort}`,
    ]) {
      await using mailbox = openMailbox(each)
      said.push(await failure(mailbox))
    }
    const all = said
      .join('\n\n')
      .replaceAll(String(imapPort), 'PORT')
      .replaceAll(String(away), 'AWAY')
      .replace(/ \([\d.]+ \+ .*? secs\)|\b[\dA-F]+:error:\w+:/g, '')
    await expect(`${all}\n`).toMatchFileSnapshot('golden/mailbox-failures.txt')
  })
})

describe('a folder', () => {
  it('yields .eml files as they come, and a file of a Maildir wherever it is', async () => {
    const folder = folderWith({ 'one.eml': mail('one'), 'two.eml': mail('two'), 'three.part': mail('three') })
    for (const part of ['new', 'cur', 'tmp']) mkdirSync(join(folder, part))
    writeFileSync(join(folder, 'new', '1.M2.host'), mail('four', 'x'.repeat(2_000_000)))
    writeFileSync(join(folder, 'tmp', '1.M3.host'), mail('five'))
    await using mailbox = openMailbox(`file:${folder}`)
    const { position } = await read(mailbox, null)
    const all = await Array.fromAsync(mailbox.read(null, { signal }))
    expect(all.map(({ raw }) => raw.length)).toEqual([76, 76, 1_000_000])
    expect(await mailbox.position(signal)).toBe(position)
    renameSync(join(folder, 'new', '1.M2.host'), join(folder, 'cur', '1.M2.host:2,S'))
    renameSync(join(folder, 'three.part'), join(folder, 'three.eml'))
    expect((await read(mailbox, position, 2)).subjects).toEqual(['four', 'three'])
    // A position of two minutes later is behind all of them.
    const later = String(Date.now() + 120_000)
    vi.setSystemTime(Number(later))
    expect((await read(mailbox, later)).subjects).toEqual([])
    vi.useRealTimers()
    // A position of the future, after the clock was set back, hides nothing that comes.
    expect((await read(mailbox, String(Date.now() + 3_600_000))).subjects).toHaveLength(4)
  })

  it('that is not there is told', async () => {
    await using mailbox = openMailbox('file:/nowhere/bounces')
    expect(await failure(mailbox)).toContain(
      "mail_unreachable: file:/nowhere/bounces could not be read: ENOENT: no such file or directory, access '/nowhere/bounces'",
    )
  })
})
