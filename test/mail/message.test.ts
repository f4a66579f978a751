import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/domain/message.ts'
import type { LeadsheetError } from '../../src/errors.ts'
import type { MessageIdentity } from '../../src/mail/message.ts'
import { buildMessage, messageId, parseMailbox, SIGNED_FIELDS } from '../../src/mail/message.ts'
import { DKIM_KEY, verify } from '../support/mail/dkim.ts'
import { FILES, MESSAGE } from '../support/mail/message.ts'
import { checkExamples } from '../support/process/transcript.ts'

const IDENTITY: MessageIdentity = {
  installationId: '0190f7c2',
  report: 'daily',
  period: { from: '2026-11-19T23:00:00.000Z', to: '2026-11-20T23:00:00.000Z' },
  recipient: 'dana@example.org',
  revision: 0,
  from: 'leadsheet <reports@example.com>',
}

/** A message with every possible header field. */
const FULL: Message = {
  ...MESSAGE,
  subject:
    'Umsätze: 59 neue Leads, von denen drei gewonnen wurden, und vieles mehr in einer langen Zeile · 20.11.',
  unsubscribe: { mailto: 'ops@example.com', url: 'https://leads.example.com/u/3f2a' },
  files: FILES,
  inReplyTo: '<first@example.com>',
}

describe('the Message-ID', () => {
  it('is the same whenever it is asked for, and in the name of the sender', () => {
    expect(messageId(IDENTITY)).toBe(messageId({ ...IDENTITY }))
    expect(messageId(IDENTITY)).toMatch(/^<[0-9a-v]{40}@example\.com>$/)
  })

  it.each([
    { installationId: '0190f7c3' },
    { report: 'weekly' },
    { period: { ...IDENTITY.period, from: '2026-11-18T23:00:00.000Z' } },
    { period: { ...IDENTITY.period, to: '2026-11-21T23:00:00.000Z' } },
    { recipient: 'eve@example.org' },
    { revision: 1 },
  ])('is another with %o', (difference) => {
    expect(messageId({ ...IDENTITY, ...difference })).not.toBe(messageId(IDENTITY))
  })

  it('does not confuse fields that run into one another', () => {
    const one = messageId({ ...IDENTITY, installationId: 'a', report: 'bc' })
    expect(messageId({ ...IDENTITY, installationId: 'ab', report: 'c' })).not.toBe(one)
  })
})

describe('a message', () => {
  it.each([
    ['plain', MESSAGE],
    ['with-files', FULL],
  ])('is the same to the byte on every attempt, text before HTML: %s', async (name, message) => {
    const raw = await buildMessage(message)
    expect(await buildMessage({ ...message })).toEqual(raw)
    const shown = raw.toString('latin1').replaceAll('\r\n', '\n')
    await expect(shown).toMatchFileSnapshot(`golden/message-${name}.eml`)
    const mail = await PostalMime.parse(raw)
    expect([mail.subject, mail.date]).toEqual([message.subject, message.date])
    expect([mail.text?.trim(), mail.html?.trim()]).toEqual([message.text.trim(), message.html])
    const contents = mail.attachments.map(({ content }) => Buffer.from(content as ArrayBuffer))
    expect(contents).toEqual(message.files.map(({ content }) => Buffer.from(content)))
  })

  it('ends all its lines as lines of a message do, whatever those of the text and the HTML end with', async () => {
    const raw = await buildMessage({ ...MESSAGE, text: 'a\nb\r\nc\rd\n', html: '<p>Ä\n</p>\r\n<p>\r' })
    expect(raw.toString('latin1').replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    expect((await PostalMime.parse(raw)).text?.trimEnd()).toBe('a\nb\nc\nd')
  })

  it('keeps long lines and messages of any language whole, in ASCII and in short lines', async () => {
    const html = `<p>${'Umsätze über 5 Mio. €, '.repeat(100)}</p>`
    const text = `${'Grüße aus Łódź '.repeat(100)}\n`
    const raw = await buildMessage({ ...MESSAGE, html, text })
    const mail = await PostalMime.parse(raw)
    expect(mail.html?.trimEnd()).toBe(html)
    expect(mail.text?.replaceAll('\r\n', '\n').trimEnd()).toBe(text.trimEnd())
    expect(raw.every((byte) => byte < 128)).toBe(true)
    expect(raw.toString('latin1')).not.toMatch(/[^\r\n]{79}/)
  })

  it('keeps a line break in a text from becoming a header, or another recipient', async () => {
    const raw = await buildMessage({
      ...MESSAGE,
      toName: 'Dana "D" <eve@example.org>,\r\nBcc: eve@example.org',
      subject: 'Hello\r\nBcc: eve@example.org\r\n\r\n<b>',
      report: 'a\r\nX-Evil: 1',
    })
    const { headers, to } = await PostalMime.parse(raw)
    expect(to?.map(({ address }) => address)).toEqual(['dana@example.org'])
    expect(headers.map(({ key }) => key)).not.toContain('bcc')
    expect(headers.map(({ key }) => key)).not.toContain('x-evil')
    const smuggled = buildMessage({ ...MESSAGE, to: 'dana@example.org>\r\nRCPT TO:<eve@example.org' })
    await expect(smuggled).rejects.toMatchObject({ code: 'config_invalid' })
  })
})

it.each([
  ['Sales Ops <o’hara+%&?@example.com>', 'mailto:o%E2%80%99hara%2B%25%26%3F@example.com?subject'],
  ['ops@bücher.example', 'mailto:ops@xn--bcher-kva.example?subject'],
])('the way out of a preference leads to %s, whatever that has to be written as', async (mailto, start) => {
  const raw = await buildMessage({ ...MESSAGE, unsubscribe: { mailto, url: null } })
  const { headers } = await PostalMime.parse(raw)
  expect(headers.find(({ key }) => key === 'list-unsubscribe')?.value).toContain(`<${start}`)
})

/** An example is a text in JSON, so that a reviewer sees every character of it. */
it('an address is taken as it is meant, or refused', () =>
  checkExamples(join(import.meta.dirname, 'golden/addresses.txt'), (input) => {
    try {
      const { name, address } = parseMailbox(JSON.parse(input))
      return [`the mailbox ${address} of ${JSON.stringify(name)}`]
    } catch (thrown) {
      const { code, message } = thrown as LeadsheetError
      const hidden = (sign: string) => `<U+${sign.codePointAt(0)?.toString(16)}>`
      return [`${code}: ${message.replaceAll(/\p{Cf}/gu, hidden)}`]
    }
  }))

const signed = await buildMessage(FULL, DKIM_KEY)
const [head = '', ...body] = signed.toString('latin1').split('\r\n\r\n')
/** The signed fields that the message has. */
const PRESENT = SIGNED_FIELDS.filter((field) => RegExp(`^${field}:`, 'im').test(head))

describe('a signature', () => {
  it('covers what unsubscribing by one click depends on (RFC 8058, 4), and what a reader sees', () => {
    const needed = ['From', 'To', 'Subject', 'Date', 'List-Unsubscribe', 'List-Unsubscribe-Post']
    expect(PRESENT).toEqual(expect.arrayContaining(needed))
  })

  it('holds for the receiving server, which trusts the message for its sender’s domain', async () => {
    expect(await verify(signed)).toMatchObject({ dkim: ['pass'], dmarc: 'pass' })
    expect(await buildMessage(FULL, DKIM_KEY)).toEqual(signed)
  })

  it.each(SIGNED_FIELDS)(
    'breaks when another %s is added on the way, at the top or at the bottom',
    async (field) => {
      for (const added of [
        `${field}: x <y@evil.example>\r\n${head}`,
        `${head}\r\n${field}: x <y@evil.example>`,
      ])
        expect((await verify(Buffer.from([added, ...body].join('\r\n\r\n'), 'latin1'))).dkim).not.toContain(
          'pass',
        )
    },
  )

  it('holds without the fields that a message may lack, and breaks when one of them is added', async () => {
    const bytes = await buildMessage({ ...FULL, replyTo: null, text: 'one \t two \n\n\n' }, DKIM_KEY)
    expect((await verify(bytes)).dkim).toEqual(['pass'])
    const changed = Buffer.concat([Buffer.from('Reply-To: eve@evil.example\r\n'), bytes])
    expect((await verify(changed)).dkim).toEqual(['fail'])
  })

  it.each<readonly [string, RegExp | string, string]>([
    ...PRESENT.map((field) => [field, new RegExp(`^(${field}: .*?)(\\w)`, 'im'), '$1x$2'] as const),
    ['the text', '59 new leads', '58 new leads'],
    ['an attachment', base64(FILES.at(-1)?.content ?? ''), base64('id,company\r\n1,Evil\r\n')],
  ])('breaks when %s is changed on the way', async (_what, before, after) => {
    const changed = signed.toString('latin1').replace(before, after)
    expect(changed).not.toBe(signed.toString('latin1'))
    expect((await verify(Buffer.from(changed, 'latin1'))).dkim).not.toContain('pass')
  })

  it('survives what mail servers do on the way: fields above it, and lines folded anew', async () => {
    const folded = head.replace('List-ID: leadsheet', 'List-Id:\r\n\tleadsheet ')
    expect(folded).not.toBe(head)
    const received = `Received: from a by b; Sat, 21 Nov 2026 05:04:00 +0000\r\n${[folded, ...body].join('\r\n\r\n')}`
    expect((await verify(Buffer.from(received, 'latin1'))).dkim).toEqual(['pass'])
  })

  it('is not left out by a key that cannot sign', async () => {
    await expect(buildMessage(FULL, { ...DKIM_KEY, privateKey: 'no key' })).rejects.toThrow()
  })
})

function base64(content: string | Uint8Array): string {
  return Buffer.from(content).toString('base64')
}
