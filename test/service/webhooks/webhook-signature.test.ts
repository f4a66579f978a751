/** Compares the signatures of webhooks with the libraries that receivers use. */
import { randomBytes } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, test } from 'vitest'
import { signStandard, standardHeaders } from '../../../src/contract/webhook.ts'
import { random } from '../../support/random.ts'

const SEED = Number(process.env.SEED ?? Date.now() % 100_000)
const BODIES = 1_000

interface Signed {
  readonly secret: string
  readonly id: string
  readonly timestamp: number
  readonly body: string
}

/** Returns JSON with random characters, which the libraries parse. */
function randomMessages(): readonly Signed[] {
  const next = random(SEED)
  const timestamp = Math.floor(Date.now() / 1000)
  const character = () => String.fromCodePoint(Math.floor(next() * (next() < 0.7 ? 0x7f : 0xd7ff)))
  return Array.from({ length: BODIES }, (_, index) => ({
    secret: `whsec_${randomBytes(24 + (index % 40)).toString('base64')}`,
    id: `msg_${index}`,
    timestamp,
    body: JSON.stringify({
      index,
      text: Array.from({ length: Math.floor(next() * 60) }, character).join(''),
    }),
  }))
}

describe(`${BODIES} random messages, SEED=${SEED},`, () => {
  const messages = randomMessages()

  test.each([
    ['standardwebhooks', StandardWebhook],
    ['svix', SvixWebhook],
  ])('are signed as by %s, which takes them, and none with another byte', (_, Webhook) => {
    for (const message of messages) {
      const { secret, id, timestamp, body } = message
      const theirs = new Webhook(secret)
      expect(signStandard(secret, message)).toBe(theirs.sign(id, new Date(timestamp * 1000), body))
      const headers = standardHeaders([secret], message)
      expect(() => theirs.verify(body, headers)).not.toThrow()
      expect(() => theirs.verify(`${body} `, headers)).toThrow('No matching signature found')
    }
  })

  test('are taken with the old secret and the new one while both sign, and with no other', () => {
    for (const [index, message] of messages.slice(0, 100).entries()) {
      const next = messages[(index + 1) % messages.length] ?? message
      const other = messages[(index + 2) % messages.length] ?? message
      const headers = standardHeaders([next.secret, message.secret], message)
      for (const { secret } of [next, message]) {
        expect(() => new StandardWebhook(secret).verify(message.body, headers)).not.toThrow()
      }
      expect(() => new StandardWebhook(other.secret).verify(message.body, headers)).toThrow()
    }
  })
})
