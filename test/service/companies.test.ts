/** The sample companies are clean, although a real directory has odd entries. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inventContact } from '../../src/service/simulation/characters.ts'
import { type Company, readCompanies } from '../../src/service/simulation/companies.ts'
import { folderWith } from '../support/folder.ts'
import { COMPANIES } from '../support/service.ts'

const RECORD = {
  id: 7,
  name: 'Acme',
  website: 'https://acme.com',
  location: 'Oslo, Norway',
  one_liner: 'Anvils',
  team_size: 12,
  industry: 'Industrials',
  subindustry: null,
  tags: ['Hardware'],
  regions: ['Europe'],
  status: 'Active',
  is_hiring: false,
}

function fileWith(...lines: readonly string[]): string {
  return join(folderWith({ 'companies.ndjson': lines.join('\n') }), 'companies.ndjson')
}

function read(change: Partial<Record<keyof typeof RECORD, unknown>>): Company | undefined {
  return readCompanies(fileWith(JSON.stringify({ ...RECORD, ...change })))[0]
}

const WEBSITES = [
  ...['https://acme.com', 'http://www.acme.com/careers?ref=1#top', 'picplum.com', ' http://www.delee.co    '],
  ...[
    'https://app.acme.co.uk:8080',
    'htp://www.socrative.com',
    'http://',
    '',
    null,
    'https://a.io, https://b.com',
  ],
  ...['https://apps.apple.com/us/app/x/id1', 'https://www.ycombinator.com/companies/x', 'not a site'],
]
const LOCATIONS = [
  ...['London, England, United Kingdom', 'San Francisco, CA, USA; Istanbul, Istanbul, Turkey; Remote'],
  ...['Copenhagen, Denmark', 'NY, USA', 'England, United Kingdom', 'Remote', '', null],
]
const OTHERS = [
  ...[
    { name: ' Ac\u00a0me ', one_liner: 'Anvils\r\n for all ' },
    { one_liner: ' \n' },
    { industry: 'Unspecified' },
  ],
  ...[{ regions: ['America / Canada', 'Europe'] }, { regions: [] }, { team_size: null }],
  ...[{ status: 'Public' }, { status: 'Inactive' }],
]

test('odd entries are read as what they mean, or as null', async () => {
  const told = [
    ...WEBSITES.map((website) => [website, read({ website })?.domain]),
    ...LOCATIONS.map((location) => [location, read({ location })?.city, read({ location })?.country]),
    ...OTHERS.map((change) => [change, read(change)]),
  ]
  await expect(`${told.map((row) => JSON.stringify(row)).join('\n')}\n`).toMatchFileSnapshot(
    'golden/companies.txt',
  )
})

test('a file that is wrong is told with its place', () => {
  const fail = (file: string) => expect(() => readCompanies(file))
  fail('/nowhere/companies.ndjson').toThrow('/nowhere/companies.ndjson cannot be read: ENOENT')
  fail(fileWith('', ' ')).toThrow('holds no company')
  fail(fileWith(JSON.stringify(RECORD), '{"id":')).toThrow(/line 2: .*JSON/)
  fail(fileWith(JSON.stringify({ ...RECORD, name: 1 }))).toThrow(/line 1: .*expected string[\s\S]*name/)
})

describe('the shipped file', () => {
  const companies = readCompanies(COMPANIES)

  test('has 3,082 companies that few people know, each with an id of its own', () => {
    expect(companies).toHaveLength(3082)
    expect(new Set(companies.map((company) => company.id)).size).toBe(3082)
    expect(Math.max(...companies.map(({ employees }) => employees ?? 0))).toBe(50)
  })

  test('gives every company a contact whose address cannot be anyone’s', () => {
    const contacts = companies.map((company) => inventContact(1, company))
    const addresses = contacts.flatMap((contact) => contact.email ?? [])
    expect(addresses.length).toBeGreaterThan(2900)
    expect(
      addresses.filter(
        (address) => !/^[a-z0-9]+([.-][a-z0-9-]+)*@[a-z0-9]([a-z0-9-]*[a-z0-9])?\.example$/.test(address),
      ),
    ).toEqual([])
    expect(new Set(contacts.map((contact) => contact.name)).size).toBeGreaterThan(1000)
  })
})
