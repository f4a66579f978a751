import { describe, expect, it } from 'vitest'
import { parseProfile } from '../../src/upstream/profile/profile.ts'
import { openSource } from '../../src/upstream/source.ts'
import { SILENT } from '../support/syncing.ts'

interface Given {
  readonly url: string
  readonly leads?: string
  readonly auth?: object
  readonly key?: string
  readonly body?: Readonly<Record<string, unknown>>
}

async function addressOf({
  url,
  leads = '/leads',
  auth = {},
  key = 'k3y-of-tests',
  body,
}: Given): Promise<string> {
  const paging = { kind: 'none' }
  const mapping = { lead: { id: 'id' } }
  const request = body && { method: 'POST', body }
  const profile = parseProfile({ name: 'test', endpoints: { leads }, auth, request, paging, mapping }, 'test')
  const source = openSource({ baseUrl: url, apiKey: key, maxWaitMs: 1000, log: SILENT, profile })
  await source.close()
  return source.address
}

const BASE = { url: 'https://crm.example.com/api' }

describe('the address of a source', () => {
  it.each<readonly [string, Given]>([
    ['http in place of https', { url: 'http://localhost:80/api', leads: '/leads' }],
    ['a slash at the end', { url: 'https://localhost/api/', leads: 'leads/' }],
    ['upper case and a dot behind the host', { url: 'https://LOCALHOST./api' }],
    ['the path in the profile', { url: 'https://localhost', leads: '/api/leads' }],
    ['the whole address of the list', { url: 'https://localhost/api/leads', leads: '.' }],
    ['a fragment and a login', { url: 'https://user:pass@localhost/api#top' }],
    ['parameters that shape the answer', { url: 'https://localhost/api', leads: '/leads?fields=*&limit=50' }],
  ])('is the same with %s', async (_, given) => {
    expect(await addressOf(given)).toBe('localhost/api/leads')
  })

  it.each<readonly [string, Given]>([
    ['host', { url: 'https://sandbox.example.com/api' }],
    ['base path', { url: 'https://crm.example.com/acme/api' }],
    ['list', { ...BASE, leads: '/contacts' }],
    ['account in the query', { url: 'https://crm.example.com/api?account=7' }],
    ['filter in the query', { ...BASE, leads: "/leads?$filter=status eq 'lead'" }],
    ['account in a header', { ...BASE, auth: { headers: { 'X-Tenant-Id': '7' } } }],
  ])('is another one with another %s', async (_, given) => {
    expect(await addressOf(given)).not.toBe(await addressOf(BASE))
  })

  it('holds no secret, and is the same after the key was replaced', async () => {
    const url = 'https://crm.example.com/api?apikey=F1RST-key&x=1'
    const given = { url, key: 'F1RST-key', auth: { query: 'apikey' } }
    const other = { ...given, url: url.replace('F1RST', 'S3COND'), key: 'S3COND-key' }
    expect(await addressOf(given)).toBe('crm.example.com/api/leads?x=1')
    expect(await addressOf(other)).toBe(await addressOf(given))
    expect(await addressOf({ url: 'https://crm.example.com/api?token=s3cr3t' })).not.toContain('s3cr3t')
  })

  it('has what a body asks for, without what shapes the answer', async () => {
    const query = 'query($n: Int) { leads(first: $n) { nodes { id } } }'
    const shaping = { properties: ['name'], limit: 5, sorts: [{ attribute: 'id' }] }
    expect(await addressOf({ ...BASE, body: shaping })).toBe(await addressOf(BASE))
    const address = 'crm.example.com/api/leads {"filter":{"a":1},"query":"leads"}'
    expect(await addressOf({ ...BASE, body: { query, filter: { a: 1 }, ...shaping } })).toBe(address)
    expect(
      await addressOf({ ...BASE, body: { query: query.replace('id', 'id name'), filter: { a: 1 } } }),
    ).toBe(address)
    expect(await addressOf({ ...BASE, body: { api_key: 's3cr3t-of-a-body' } })).not.toContain('s3cr3t')
  })

  it('does not depend on the order of its parameters', async () => {
    expect(await addressOf({ ...BASE, leads: '/leads?b=2&a=1' })).toBe(
      await addressOf({ ...BASE, leads: '/leads?a=1&b=2' }),
    )
  })
})
