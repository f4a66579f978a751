import { describe, expect, it } from 'vitest'
import { openTestSource, profileWith } from '../support/source/test-source.ts'

interface Given {
  readonly url: string
  readonly leads?: string
  readonly auth?: object
  readonly key?: string
  readonly body?: Readonly<Record<string, unknown>>
}

function addressOf({ url, leads = '/leads', auth = {}, key = 'k3y-of-tests', body }: Given): string {
  const profile = profileWith({ endpoints: { leads }, auth, request: body && { method: 'POST', body } })
  return openTestSource({ baseUrl: url, apiKey: key, profile }).address
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
  ])('is the same with %s', (_, given) => {
    expect(addressOf(given)).toBe('localhost/api/leads')
  })

  it.each<readonly [string, Given]>([
    ['host', { url: 'https://sandbox.example.com/api' }],
    ['base path', { url: 'https://crm.example.com/acme/api' }],
    ['list', { ...BASE, leads: '/contacts' }],
    ['account in the query', { url: 'https://crm.example.com/api?account=7' }],
    ['filter in the query', { ...BASE, leads: "/leads?$filter=status eq 'lead'" }],
    ['account in a header', { ...BASE, auth: { headers: { 'X-Tenant-Id': '7' } } }],
  ])('is another one with another %s', (_, given) => {
    expect(addressOf(given)).not.toBe(addressOf(BASE))
  })

  it('holds no secret, and is the same after the key was replaced', () => {
    const url = 'https://crm.example.com/api?apikey=F1RST-key&x=1'
    const given = { url, key: 'F1RST-key', auth: { query: 'apikey' } }
    const other = { ...given, url: url.replace('F1RST', 'S3COND'), key: 'S3COND-key' }
    expect(addressOf(given)).toBe('crm.example.com/api/leads?x=1')
    expect(addressOf(other)).toBe(addressOf(given))
    expect(addressOf({ url: 'https://crm.example.com/api?token=s3cr3t' })).not.toContain('s3cr3t')
  })

  it.each(['http://leads.example.com/api/v1', 'http://8.8.8.8', 'http://[2001:4860::1]:8080'])(
    'is refused without TLS on the internet: %s',
    (url) => {
      const message = expect.stringContaining('https:// was expected')
      expect(() => addressOf({ url })).toThrow(expect.objectContaining({ code: 'config_invalid', message }))
    },
  )

  it.each(['http://[::1]:80', 'http://192.168.1.20', 'http://service:8484/api/v1', 'http://leads.internal'])(
    'may be without TLS here and at home: %s',
    (url) => {
      expect(addressOf({ url })).toContain('/leads')
    },
  )

  it('has what a body asks for, without what shapes the answer', () => {
    const query = 'query($n: Int) { leads(first: $n) { nodes { id } } }'
    const shaping = { properties: ['name'], limit: 5, sorts: [{ attribute: 'id' }] }
    expect(addressOf({ ...BASE, body: shaping })).toBe(addressOf(BASE))
    const address = 'crm.example.com/api/leads {"filter":{"a":1},"query":"leads"}'
    expect(addressOf({ ...BASE, body: { query, filter: { a: 1 }, ...shaping } })).toBe(address)
    expect(addressOf({ ...BASE, body: { query: query.replace('id', 'id name'), filter: { a: 1 } } })).toBe(
      address,
    )
    expect(addressOf({ ...BASE, body: { api_key: 's3cr3t-of-a-body' } })).not.toContain('s3cr3t')
  })

  it('does not depend on the order of its parameters', () => {
    expect(addressOf({ ...BASE, leads: '/leads?b=2&a=1' })).toBe(
      addressOf({ ...BASE, leads: '/leads?a=1&b=2' }),
    )
  })
})
