/** Signatures from the documentation of their senders, or made with openssl by that documentation. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { type WebhookProfile, webhookProfileSchema } from '../../../src/upstream/profile/webhook-profile.ts'
import { type WebhookMessage, whyRefused } from '../../../src/upstream/webhooks/verify-signature.ts'

interface Vector {
  readonly verify: object
  readonly secret: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The time of each message, in seconds since 1970. */
const AT = 1_614_265_330

const VECTORS: Readonly<Record<string, Vector>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'vectors.json'), 'utf8'),
)
const named = Object.entries(VECTORS)

function profileOf(verify: object): WebhookProfile {
  return webhookProfileSchema.parse({ verify, lead: 'id' })
}

function messageOf({ headers, body }: Pick<Vector, 'headers' | 'body'>): WebhookMessage {
  const values = Object.entries(headers).map(([name, value]) => [name, [value]])
  return {
    method: 'POST',
    url: 'https://leads.example.com/webhooks/leads',
    headers: Object.fromEntries(values),
    body: Buffer.from(body),
  }
}

function why(vector: Vector, secrets: readonly string[] = [vector.secret], afterSeconds = 0): string | null {
  const now = new Date((AT + afterSeconds) * 1000)
  return whyRefused(profileOf(vector.verify), secrets, messageOf(vector), now)
}

describe.each(named)('a message of %s', (_, vector) => {
  it('is verified, whichever of the secrets it was signed with', () => {
    expect(why(vector)).toBeNull()
    expect(why(vector, ['ab'.repeat(16), vector.secret])).toBeNull()
    expect(why(vector, [vector.secret, 'ab'.repeat(16)])).toBeNull()
  })

  it('is not by another secret, by an empty one, or by none', () => {
    expect(why(vector, ['ab'.repeat(16)])).toBe('its signature is by no secret that is known')
    expect(why(vector, [''])).toBe('the secret cannot be read as the profile says')
    expect(why(vector, [])).toBe('no secret is known')
  })

  it('is not with one letter of its signature changed', () => {
    const [name = ''] = Object.keys(vector.headers).filter((each) => /signature|hash|auth|token/.test(each))
    const value = vector.headers[name] ?? ''
    const at = value.includes('v1=') ? value.indexOf('v1=') + 5 : value.length - 2
    const changed = `${value.slice(0, at)}${value[at] === 'a' ? 'b' : 'a'}${value.slice(at + 1)}`
    expect(why({ ...vector, headers: { ...vector.headers, [name]: changed } })).not.toBeNull()
  })

  it('is not where a header of it is missing, or came twice', () => {
    for (const name of Object.keys(vector.headers)) {
      const whole = messageOf(vector)
      for (const values of [undefined, [vector.headers[name] ?? '', vector.headers[name] ?? '']]) {
        const message = { ...whole, headers: { ...whole.headers, [name]: values } }
        const cause = whyRefused(profileOf(vector.verify), [vector.secret], message, new Date(AT * 1000))
        expect(cause?.toLowerCase()).toBe(
          `${name} ${values === undefined ? 'is missing' : 'came more than once'}`,
        )
      }
    }
  })
})

const SIGNING_BODIES = named.filter(([, { verify }]) => !JSON.stringify(verify).includes('token'))

it.each(SIGNING_BODIES)('a message of %s is not verified with any bit of its body turned', (_, vector) => {
  const message = messageOf(vector)
  for (let bit = 0; bit < message.body.length * 8; bit++) {
    const body = Buffer.from(message.body)
    body[bit >> 3] = (body[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    const now = new Date(AT * 1000)
    expect(whyRefused(profileOf(vector.verify), [vector.secret], { ...message, body }, now)).not.toBeNull()
  }
})

const TIMED = named.filter(([, { headers }]) => JSON.stringify(headers).includes('1614265330'))

it.each(TIMED)('a message of %s is verified for five minutes, to both sides', (_, vector) => {
  expect([why(vector, undefined, 299), why(vector, undefined, -299)]).toEqual([null, null])
  expect(why(vector, undefined, 302)).toMatch(/^it was signed 30[12] s ago$/)
  expect(why(vector, undefined, -302)).toMatch(/^it was signed for 30[12] s from now$/)
})

const NO_TIMES = [
  '',
  ' ',
  '-1',
  '1e9',
  '1614265330.0',
  '0x60',
  '1'.repeat(13),
  'Infinity',
  '１６１４２６５３３０',
]

test.each([
  ['standard', 'webhook-timestamp'],
  ['stripe', 'stripe-signature'],
])('a time of %s is of digits alone', (scheme, header) => {
  const [, vector] = named.find(([, { verify }]) => JSON.stringify(verify).includes(`"${scheme}"`)) ?? []
  if (vector === undefined) throw new Error('there is none')
  for (const time of NO_TIMES) {
    const value = (vector.headers[header] ?? '').replace('1614265330', time)
    const cause = why({ ...vector, headers: { ...vector.headers, [header]: value } })
    expect(cause).toMatch(/is no time in seconds$|has not one t with a time in seconds$/)
  }
})

test('of several signatures in a header of Stripe one is enough, wherever it stands; of several times none counts', () => {
  const stripe = VECTORS['Stripe'] as Vector
  const whyOf = (header: string) => why({ ...stripe, headers: { 'stripe-signature': header } })
  const [time, right] = (stripe.headers['stripe-signature'] ?? '').split(',')
  const wrong = `v1=${'0'.repeat(64)}`
  for (const header of [`${time},${wrong},${right}`, `${time}, ${right}, ${wrong}`, `${right},${time}`])
    expect(whyOf(header)).toBeNull()
  expect(whyOf(`t=1,${time},${right}`)).toBe('Stripe-Signature has not one t with a time in seconds')
})

test('a key in hex of which a part cannot be read is no key', () => {
  const close = VECTORS['Close'] as Vector
  for (const secret of ['5a0', '5a0d2b7cxx', 'whsec_5a0d', ' 5a0d']) {
    expect(why(close, [secret])).toBe('the secret cannot be read as the profile says')
  }
})
