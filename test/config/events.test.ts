/** The secrets of webhooks that were registered by hand: one or several, and never shown. */
import { describe, expect, test } from 'vitest'
import { effectiveSettings, secretsOf } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { eventSecrets } from '../../src/config/schema-web.ts'
import { folderWith } from '../support/folder.ts'

const [OLD, ANEW] = ['whsec_b2xkIG9sZCBvbGQ=', 'whsec_bmV3IG5ldyBuZXc=']

function load(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
  return loadConfig({ cwd: folderWith(files), env })
}

describe('secrets of events', () => {
  test.each([
    ['none', {}, {}, []],
    ['one of the settings', { 'leadsheet.yaml': `events: { secret: "${OLD}" }` }, {}, [OLD]],
    ['one of the environment', {}, { LEADSHEET_EVENTS_SECRET: OLD }, [OLD]],
    [
      'several of a file, one a line',
      { secrets: `${ANEW}\r\n\n  ${OLD}\n` },
      { LEADSHEET_EVENTS_SECRET_FILE: 'secrets' },
      [ANEW, OLD],
    ],
  ] as const)('are %s', (_, files, env, secrets) => {
    const config = load(files, env)
    expect(eventSecrets(config.events.secret)).toEqual(secrets)
    expect(secretsOf(config)).toEqual(secrets)
    expect(config.warnings).toEqual([])
  })

  test('are not shown', () => {
    const config = loadConfig({ cwd: folderWith(), env: { LEADSHEET_EVENTS_SECRET: ANEW } })
    expect(effectiveSettings(config)).toContainEqual({
      setting: 'events.secret',
      value: '[redacted]',
      source: 'environment LEADSHEET_EVENTS_SECRET',
    })
    expect(JSON.stringify(effectiveSettings(config))).not.toContain(ANEW)
  })

  test('that can be guessed are refused, and not quoted', () => {
    const mistake = () => load({ secrets: `${OLD}\nhunter2` }, { LEADSHEET_EVENTS_SECRET_FILE: 'secrets' })
    expect(mistake).toThrow(
      /secrets {2}LEADSHEET_EVENTS_SECRET_FILE: expected texts of at least 8 characters/,
    )
    expect(mistake).not.toThrow(/hunter2/)
  })
})
