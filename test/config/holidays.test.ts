/** The setting `holidays`: regions, and dates with or without a name. */
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

const load = (yaml: string, env: Readonly<Record<string, string>> = {}) =>
  loadConfig({ cwd: folderWith({ 'leadsheet.yaml': `holidays: ${yaml}\n` }), env })

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
