/** Signed links are accepted, and all altered ones are refused. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readLink, signLink } from '../../src/mail/message.ts'
import { random } from '../support/random.ts'

const SEED = Number(process.env.SEED ?? 1)
const KEY = Buffer.alloc(32, 7)
const SUBJECTS = [
  { address: 'ana@example.com', report: 'daily' },
  { address: `${'a'.repeat(64)}+[]{}"'@bücher.example`, report: 'weekly-emea' },
]
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ %'

/**
 * Returns the token damaged in a random way: a character is changed, removed or added, the end is cut off,
 * the halves are swapped, or the signature is doubled or in lower case.
 */
function tamper(token: string, next: () => number): string {
  const at = Math.floor(next() * token.length)
  const message = ALPHABET[Math.floor(next() * ALPHABET.length)] ?? ''
  const [payload = '', signature = ''] = token.split('.')
  const ways = [
    () => token.slice(0, at) + message + token.slice(at + 1),
    () => token.slice(0, at) + token.slice(at + 1),
    () => token.slice(0, at) + message + token.slice(at),
    () => token.slice(0, at),
    () => `${signature}.${payload}`,
    () => `${payload}.${signature.toLowerCase()}`,
    () => `${token}.${signature}`,
  ]
  return ways[Math.floor(next() * ways.length)]?.() ?? ''
}

describe('a link', () => {
  it.each(SUBJECTS)('of $address says what it was signed for, the same each time', (subject) => {
    const token = signLink(KEY, subject)
    expect(token).toMatch(/^[\w-]+\.[\w-]{43}$/)
    expect(readLink(KEY, token)).toEqual(subject)
    expect(signLink(KEY, subject)).toBe(token)
  })

  it('of the longest address and report still fits into a line of a mail', () => {
    const subject = { address: `${'a'.repeat(64)}@${'b'.repeat(185)}.com`, report: 'r'.repeat(64) }
    const token = signLink(KEY, subject)
    expect(readLink(KEY, token)).toEqual(subject)
    // RFC 5322, 2.1.1 allows 998 characters. The rest is for the host and the text around the link.
    expect(token.length).toBeLessThan(700)
  })

  it('of another installation is none', () => {
    const [subject = { address: '', report: '' }] = SUBJECTS
    expect(readLink(randomBytes(32), signLink(KEY, subject))).toBeNull()
  })

  it(`that was tampered with is none, in 300 ways (SEED=${SEED})`, () => {
    const next = random(SEED)
    const tokens = SUBJECTS.map((subject) => signLink(KEY, subject))
    let tried = 0
    while (tried < 300) {
      const token = tokens[Math.floor(next() * tokens.length)] ?? ''
      const changed = tamper(token, next)
      if (tokens.includes(changed)) continue
      expect(readLink(KEY, changed), changed).toBeNull()
      tried++
    }
  })

  it('is no other text that means the same bytes', () => {
    const token = signLink(KEY, { address: 'a@example.com', report: 'daily' })
    const last = token.at(-1) ?? ''
    const bytes = Buffer.from(token.split('.')[1] ?? '', 'base64url')
    const twins = [...ALPHABET]
      .map((message) => token.slice(0, -1) + message)
      .filter((other) => other.at(-1) !== last)
      .filter((other) => Buffer.from(other.split('.')[1] ?? '', 'base64url').equals(bytes))
    expect(twins.length).toBeGreaterThan(0)
    for (const twin of twins) expect(readLink(KEY, twin), twin).toBeNull()
  })
})
