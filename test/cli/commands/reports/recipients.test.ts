/** `leadsheet recipients`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { folderWith } from '../../../support/folder.ts'
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

describe('preferences of recipients, set by an operator', () => {
  const recipients = (cwd: string, ...args: string[]) => runWarm(['recipients', ...args], { cwd })
  /** Returns the recipient, the report and the state of each listed line. */
  const listed = async (cwd: string) => {
    const { stdout } = await recipients(cwd, '--json')
    const { data } = JSON.parse(stdout) as { data: Record<string, unknown>[] }
    return data.map(({ address, report, state, reason, in_settings }) => [
      ...[address, report, state, reason, in_settings],
    ])
  }

  it('are kept, listed with who said so and why, and taken back', async () => {
    const cwd = await folderWithDatabase(FILES)
    const paused = await recipients(cwd, 'set', 'paused', 'Ana@Example.com', '--reason', 'on leave')
    expect(paused.stdout).toMatch(
      /^ana@example.com {2,}daily {2,}paused by the operator on .*: on leave {2,}0$/m,
    )
    expect((await recipients(cwd)).stdout).toMatch(
      /ana@example.com .* paused by the operator on \d{4}-\d\d-\d\d: on leave /,
    )
    expect(await listed(cwd)).toEqual([
      ['ana@example.com', 'daily', 'paused', 'on leave', true],
      ['dana@example.com', 'weekly', 'active', null, true],
    ])
    await recipients(cwd, 'set', 'active', 'ana@example.com')
    expect(await listed(cwd)).toEqual([
      ['ana@example.com', 'daily', 'active', null, true],
      ['dana@example.com', 'weekly', 'active', null, true],
    ])
  })

  it('are resumed for all whom leadsheet paused, and for nobody else', async () => {
    const cwd = await folderWithDatabase(FILES)
    await recipients(cwd, 'set', 'paused', 'ana@example.com')
    expect((await recipients(cwd, 'set', 'active', '--all')).stderr).toContain('leadsheet has paused nobody')
    await recipients(cwd, 'set', 'paused', 'dana@example.com', '--report', 'weekly')
    await using store = await openStore(join(cwd, 'data', 'leadsheet.db'), new Date())
    await store.write((trx) =>
      trx
        .updateTable('preference')
        .where('address', '=', 'dana@example.com')
        .set({ changed_by: 'leadsheet' })
        .execute(),
    )
    expect((await recipients(cwd, 'set', 'active', '--all')).stdout).toMatch(
      /dana@example.com {2,}weekly {2,}active/,
    )
    expect((await listed(cwd)).map(([address, , state]) => [address, state])).toEqual([
      ['ana@example.com', 'paused'],
      ['dana@example.com', 'active'],
    ])
  })

  it('stay when the settings name the recipient no more, and that is told', async () => {
    const cwd = await folderWithDatabase(FILES)
    await recipients(cwd, 'set', 'unsubscribed', 'ana@example.com')
    writeFileSync(join(cwd, 'leadsheet.yaml'), SETTINGS.replace('ana@', 'ben@'))
    const { stdout } = await recipients(cwd)
    expect(stdout).toMatch(
      /ana@example.com {2,}- {2,}daily {2,}unsubscribed by the operator .* no longer in the settings/,
    )
    expect((await listed(cwd)).at(-1)).toEqual([...['ana@example.com', 'daily', 'unsubscribed', null, false]])
  })
})

describe('links of recipients', () => {
  const WITH_PAGES = {
    ...FILES,
    'leadsheet.yaml': `${SETTINGS}\nweb: { public_url: https://reports.example.com }\n`,
  }

  it('are one a report, the same each time, until they are revoked', async () => {
    const cwd = await folderWithDatabase(WITH_PAGES)
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
})
