/**
 * Messages on their whole way: over SMTP to Postfix, from there to Dovecot, and read from the mailbox as Dovecot
 * parses it. If these are not installed or may not be started, the tests are skipped with a message.
 */
import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/domain/message.ts'
import { buildMessage } from '../../../src/mail/message.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { DKIM_KEY, verify } from '../../support/mail/dkim.ts'
import { FILES, MESSAGE } from '../../support/mail/message.ts'
import { isSkipped } from '../../support/process/programs.ts'
import { SILENT } from '../../support/syncing.ts'
import { missingDovecot, startDovecot } from './dovecot.ts'
import { MAX_BYTES, missingPostfix, startPostfix } from './postfix.ts'

/** The kinds of the parts of such a message, each before the kind of those that it belongs to. */
const STRUCTURE =
  '"text" "plain","text" "html","image" "png","image" "png","related","alternative","text" "csv","mixed"'
/** The limit is long, because the machine may be busy. */
const TEST_MS = 90_000

const { signal } = new AbortController()

/** Starts Postfix, which accepts messages to all addresses of example.org, with Dovecot behind it for the current test. */
async function startServers() {
  const { lmtpPort, untilArrived } = await startDovecot()
  return { url: `smtp://127.0.0.1:${await startPostfix(lmtpPort)}`, untilArrived }
}

const isWithoutServers = isSkipped('messages through Postfix to Dovecot', missingPostfix(), missingDovecot())

/**
 * A message with everything that mail servers may alter: dots, `From`, spaces at line ends, long lines, and
 * letters of any language.
 */
const MESSAGE_OF_TRAPS: Message = {
  ...MESSAGE,
  subject: 'Täglich: 59 neue Leads (+18 %), 3 gewonnen · Fr., 20. Nov.',
  lang: 'de',
  text: `Grüße\n.\n..\nFrom here on\n  spaces  \n\t\n${'ohne Ende '.repeat(200)}\nŁódź, 東京, 🚀\n`,
  html: `<p>${'Umsätze in Łódź und 東京: 1.234,56 € 🚀 '.repeat(100)}</p>\n.\nFrom here on\n`,
  files: FILES,
}

describe.skipIf(isWithoutServers)('a message', { timeout: TEST_MS }, () => {
  it('arrives to the byte, built as it should be, and its signature holds', async () => {
    const servers = await startServers()
    await using transport = openTransport(servers.url, { log: SILENT, dkim: DKIM_KEY })
    await transport.send(MESSAGE_OF_TRAPS, { signal })
    const fields = ['text', 'imap.bodystructure', 'body.1.2.2', 'body.1.2.3', 'body.2']
    const [found = {}] = await servers.untilArrived(MESSAGE.to, fields)
    const [text = '', structure, ...parts] = fields.map((field) => found[field])
    const raw = Buffer.from(text)

    // Servers add their fields above the message.
    const sent = await buildMessage(MESSAGE_OF_TRAPS, DKIM_KEY)
    expect(raw.subarray(-sent.length).equals(sent)).toBe(true)
    expect(await verify(raw)).toMatchObject({ dkim: ['pass'], dmarc: 'pass' })

    // The structure as Dovecot parses it (RFC 3501, 7.4.2), independently of the program.
    expect(
      structure
        ?.replace(/"boundary" "[^"]*"/g, '')
        .match(/"(?:text|image|alternative|related|mixed)"(?: "\w+")?/g)
        ?.join(),
    ).toBe(STRUCTURE)
    expect(parts.map((part = '') => Uint8Array.from(Buffer.from(part, 'base64')))).toEqual(
      FILES.map(({ content }) => Uint8Array.from(content)),
    )

    const mail = await PostalMime.parse(raw)
    expect(mail.subject).toBe(MESSAGE_OF_TRAPS.subject)
    expect(mail.text?.replaceAll('\r\n', '\n').trimEnd()).toBe(MESSAGE_OF_TRAPS.text.trimEnd())
    expect(mail.html?.replaceAll('\r\n', '\n').trimEnd()).toBe(MESSAGE_OF_TRAPS.html.trimEnd())
    expect(mail.returnPath).toBe('reports@example.com')
  })

  it.each([
    ['it is larger than the server says', true],
    ['only the fields that the server adds make it too large', false],
  ])('arrives without its attachment if %s', async (_why, isOver) => {
    const servers = await startServers()
    await using transport = openTransport(servers.url, { log: SILENT })
    const withBytes = (bytes: number): Message => ({
      ...MESSAGE,
      files: [{ name: 'huge.csv', contentType: 'text/csv', content: new Uint8Array(bytes), cid: null }],
    })
    // A line of base64 is 78 bytes for 57 bytes of the file.
    const lines = Math.floor((MAX_BYTES - (await buildMessage(withBytes(0), null)).length) / 78)
    const message = withBytes((isOver ? lines + 2 : lines) * 57)
    expect((await buildMessage(message, null)).length > MAX_BYTES).toBe(isOver)

    const { response } = await transport.send(message, { signal })
    expect(response).toMatch(/^250 .*; sent without huge\.csv: too large for the server$/)
    const [arrived, ...others] = await servers.untilArrived(MESSAGE.to, ['text'])
    const mail = await PostalMime.parse(arrived?.['text'] ?? '')
    expect([mail.attachments, others]).toEqual([[], []])
    expect(mail.text).toMatch(/^Not attached, .*: huge\.csv\./)
  })
})
