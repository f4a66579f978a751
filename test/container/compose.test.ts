/** The compose files follow their schema and our rules, and the program accepts their settings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { unknownArguments } from '../support/docs/commands.ts'
import { ROOT, readImage } from './support/image.ts'
import { schemaCheck } from './support/schema.ts'
import { settingsWith } from './support/settings.ts'

const FILES = [
  'compose.yaml',
  'compose.scale.yaml',
  'deploy/compose/litestream.yaml',
  'deploy/compose/try.yaml',
]
const STORE = 'postgres://leadsheet:a-password@postgres:5432/leadsheet'
/** The mounted files as `leadsheet init` writes them. */
const MOUNTED = {
  '/etc/leadsheet/leadsheet.yaml': `
api: { url: "https://leads.example.com/api/v1", key_file: ./secrets/api-key }
mail: { url_file: ./secrets/mail-url, from: reports@example.com }
web: { token_file: ./secrets/web-token }
recipients: [ana@example.com]
reports: [{ name: daily, schedule: every weekday at 07:00 }]
`,
  '/etc/leadsheet/secrets/api-key': 'k-0123456789',
  '/etc/leadsheet/secrets/mail-url': 'smtp://reports:secret@mail.example.com:587',
  '/etc/leadsheet/secrets/web-token': 'a-token-for-the-test',
  '/service/api-key': 'k-0123456789',
  '/etc/leadsheet/secrets/database-url': STORE,
}
const check = schemaCheck('compose')
const project = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
}

interface Composed {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>
}

function read(file: string): Composed {
  return parse(readFileSync(join(ROOT, file), 'utf8'), { merge: true })
}

function service(file: string, name: string): Service {
  const found = read(file).services[name]
  if (found === undefined) throw new Error(`${file} has no ${name}`)
  return found
}

describe.each(FILES)('%s', (file) => {
  const services = Object.entries(read(file).services)

  it('is a compose file, and would not be one with a misspelt key', () => {
    expect(check(read(file))).toEqual([])
    const [[name = ''] = []] = services
    expect(check({ ...read(file), services: { [name]: { imag: 'leadsheet' } } })).not.toEqual([])
  })

  it.each(services)('%s has a read-only root and no privileges, and is pinned to a version', (_, each) => {
    expect(each).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      image: expect.stringMatching(/^postgres:\d+\.\d+$|:v?\d+\.\d+\.\d+$/),
    })
    for (const port of each.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
  })

  it.each(services.filter(([, { image }]) => image.startsWith('leadsheet:')))(
    '%s is of this version, and calls a command that there is',
    async (_, { image, command = readImage().command }) => {
      expect(image).toBe(`leadsheet:${project.version}`)
      expect(await unknownArguments(command)).toEqual([])
    },
  )
})

/** The sources of the daemons of the files: the list of leads, the store and where their dashboard listens. */
const GIVEN = [
  ['compose.yaml', 'leadsheet', 'https://leads.example.com/api/v1', undefined, '0.0.0.0:8080'],
  ['compose.scale.yaml', 'leadsheet', 'https://leads.example.com/api/v1', STORE, '0.0.0.0:8080'],
  ['compose.scale.yaml', 'worker', 'https://leads.example.com/api/v1', STORE, undefined],
  ['deploy/compose/try.yaml', 'leadsheet', 'http://service:8484/api/v1', undefined, '0.0.0.0:8080'],
] as const

it.each(GIVEN)('%s gives settings that %s takes, without a warning', (file, name, url, store, listen) => {
  const { environment = {} } = service(file, name)
  const { api, databaseUrl, web, recipients, warnings } = settingsWith(environment, MOUNTED)
  // The network of the trial is its own.
  expect(warnings.filter((one) => !one.includes('unencrypted to service:8484'))).toEqual([])
  expect(api.url?.toString()).toBe(url)
  expect(databaseUrl?.reveal()).toBe(store)
  expect(web.listen && `${web.listen.host}:${web.listen.port}`).toBe(listen ?? null)
  expect(web.token).not.toBeNull()
  expect(recipients).toHaveLength(1)
})

it('compose.yaml limits the memory, and starts again what ended', () => {
  expect(service('compose.yaml', 'leadsheet')).toMatchObject({ mem_limit: '1g', restart: 'unless-stopped' })
})

it('compose.scale.yaml has no secret in it, none where git would find it, and publishes no database', () => {
  const { services, secrets = {} } = read('compose.scale.yaml')
  const values = Object.values(services).flatMap((each) => Object.values(each.environment ?? {}))
  for (const value of values) expect(value).toMatch(/^[\w./-]+$/)
  for (const { file } of Object.values(secrets)) expect(file).toMatch(/^\.\/settings\//)
  const folders = Object.values(services)
    .flatMap((each) => each.volumes ?? [])
    .flatMap((volume) => /^\.\/(settings|backups):/.exec(volume)?.[1] ?? [])
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n')
  expect(new Set(folders)).toEqual(new Set(['settings', 'backups']))
  for (const folder of folders) expect(ignored).toContain(`/${folder}/`)
  expect(services['postgres']?.ports).toBeUndefined()
})
