import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/domain/message.ts'
import { SIGNED_FIELDS, sign } from '../../src/mail/dkim.ts'
import { buildMessage } from '../../src/mail/message.ts'
import { DKIM_KEY, verify } from '../support/mail/dkim.ts'
import { FILES, MESSAGE } from '../support/mail/message.ts'

/** A message with every possible header field. */
const FULL: Message = {
  ...MESSAGE,
  subject:
    'Umsätze: 59 neue Leads, von denen drei gewonnen wurden, und vieles mehr in einer langen Zeile · 20.11.',
  unsubscribe: { mailto: 'ops@example.com', url: 'https://leads.example.com/u/3f2a' },
  files: FILES,
  inReplyTo: '<first@example.com>',
}
const signed = await buildMessage(FULL, DKIM_KEY)

describe('a signature', () => {
  it('holds for the receiving server, which trusts the message for its sender’s domain', async () => {
    expect(await verify(signed)).toMatchObject({ dkim: ['pass'], dmarc: 'pass' })
  })

  it('covers every field that is to be signed, those to unsubscribe included', async () => {
    const { signed: fields } = await verify(signed)
    expect([...fields].sort()).toEqual(SIGNED_FIELDS.map((field) => field.toLowerCase()).sort())
  })

  it.each(SIGNED_FIELDS)('breaks when %s is changed on the way', async (field) => {
    const changed = signed.toString('latin1').replace(new RegExp(`^(${field}: .*?)(\\w)`, 'im'), '$1x$2')
    expect(changed).not.toBe(signed.toString('latin1'))
    expect((await verify(Buffer.from(changed, 'latin1'))).dkim).toEqual(['fail'])
  })

  it.each([
    ['the text', '59 new leads', '58 new leads'],
    ['an attachment', base64(FILES.at(-1)?.content ?? ''), base64('id,company\r\n1,Evil\r\n')],
  ])('breaks when %s is changed on the way', async (_what, before, after) => {
    const changed = signed.toString('latin1').replace(before, after)
    expect(changed).not.toBe(signed.toString('latin1'))
    expect((await verify(Buffer.from(changed, 'latin1'))).dkim).not.toContain('pass')
  })

  it('breaks when the way out of the preference is taken out', async () => {
    const changed = signed.toString('latin1').replace(/^List-Unsubscribe-Post: .*\r\n/m, '')
    expect(changed).not.toBe(signed.toString('latin1'))
    expect((await verify(Buffer.from(changed, 'latin1'))).dkim).toEqual(['fail'])
  })

  it('survives what mail servers do on the way: fields above it, and lines folded anew', async () => {
    const [head = '', ...body] = signed.toString('latin1').split('\r\n\r\n')
    const folded = head.replace('List-ID: leadsheet', 'List-Id:\r\n\tleadsheet ')
    expect(folded).not.toBe(head)
    const received = `Received: from a by b; Sat, 21 Nov 2026 05:04:00 +0000\r\n${[folded, ...body].join('\r\n\r\n')}`
    expect((await verify(Buffer.from(received, 'latin1'))).dkim).toEqual(['pass'])
  })

  it('is the same on every attempt', async () => {
    expect(await buildMessage(FULL, DKIM_KEY)).toEqual(signed)
  })

  it('is not left out by a key that cannot sign', async () => {
    const broken = sign(await buildMessage(FULL), { ...DKIM_KEY, privateKey: 'no key' })
    await expect(broken).rejects.toThrow('does not sign')
  })
})

function base64(content: string | Uint8Array): string {
  return Buffer.from(content).toString('base64')
}
