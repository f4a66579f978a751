/** The sample companies are clean, although a real directory has odd entries. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inventContact } from '../../src/service/simulation/characters.ts'
import { readCompanies } from '../../src/service/simulation/companies.ts'
import { folderWith } from '../support/folder.ts'
import { COMPANIES } from '../support/service.ts'

const companies = readCompanies(COMPANIES)
const lines = readFileSync(COMPANIES, 'utf8').trimEnd().split('\n')

test('odd entries are read as what they mean, or as null', async () => {
  const told = lines.flatMap((line, index) => {
    const { website, location, one_liner, regions, industry } = JSON.parse(line)
    const { domain, city, country, oneLiner, region, industry: ofWhat } = companies[index] ?? {}
    const isUsual = new RegExp(`^https?://(www\\.)?${domain}/?$`).test(website)
    return [
      ...(isUsual ? [] : [[website, domain]]),
      ...(city && !/;.*;.*;.*;/.test(location) ? [] : [[location, city, country]]),
      ...(/\r/.test(one_liner) ? [[one_liner, oneLiner]] : []),
      ...(region === regions[0] ? [] : [[regions, region]]),
      ...(ofWhat === industry ? [] : [[industry, ofWhat]]),
    ].map((row) => JSON.stringify(row))
  })
  await expect(`${[...new Set(told)].join('\n')}\n`).toMatchFileSnapshot('golden/companies.txt')
})

test('a file that is wrong is told with its place', () => {
  const [line = ''] = lines
  const fail = (...wrong: readonly string[]) =>
    expect(() => readCompanies(join(folderWith({ 'some.ndjson': wrong.join('\n') }), 'some.ndjson')))
  fail('', ' ').toThrow('holds no company')
  fail(line, '{"id":').toThrow(/line 2: .*JSON/)
  fail(line.replace(/"name":"[^"]*"/, '"name":1')).toThrow(/line 1: .*expected string[\s\S]*name/)
  expect(() => readCompanies('/nowhere/some.ndjson')).toThrow('/nowhere/some.ndjson cannot be read: ENOENT')
})

test('the shipped file has 3,082 companies that few people know, each with an id of its own', () => {
  expect(companies).toHaveLength(3082)
  expect(new Set(companies.map((company) => company.id)).size).toBe(3082)
  expect(Math.max(...companies.map(({ employees }) => employees ?? 0))).toBe(50)
})

test('every company has a contact whose address cannot be anyone’s', () => {
  const contacts = companies.map((company) => inventContact(1, company))
  const addresses = contacts.flatMap((contact) => contact.email ?? [])
  expect(addresses.length).toBeGreaterThan(2900)
  const fit = /^[a-z0-9]+([.-][a-z0-9-]+)*@[a-z0-9]([a-z0-9-]*[a-z0-9])?\.example$/
  expect(addresses.filter((address) => !fit.test(address))).toEqual([])
  expect(new Set(contacts.map((contact) => contact.name)).size).toBeGreaterThan(1000)
})
