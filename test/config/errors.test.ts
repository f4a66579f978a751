/** Every mistake that an operator can make in the settings, with the lines of the error about it. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { settingFault } from '../../src/config/errors.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { SettingPath } from '../../src/config/setting-path.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { folderWith } from '../support/folder.ts'
import { checkExamples } from '../support/process/transcript.ts'
import { inputOf } from './example.ts'

const PRIVATE = { type: 'pkcs8', format: 'pem' } as const
const LOCKED = { ...PRIVATE, cipher: 'aes-256-cbc', passphrase: 'hunter22' } as const
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
const FILES = {
  empty: '\n',
  'public.pem': publicKey.export({ type: 'spki', format: 'pem' }),
  'locked.pem': privateKey.export(LOCKED),
  'ed25519.pem': generateKeyPairSync('ed25519').privateKey.export(PRIVATE),
  'short.pem': generateKeyPairSync('rsa', { modulusLength: 768 }).privateKey.export(PRIVATE),
  secrets: 'whsec_b2xkIG9sZCBvbGQ=\nhunter2',
}

function failure(run: () => unknown): LeadsheetError {
  try {
    run()
  } catch (error) {
    if (error instanceof LeadsheetError && error.code === 'config_invalid') return error
    throw error
  }
  throw new Error('expected a mistake to be found')
}

/** Returns the lines of the error after the first. Characters that a reviewer would not see are their numbers. */
function mistakesOf(input: string): string[] {
  const { env, yaml } = inputOf(input)
  const files = Object.entries({ ...FILES, 'leadsheet.yaml': yaml }).map(([name, text]) => [
    name,
    String(text),
  ])
  const cwd = folderWith(Object.fromEntries(files))
  const found = failure(() => loadConfig({ cwd, env }))
  expect(inspect(found, { depth: 9 })).not.toContain('hunter')
  return found.message
    .replaceAll(cwd, '.')
    .replaceAll(/[^ -~\n]/gu, (character) => `<U+${character.codePointAt(0)?.toString(16)}>`)
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
}

test.each(['settings', 'web', 'addresses', 'reports', 'secrets', 'environment', 'logins'])(
  'a mistake is told by its place, value and remedy, and never quotes a secret: %s',
  (group) => checkExamples(join(import.meta.dirname, `golden/mistakes-${group}.txt`), mistakesOf),
)

test('a file that does not exist is named', () => {
  const cwd = folderWith()
  expect(failure(() => loadConfig({ cwd, env: {}, file: 'no.yaml' })).message).toBe(
    `cannot read the settings file ${cwd}/no.yaml: there is no such file`,
  )
})

describe('the fault of a single value', () => {
  test.each<[SettingPath, string, string]>([
    [['api', 'url'], 'LEADSHEET_API_URL', 'ftp://leads.example.com'],
    [['web', 'listen'], 'LEADSHEET_WEB_LISTEN', '8080'],
  ])('of %j is what the settings would say', (path, variable, value) => {
    const fault = settingFault(path, value)
    expect(fault).toMatch(/^expected /)
    expect(mistakesOf(`${variable}=${value}`).join('\n')).toContain(fault)
  })

  test('of an item of a list is its own, and what will do has none', () => {
    expect(settingFault(['alerts', 'recipients'], ['ana@example.com', 'ben'])).toBe(
      'expected an e-mail address, or Name <address>; this is neither',
    )
    expect(settingFault(['mail', 'from'], 'Lead reports <reports@example.com>')).toBeNull()
    expect(settingFault(['sync', 'schedule'], 'every weekday at 07:00')).toBeNull()
  })
})
