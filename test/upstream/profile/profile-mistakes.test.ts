/** The errors about mistakes in a profile: the place, the value found, and the accepted values. */
import { expect, test } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'

const SOUND = { name: 'mine', paging: { kind: 'none' }, mapping: { lead: { id: 'id' } } }

function mistakesIn(change: object): readonly string[] {
  try {
    parseProfile({ ...SOUND, ...change }, 'mine.yaml')
  } catch (thrown) {
    if (thrown instanceof LeadsheetError && thrown.code === 'config_invalid')
      return thrown.message.split('\n').slice(1)
    throw thrown
  }
  return []
}

test('a sound profile has none', () => {
  expect(mistakesIn({})).toEqual([])
})

test.each([
  [
    { paging: { kind: 'pages' } },
    'paging.kind: found "pages", expected one of cursor, page, offset, next_url, link, range, last_id, none',
  ],
  [{ paging: 'page' }, 'paging: found "page", expected object'],
  [
    { paging: { kind: 'none', param: 'p' } },
    'paging.param: there is no such part; known here: kind, size_param, size_max, has_more, total',
  ],
  [{ limits: { max_pages: 0 } }, 'limits.max_pages: found 0, expected number to be >=1'],
  [{ limits: { concurrency: 99 } }, 'limits.concurrency: found 99, expected number to be <=16'],
  [{ stages: [{ status: '' }] }, 'stages.0.status: found "", expected string to have >=1 characters'],
  [{ name: 5 }, 'name: found 5, expected string'],
  [
    { auth: { value: 'Token' } },
    'auth.value: found "Token", expected a text with {key} or {basic}, or the key would never be sent; where none is wanted, auth: none',
  ],
  [
    { auth: { value: 'Bearer {key}\n' } },
    'auth.value: found "Bearer {key}\\n", expected the value of a header, in one line',
  ],
  [{ auth: { header: 'X Key' } }, 'auth.header: found "X Key", expected the name of a header'],
  [
    { auth: { headers: { 'X-App': 'a\u2026' } } },
    'auth.headers.X-App: found "a\u2026", expected the value of a header, in one line',
  ],
  [
    { mapping: { lead: { id: 'id', updated_at: ['changed', 'made'] } } },
    'mapping.lead.updated_at: found ["changed","made"], expected a path: {from: [changed, made]} takes the first of these that is there, changed.made what is inside the other',
  ],
])('%j', (change, line) => {
  expect(mistakesIn(change)).toEqual([`mine.yaml  ${line}`])
})

test('a key in another header than that of the value is sent', () => {
  const auth = { header: 'X-App', value: 'leadsheet', headers: { 'X-Key': '{key}' } }
  expect([mistakesIn({ auth }), mistakesIn({ auth: { query: 'key', value: '' } })]).toEqual([[], []])
})

const HMAC = { scheme: 'hmac', header: 'X-Signature' }

test.each([
  [{}, 'verify: not set, expected object'],
  [{ verify: 'hmac', lead: 'id' }, 'verify: found "hmac", expected object'],
  [
    { verify: { scheme: 'github' }, lead: 'id' },
    'verify.scheme: found "github", expected one of standard, hmac, stripe, token, none',
  ],
  [
    { verify: { scheme: 'stripe', prefix: 'v1' }, lead: 'id' },
    'verify.prefix: there is no such part; known here: scheme, header, tolerance_seconds',
  ],
  [{ verify: { scheme: 'hmac' }, lead: 'id' }, 'verify.header: not set, expected string'],
  [
    { verify: { ...HMAC, header: 'X:' }, lead: 'id' },
    'verify.header: found "X:", expected the name of a header',
  ],
  [
    { verify: { ...HMAC, algorithm: 'md5' }, lead: 'id' },
    'verify.algorithm: found "md5", expected one of "sha1"|"sha256"|"sha512"',
  ],
  [
    { verify: { ...HMAC, signed: '{body}.{id}' }, lead: 'id' },
    'verify.signed: found "{body}.{id}", expected a text with {body}, and no others than {body}, {timestamp}, {method}, {url}',
  ],
  [
    { verify: { ...HMAC, signed: '{timestamp}.{body}' }, lead: 'id' },
    'verify.timestamp_header: not set, expected the header that holds {timestamp}, since it is signed',
  ],
  [
    { verify: { ...HMAC, timestamp_header: 'X-Time' }, lead: 'id' },
    'verify.signed: not set, expected a text with {timestamp}, as in {timestamp}{body}: a time that is not signed proves nothing',
  ],
  [
    { verify: { scheme: 'token', value: 'abc' }, lead: 'id' },
    'verify.value: found "abc", expected a text with {secret} or {basic}',
  ],
  [{ verify: { scheme: 'standard' } }, 'lead: not set, expected where the id of the lead is in an event'],
  [
    { verify: { scheme: 'standard' }, lead: { form: 'id' } },
    'lead.form: there is no such part; known here: from, all, transform, values, decimal, default',
  ],
  [
    { verify: HMAC, id: { header: 'X-Delivery' }, lead: 'id' },
    'id: found {"header":"X-Delivery"}, expected the place of the id in the event, or no id, which is then made of the event: the signature does not cover this header, and who sends a message again could give it another one',
  ],
])('of webhooks: %j', (webhook, line) => {
  expect(mistakesIn({ webhook })).toContain(`mine.yaml  webhook.${line}`)
})

test('the id of an event may stand in a header that is signed, in any case, and in no other', () => {
  const mistakesOf = (header: string, prefix = 'webhook-') =>
    mistakesIn({
      webhook: { verify: { scheme: 'standard', header_prefix: prefix }, id: { header }, lead: 'id' },
    })
  expect([mistakesOf('Webhook-Id'), mistakesOf('svix-id', 'Svix-')]).toEqual([[], []])
  expect([mistakesOf('X-Id'), mistakesOf('webhook-id', 'svix-')].map(({ length }) => length)).toEqual([1, 1])
})
