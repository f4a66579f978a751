/** The setting `holidays`: regions, and dates with or without a name. */
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { folderWith } from '../support/folder.ts'

const load = (yaml: string, env: Readonly<Record<string, string>> = {}) =>
  loadConfig({ cwd: folderWith({ 'leadsheet.yaml': `holidays: ${yaml}\n` }), env })

function mistakesOf(...given: Parameters<typeof load>): readonly string[] {
  try {
    load(...given)
    return []
  } catch (thrown) {
    if (thrown instanceof LeadsheetError) return thrown.mistakes ?? []
    throw thrown
  }
}

test.each([
  ['DE-BY', ['DE-BY']],
  ['[us, gb-sct]', ['US', 'GB-SCT']],
  ['[2026-12-24, 2026-12-31]', ['2026-12-24', '2026-12-31']],
  ['[DE, 2026-12-24: Betriebsferien]', ['DE', '2026-12-24: Betriebsferien']],
  ['\n  - DE\n  - 2026-12-24: "Zwischen: den Jahren"', ['DE', '2026-12-24: Zwischen: den Jahren']],
  ['{ 2026-12-24: Betriebsferien }', ['2026-12-24: Betriebsferien']],
  ['[]', []],
])('%s is read', (yaml, entries) => {
  expect(load(yaml).holidays).toEqual(entries)
})

test('the environment gives the same, with commas between', () => {
  const env = { LEADSHEET_HOLIDAYS: 'DE-BY, 2026-12-24: Betriebsferien, 2026-12-31' }
  expect(load('US', env).holidays).toEqual(['DE-BY', '2026-12-24: Betriebsferien', '2026-12-31'])
  expect(load('[DE, AT]', { LEADSHEET_HOLIDAYS: 'US' }).holidays).toEqual(['US'])
})

const ACCEPTED = 'expected a region such as DE-BY, or a date such as 2026-12-25 that a name may follow'

test.each([
  ['DE-BAY', `1:11  holidays: found "DE-BAY", ${ACCEPTED}; did you mean DE-BY?`],
  ['[DE, US-TEX]', `1:16  holidays[1]: found "US-TEX", ${ACCEPTED}; did you mean US-TX?`],
  ['[GB-XYZ]', 'found "GB-XYZ"', 'GB has GB-ALD, GB-ENG, GB-NIR, GB-SCT, GB-WLS'],
  ['[PL-MZ]', 'did you mean PL?'],
  ['[UK-SCT]', 'did you mean GB-SCT?'],
  ['Germany', 'did you mean DE?'],
  ['[Untied States]', 'did you mean US?'],
  ['[Bavaria]', 'a country is its ISO code, such as DE; write DE-? to see its parts'],
  ['[AT-?]', 'AT has AT-1, AT-2, AT-3, AT-4, AT-5, AT-6, AT-7, AT-8, AT-9'],
  ['[2026-02-30]', 'found "2026-02-30"', 'there is no such date'],
  ['[1.5.2026]', `found "1.5.2026", ${ACCEPTED}`],
  ['[20261225]', `found 20261225, ${ACCEPTED}`],
  ['[{ 2026-12-24: 5 }]', 'holidays[0].2026-12-24: found 5, expected a name'],
  ['[{ 2026-12-24: a, 2026-12-31: b }]', 'expected one date, with a - before it'],
  ['[DE, de]', 'holidays[1]: found "de", expected each only once'],
])('%s is refused', (yaml, ...parts) => {
  const told = mistakesOf(yaml)
  expect(told).toHaveLength(1)
  for (const part of parts) expect(told[0]).toContain(part)
})

test('a mistake in the environment names the variable', () => {
  expect(mistakesOf('US', { LEADSHEET_HOLIDAYS: 'US,DE-BAY' })).toEqual([
    `environment  LEADSHEET_HOLIDAYS: found "DE-BAY", ${ACCEPTED}; did you mean DE-BY?`,
  ])
})
