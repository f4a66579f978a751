/** The published descriptions and the example of the settings are true. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { settingsJsonSchema } from '../../build/docs/settings.ts'
import { VARIABLES } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import { type SettingSchema, schemaAt } from '../../src/config/schema.ts'
import { leavesOf, pathText, type SettingPath } from '../../src/config/setting-path.ts'
import { folderWith } from '../support/folder.ts'
import { DKIM_KEY } from '../support/mail/dkim.ts'

const ROOT = join(import.meta.dirname, '../..')
const example = readFileSync(join(ROOT, 'leadsheet.example.yaml'), 'utf8')
/**
 * The example with every setting in force: `#name: value` and `#  name: value` are uncommented, `# words` is
 * not.
 */
const wholeExample = uncomment(uncomment(example))

test('every setting is described', () => {
  const bare = settingPaths(settingsJsonSchema()).filter((path) => !schemaAt(path)?.description)
  expect(bare.map(pathText)).toEqual([])
})

test('the example changes nothing as it is', () => {
  const config = loadConfig({ cwd: folderWith({ 'leadsheet.yaml': example }), env: {} })
  expect(config.sources).toEqual({})
})

test('the example shows every setting, and all of them are right', () => {
  const shown = new Set([...leavesOf(parse(wholeExample))].map(([path]) => settingAt(path)))
  const known = new Set(settingPaths(settingsJsonSchema()).map(settingAt))
  expect([...shown].sort()).toEqual([...known].sort())
  const oneOfEach = wholeExample.replace(
    /^ *(key|url|database_url|token|secret|\w+_(secret|token|key))_file:.*$/gm,
    '',
  )
  const signed = oneOfEach.replace(
    /(dkim:[\s\S]*? key: ).*/,
    (_, before) => before + JSON.stringify(DKIM_KEY.privateKey),
  )
  // Of the ways to a key, and of the settings of a login, only some go together.
  const { api, mail, ...whole } = parse(signed)
  const { key, key_command: _command, oauth, ...source } = api
  const { dkim, oauth: login, ...sending } = mail
  const { address, webhook_secret: _secret, oauth: mailbox, ...place } = mail.bounces
  const bounces = { ...place, oauth: clientOf(mailbox) }
  const webhook = { ...bounces, webhook_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }
  for (const way of [
    { api: { ...source, key }, mail: { ...sending, bounces: { ...bounces, address }, dkim } },
    {
      api: { ...source, oauth: clientOf(oauth) },
      mail: { ...sending, bounces, url: 'graph:', oauth: clientOf(login) },
    },
    { api: { ...source, key }, mail: { ...sending, bounces: webhook, url: 'resend://:re_k@api.resend.com' } },
  ]) {
    const yaml = stringify({ ...whole, ...way })
    const cwd = folderWith({ 'leadsheet.yaml': yaml, 'profile.yaml': 'name: mine' })
    expect(loadConfig({ cwd, env: {} }).warnings).toEqual([])
  }
})

test('the example names every variable', () => {
  expect(Object.keys(VARIABLES).filter((name) => !example.includes(name))).toEqual([])
})

/** The settings of a login with client credentials. */
function clientOf(oauth: Readonly<Record<string, unknown>>) {
  const { refresh_token: _token, private_key: _key, issuer: _issuer, subject: _subject, ...client } = oauth
  return client
}

/** Called twice, because some settings are commented out in a group that is commented out. */
function uncomment(text: string): string {
  return text.replace(/^( *)#(?! \S)/gm, '$1')
}

/** Returns the setting at a path. A list of values is one setting, and so are recipients and filters. */
function settingAt(path: SettingPath): string {
  return pathText(path).replace(/(?<=recipients|filter|params)\b.*|\[\d+\]$/, '')
}

/** Lists the paths of all settings that are not groups. Of a list of groups, it lists those of the first. */
function settingPaths(schema: SettingSchema, path: SettingPath = []): SettingPath[] {
  if (schema.items?.properties) return settingPaths(schema.items, [...path, 0])
  if (!schema.properties) return [path]
  return Object.entries(schema.properties).flatMap(([name, inner]) => settingPaths(inner, [...path, name]))
}
