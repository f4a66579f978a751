/** `leadsheet recipients`. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { savePreference } from '../../../../src/store/reports/preference.ts'
import { folderWith } from '../../../support/folder.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { folderWithDatabase } from '../../../support/store.ts'

const SETTINGS = `
recipients: [ana@example.com]
reports:
  - name: daily
  - name: weekly
    filter: { pipelines: [eu] }
    recipients:
      - { address: dana@example.com, name: Dana, locale: de-DE, filter: { score: { min: 60 } }, blocks: [kpis] }
`
const FILES = { 'leadsheet.yaml': SETTINGS }

describe('the recipients', () => {
  it('are listed with what they get of each report, and where that is said', async () => {
    const file = join(import.meta.dirname, 'golden/recipients.txt')
    await checkTranscript(file, { cwd: folderWith(FILES) })
  })
})

it('preferences are kept, listed with who said so and why, and taken back, for all whom leadsheet paused too', async () => {
  const cwd = await folderWithDatabase(FILES)
  const changed = { changedAt: '2026-11-20T06:00:00.000Z', reason: null } as const
  await using store = await openStore(join(cwd, 'data', 'leadsheet.db'), new Date())
  await store.write(async (trx) => {
    const dana = { address: 'dana@example.com', report: 'weekly', state: 'paused' } as const
    await savePreference(trx, { ...changed, ...dana, changedBy: 'leadsheet' })
    // The settings name this recipient no more.
    const zoe = { address: 'zoe@example.com', report: 'daily', state: 'unsubscribed' } as const
    await savePreference(trx, { ...changed, ...zoe, changedBy: 'operator' })
  })
  const options = { cwd, env: clockStandingAt('2026-11-21T12:00:00Z') }
  await checkTranscript(join(import.meta.dirname, 'golden/preferences.txt'), options)
})

it('links of recipients are one a report, the same each time, until they are revoked', async () => {
  const cwd = await folderWithDatabase({
    'leadsheet.yaml': `${SETTINGS}\nweb: { public_url: https://reports.example.com }\n`,
  })
  const link = async () =>
    (await runWarm(['recipients', 'link', 'ana@example.com', '--report', 'daily'], { cwd })).stdout.trim()
  const first = await link()
  expect(first).toMatch(/^daily {2}https:\/\/reports\.example\.com\/preferences\/[\w-]+\.[\w-]{43}$/)
  expect(await link()).toBe(first)
  expect((await runWarm(['recipients', 'link', '--revoke'], { cwd })).stderr).toContain('--yes')
  expect(await link()).toBe(first)
  await runWarm(['recipients', 'link', '--revoke', '--yes'], { cwd })
  expect(await link()).not.toBe(first)
})
