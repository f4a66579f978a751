/** The sample companies are clean, although a real directory has odd entries. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LeadsheetError } from '../../src/errors.ts'
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

describe('a website becomes the domain', () => {
  test.each([
    ['https://acme.com', 'acme.com'],
    ['http://www.acme.com/careers?ref=1#top', 'acme.com'],
    ['picplum.com', 'picplum.com'],
    [' http://www.delee.co    ', 'delee.co'],
    ['https://app.acme.co.uk:8080', 'app.acme.co.uk'],
    ['htp://www.socrative.com', null],
    ['http://', null],
    ['', null],
    [null, null],
    ['https://a.io, https://b.com', null],
    ['https://apps.apple.com/us/app/x/id1', null],
    ['https://www.ycombinator.com/companies/x', null],
    ['not a site', null],
  ])('%j gives %j', (website, domain) => {
    expect(read({ website })?.domain).toBe(domain)
  })
})

describe('a location becomes city and country of the first office', () => {
  test.each([
    ['London, England, United Kingdom', 'London', 'United Kingdom'],
    ['San Francisco, CA, USA; Istanbul, Istanbul, Turkey; Remote', 'San Francisco', 'United States'],
    ['Copenhagen, Denmark', 'Copenhagen', 'Denmark'],
    ['NY, USA', null, 'United States'],
    ['England, United Kingdom', null, 'United Kingdom'],
    ['Remote', null, null],
    ['', null, null],
    [null, null, null],
  ])('%j gives %j in %j', (location, city, country) => {
    expect(read({ location })).toMatchObject({ city, country })
  })
})

describe('other fields', () => {
  test('lose line breaks and outer blanks, and are null when nothing is left', () => {
    expect(read({ name: ' Ac\u00a0me ', one_liner: 'Anvils\r\n for all ' })).toMatchObject({
      name: 'Ac me',
      oneLiner: 'Anvils for all',
    })
    expect(read({ one_liner: ' \n' })?.oneLiner).toBeNull()
  })

  test.each([
    [{ industry: 'Unspecified' }, { industry: null }],
    [{ regions: ['America / Canada', 'Europe'] }, { region: 'North America' }],
    [{ regions: [] }, { region: null }],
    [{ team_size: null }, { employees: null }],
    [{ status: 'Public' }, { state: 'active' }],
    [{ status: 'Inactive' }, { state: 'inactive' }],
  ])('%j is read as %j', (given, expected) => {
    expect(read(given)).toMatchObject(expected)
  })
})

describe('a file that is wrong', () => {
  test.each([
    [
      'is not there',
      () => '/nowhere/companies.ndjson',
      /\/nowhere\/companies\.ndjson cannot be read: ENOENT/,
    ],
    ['is empty', () => fileWith('', ' '), /holds no company/],
    ['has a line that is not JSON', () => fileWith(JSON.stringify(RECORD), '{"id":'), /line 2: .*JSON/],
    [
      'has a line without a name',
      () => fileWith(JSON.stringify({ ...RECORD, name: 1 })),
      /line 1: .*expected string[\s\S]*name/,
    ],
  ])('because it %s is told', (_, file, message) => {
    const path = file()
    expect(() => readCompanies(path)).toThrow(LeadsheetError)
    expect(() => readCompanies(path)).toThrow(message)
    expect(() => readCompanies(path)).toThrow(expect.objectContaining({ code: 'service_data' }))
  })
})

describe('the shipped file', () => {
  const companies = readCompanies(COMPANIES)

  test('has 5,706 companies, each with an id of its own', () => {
    expect(companies).toHaveLength(5706)
    expect(new Set(companies.map((company) => company.id)).size).toBe(5706)
  })

  test('gives every company a contact whose address cannot be anyone’s', () => {
    const contacts = companies.map((company) => inventContact(1, company))
    const addresses = contacts.flatMap((contact) => contact.email ?? [])
    expect(addresses.length).toBeGreaterThan(5400)
    expect(
      addresses.filter(
        (address) => !/^[a-z0-9]+([.-][a-z0-9-]+)*@[a-z0-9]([a-z0-9-]*[a-z0-9])?\.example$/.test(address),
      ),
    ).toEqual([])
    expect(new Set(contacts.map((contact) => contact.name)).size).toBeGreaterThan(1000)
  })

  test('gives a company the same contact whenever it is asked, and another for another seed', () => {
    const [company] = companies
    if (company === undefined) throw new Error('no company')
    expect(inventContact(1, company)).toEqual(inventContact(1, company))
    expect(inventContact(2, company)).not.toEqual(inventContact(1, company))
  })
})
