import { expect, test } from 'vitest'
import { settingFault } from '../../src/config/errors.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { SettingPath } from '../../src/config/setting-path.ts'
import { LeadsheetError } from '../../src/errors.ts'

test.each<[SettingPath, string, string]>([
  [['api', 'url'], 'LEADSHEET_API_URL', 'ftp://leads.example.com'],
  [['smtp', 'url'], 'LEADSHEET_SMTP_URL', 'smtp//mail.example.com'],
  [['mail', 'from'], 'LEADSHEET_FROM', 'Lead reports'],
  [['time_zone'], 'LEADSHEET_TIME_ZONE', 'Europe/Belin'],
  [['web', 'listen'], 'LEADSHEET_WEB_LISTEN', '8080'],
])('of %j it says what the settings would', (path, variable, value) => {
  const fault = settingFault(path, value)
  expect(fault).toMatch(/^expected /)
  expect(toldOf({ [variable]: value })).toContain(fault)
})

test('of an item of a list it says what is wrong with it', () => {
  expect(settingFault(['alerts', 'recipients'], ['ana@example.com', 'ben'])).toBe(
    'expected an e-mail address, such as ana@example.com',
  )
})

test('what will do has none, whatever else the settings would need', () => {
  expect(settingFault(['mail', 'from'], 'Lead reports <reports@example.com>')).toBeNull()
  expect(settingFault(['sync', 'schedule'], 'every weekday at 07:00')).toBeNull()
})

function toldOf(env: Readonly<Record<string, string>>): string {
  try {
    loadConfig({ file: null, env })
    return ''
  } catch (thrown) {
    return thrown instanceof LeadsheetError ? thrown.message : ''
  }
}
