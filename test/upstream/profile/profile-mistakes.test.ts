/** The errors about mistakes in a profile: golden/mistakes.txt has the place, the value found, and what is accepted. */
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

const HMAC = { scheme: 'hmac', header: 'X-Signature' }

/** Changes of a sound profile, and parts `webhook` of one. */
const MISTAKEN: readonly object[] = [
  { paging: { kind: 'pages' } },
  { paging: 'page' },
  { paging: { kind: 'none', param: 'p' } },
  { limits: { max_pages: 0 } },
  { limits: { search_records: 10_000 } },
  { request: { method: 'GET' } },
  { request: { method: 'POST', body: 'limit=5' } },
  { filters: { updated_since: { param: 'filter', value: 5 } } },
  { limits: { concurrency: 99 } },
  { stages: [{ status: '' }] },
  { name: 5 },
  { auth: { value: 'Token' } },
  { auth: { value: 'Bearer {key}\n' } },
  { auth: { header: 'X Key' } },
  { auth: { headers: { 'X-App': 'a\u2026' } } },
  { mapping: { lead: { id: 'id', updated_at: ['changed', 'made'] } } },
  { mapping: { lead: { id: 'id' }, activity: { items: 'events', fields: { type: 'kind' } } } },
  ...[
    {},
    { verify: 'hmac', lead: 'id' },
    { verify: { scheme: 'github' }, lead: 'id' },
    { verify: { scheme: 'stripe', prefix: 'v1' }, lead: 'id' },
    { verify: { scheme: 'hmac' }, lead: 'id' },
    { verify: { ...HMAC, header: 'X:' }, lead: 'id' },
    { verify: { ...HMAC, algorithm: 'md5' }, lead: 'id' },
    { verify: { ...HMAC, signed: '{body}.{id}' }, lead: 'id' },
    { verify: { ...HMAC, signed: '{timestamp}.{body}' }, lead: 'id' },
    { verify: { ...HMAC, timestamp_header: 'X-Time' }, lead: 'id' },
    { verify: { scheme: 'token', value: 'abc' }, lead: 'id' },
    { verify: { scheme: 'standard' } },
    { verify: { scheme: 'standard' }, lead: { form: 'id' } },
    { verify: HMAC, id: { header: 'X-Delivery' }, lead: 'id' },
  ].map((webhook) => ({ webhook })),
]

test('each mistake is told with its place, what was found and what is accepted', async () => {
  const told = MISTAKEN.map((change) => [JSON.stringify(change), ...mistakesIn(change)].join('\n'))
  await expect(`${told.join('\n\n')}\n`).toMatchFileSnapshot('golden/mistakes.txt')
})

test('a sound profile has none, nor one whose key is in another header than the value', () => {
  const auth = { header: 'X-App', value: 'leadsheet', headers: { 'X-Key': '{key}' } }
  const query = { query: 'key', value: '' }
  expect([{}, { auth }, { auth: query }].map(mistakesIn)).toEqual([[], [], []])
})

test('the id of an event may stand in a header that is signed, in any case, and in no other', () => {
  const mistakesOf = (header: string, prefix = 'webhook-') =>
    mistakesIn({
      webhook: { verify: { scheme: 'standard', header_prefix: prefix }, id: { header }, lead: 'id' },
    })
  expect([mistakesOf('Webhook-Id'), mistakesOf('svix-id', 'Svix-')]).toEqual([[], []])
  expect([mistakesOf('X-Id'), mistakesOf('webhook-id', 'svix-')].map(({ length }) => length)).toEqual([1, 1])
})
