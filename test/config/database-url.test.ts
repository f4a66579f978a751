/**
 * The URL of a store in PostgreSQL: its allowed forms, the errors about others, and the secrecy of its
 * password.
 */
import { chmodSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { placeOf } from '../../src/app/alert-settings.ts'
import { storeAddressOf, storePlaceOf } from '../../src/app/installation.ts'
import { effectiveSettings, secretsOf } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

const PASSWORD = 'pä%s/w@rd'
const URL = `postgres://app:${encodeURIComponent(PASSWORD)}@db.example.com:5433/leads?schema=sales`

function load(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
  return loadConfig({ cwd: folderWith(files), env })
}

describe('the store', () => {
  test.each([
    ['the settings', { 'leadsheet.yaml': `database_url: "${URL}"` }, {}],
    ['a file that these name', { 'leadsheet.yaml': 'database_url_file: ./url', url: `${URL}\n` }, {}],
    [
      'the environment',
      { 'leadsheet.yaml': 'database_url_file: ./not-there' },
      { LEADSHEET_DATABASE_URL: URL },
    ],
    ['a file that this names', { url: URL }, { LEADSHEET_DATABASE_URL_FILE: 'url' }],
  ] as const)('is given by %s', (_, files, env) => {
    const config = load(files, env)
    expect(storePlaceOf(config)).toEqual({
      kind: 'postgres',
      url: URL.replace('?schema=sales', ''),
      schema: 'sales',
      name: 'postgres://app@db.example.com:5433/leads?schema=sales',
    })
  })

  test('is a file in the data directory where nothing is said', () => {
    const config = load({ 'leadsheet.yaml': 'data_dir: elsewhere' })
    expect(storeAddressOf(config)).toBe(join(config.dataDir, 'leadsheet.db'))
    expect(storePlaceOf(config)).toEqual({ kind: 'sqlite', file: join(config.dataDir, 'leadsheet.db') })
  })

  test.each([
    ['postgresql://h/db', 'postgresql://h/db', 'leadsheet'],
    ['postgres://u@%2Frun%2Fpg/db', 'postgres://u@%2Frun%2Fpg/db', 'leadsheet'],
    // psql and pg_dump read these addresses in the same way.
    [
      'postgres://h/db?sslmode=require&schema=a_1',
      'postgres://h/db?sslmode=require&uselibpqcompat=true',
      'a_1',
    ],
  ])('may be at %s', (text, url, schema) => {
    expect(storePlaceOf(load({}, { LEADSHEET_DATABASE_URL: text }))).toMatchObject({ url, schema })
  })

  test.each([
    ['mysql://h/db', 'it does not begin with postgres://'],
    ['./leadsheet.db', 'it is no URL'],
    ['postgres://h:99999/db', 'it is no URL'],
    ['postgres://h', 'it names no database'],
    ['postgres://h/', 'it names no database'],
    ['postgres://h/a/b', 'it names no database'],
    ['postgres:///db', 'it names no host'],
    ['postgres://h/db?schmea=x', 'there is no parameter schmea; known: schema, user, host'],
    ['postgres://h/db?options=-csearch_path%3Dx', 'there is no parameter options'],
    ['postgres://h/db?schema=a&schema=b', 'schema stands in it twice'],
    ['postgres://h/db?schema=Sales', '"Sales" cannot be a schema'],
    ['postgres://h/db?schema=', '"" cannot be a schema'],
    ['postgres://h/db?schema=pg_mine', '"pg_mine" cannot be a schema'],
    ['postgres://h/db?schema=information_schema', '"information_schema" cannot be a schema'],
    [`postgres://h/db?schema=${'a'.repeat(46)}`, `"${'a'.repeat(46)}" cannot be a schema`],
    ['postgres://h/db?sslmode=prefer', 'sslmode must be one of disable, require, verify-ca, verify-full'],
    ['postgres://h/db?sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert'],
    ['postgres://u:hunter22@h/db?password=hunter22', 'the password belongs before the host'],
    // Passwords with signs that are not encoded.
    ['postgres://u:hunter%Z2@h/db', 'a % of its own is written %25'],
    ['postgres://u:hunter/22@h/db', 'it is no URL; characters such as @, /, ? or # in a password are'],
    ['postgres://u:22/hunter@h/db', 'it is no URL; characters such as @, /, ? or # in a password are'],
    ['postgres://u:22?hunter@h/db', 'it is no URL; characters such as @, /, ? or # in a password are'],
    ['postgres://u:22#hunter@h/db', 'it is no URL; characters such as @, /, ? or # in a password are'],
  ])('cannot be at %s', (text, why) => {
    const mistake = () => load({}, { LEADSHEET_DATABASE_URL: text })
    expect(mistake).toThrow(`environment  LEADSHEET_DATABASE_URL: expected a URL with postgres://; ${why}`)
    expect(mistake).not.toThrow(/hunter/)
  })

  test('is shown without its password, which is taken out of all that is said', () => {
    const cwd = folderWith()
    const config = loadConfig({ cwd, env: { LEADSHEET_DATABASE_URL: URL } })
    expect(effectiveSettings(config)).toContainEqual({
      setting: 'database_url',
      value: 'postgres://app@db.example.com:5433/leads?schema=sales',
      source: 'environment LEADSHEET_DATABASE_URL',
    })
    expect(secretsOf(config)).toEqual([encodeURIComponent(PASSWORD), PASSWORD])
    expect(placeOf(config)).toBe(`${hostname()}, postgres://app@db.example.com:5433/leads?schema=sales`)
  })

  test('is warned of where everybody can read its password, and only then', () => {
    const warningsOf = (store: string) => {
      const cwd = folderWith({ 'leadsheet.yaml': `database_url: "${store}"` })
      chmodSync(join(cwd, 'leadsheet.yaml'), 0o644)
      return loadConfig({ cwd, env: {} }).warnings
    }
    expect(warningsOf(URL)).toEqual([
      expect.stringMatching(/database_url: every user of this machine can read/),
    ])
    expect(warningsOf('postgres://app@db.example.com/leads')).toEqual([])
  })

  test('of several machines is warned of with a folder for mails, which each would have of its own', () => {
    const files = { 'leadsheet.yaml': 'smtp: { url: "file:./outbox" }' }
    expect(load(files, { LEADSHEET_DATABASE_URL: URL }).warnings).toEqual([
      expect.stringMatching(/smtp\.url: each machine puts the mails that it sends into a folder of its own/),
    ])
    expect(load(files).warnings).toEqual([])
  })
})
