/** The address of the pages, their access rules, and the mistakes that are found. */
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { dashboardAccess } from '../../src/config/schema-web.ts'
import { folderWith } from '../support/folder.ts'

function load(web: string, env = {}) {
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': `web: ${web}` }), env })
}

describe('the dashboard', () => {
  test.each([
    ['{}', 'look'],
    ['{ listen: "localhost:1" }', 'look'],
    ['{ listen: "127.1.2.3:1" }', 'look'],
    ['{ listen: "[::1]:1" }', 'look'],
    ['{ public_url: "http://localhost:8080" }', 'look'],
    ['{ allowed_hosts: [localhost] }', 'look'],
    ['{ listen: "0.0.0.0:1" }', 'closed'],
    ['{ listen: "[::]:1" }', 'closed'],
    ['{ listen: "192.168.0.2:1" }', 'closed'],
    ['{ listen: "leadsheet:1" }', 'closed'],
    ['{ listen: "127.0.0.1.example.com:1" }', 'closed'],
    ['{ public_url: "https://reports.example.com", trusted_proxies: [loopback] }', 'closed'],
    ['{ allowed_hosts: [leadsheet] }', 'closed'],
    ['{ listen: "0.0.0.0:1", token: "0123456789abcdef" }', 'token'],
    ['{ token: "0123456789abcdef" }', 'token'],
  ])('of %s is for %s', (settings, access) => {
    const { web, warnings } = load(settings)
    if (web.listen === null) throw new Error('it listens')
    expect(dashboardAccess({ ...web, listen: web.listen, hasToken: web.token !== null })).toBe(access)
    expect(warnings).toEqual(
      access === 'closed'
        ? [
            expect.stringMatching(
              /web\.token: the dashboard can be reached from outside, and is closed\. Set web\.token_file/,
            ),
          ]
        : [],
    )
  })

  test('at a public address behind a proxy that nobody has named is warned of', () => {
    const told = [expect.stringMatching(/web\.public_url: all visitors .* web\.trusted_proxies/)]
    const address = 'token: "0123456789abcdef", public_url: "https://reports.example.com"'
    expect(load(`{ ${address} }`).warnings).toEqual(told)
    expect(load(`{ ${address}, trusted_proxies: [loopback] }`).warnings).toEqual([])
  })

  test('that is not served is not warned of', () => {
    expect(load('{ listen: none }').warnings).toEqual([])
  })

  test('may be asked for under further names, by proxies that are trusted', () => {
    const { web } = load(
      '{ allowed_hosts: [leadsheet, a.b-c], trusted_proxies: [172.16.0.0/12, "fd00::/8", loopback] }',
    )
    expect(web.allowedHosts).toEqual(['leadsheet', 'a.b-c'])
    expect(web.trustedProxies).toEqual(['172.16.0.0/12', 'fd00::/8', 'loopback'])
  })
})
