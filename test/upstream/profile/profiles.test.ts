/** The shipped profiles, with a record of each API and the messages from the documentation of each sender. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { UpstreamEvent } from '../../../src/domain/model.ts'
import { endpointUrl } from '../../../src/upstream/client/request.ts'
import { mapLead } from '../../../src/upstream/mapping/lead-mapping.ts'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import { webhookProfileSchema } from '../../../src/upstream/profile/webhook-profile.ts'
import { readEvents } from '../../../src/upstream/webhooks/read-events.ts'
import { whyRefused } from '../../../src/upstream/webhooks/verify-signature.ts'
import { readAllText } from '../../support/docs/docs.ts'
import { DIALECTS } from '../../support/source/vendors/dialects.ts'

const FOLDER = join(import.meta.dirname, '../../../profiles')
const URL_OF_OURS = 'https://leads.example.com/webhooks/leads'
/** The time at which the messages were signed. */
const NOW = new Date(1_795_251_600_000)

interface Sample {
  readonly record: object
  /** Further fields that the profile maps. */
  readonly lead?: object
  readonly message?: {
    readonly secret: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: unknown
    readonly events: readonly Partial<UpstreamEvent>[]
  }
}

const SAMPLES: Readonly<Record<string, Sample>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'samples.json'), 'utf8'),
)
const files = globSync('*.yaml', { cwd: FOLDER }).map((file) => basename(file, '.yaml'))

test('each profile has a sample, or a server in shipped.test.ts', () => {
  const tried = new Set([...Object.keys(SAMPLES), ...DIALECTS.map(({ profile }) => profile)])
  expect(files.sort()).toEqual([...tried].sort())
})

test.each(files)('%s addresses its list, maps a record, and verifies and reads a message', (file) => {
  const written = readFileSync(join(FOLDER, `${file}.yaml`), 'utf8')
  const profile = parseProfile(parse(written), file)
  const [, base = ''] = /api\.url: (https:\S+?)[,\s]/.exec(written) ?? []
  expect(endpointUrl(base, profile, 'leads').href.startsWith(new URL(base).href)).toBe(true)
  const sample = SAMPLES[file]
  if (sample === undefined) return
  const { record, message } = sample
  const lead = mapLead(record, profile)
  expect(lead).toMatchObject({ companyName: 'Acme', ...sample.lead })
  expect('status' in lead && lead.status !== 'unknown').toBe(true)
  const { webhook } = profile
  expect(webhook === undefined).toBe(message === undefined)
  if (webhook === undefined || message === undefined) return
  const values = Object.entries(message.headers).map(([name, value]) => [name, [value]])
  const body = Buffer.from(JSON.stringify(message.body))
  const received = { method: 'POST', url: URL_OF_OURS, headers: Object.fromEntries(values), body }
  expect(whyRefused(webhook, [message.secret], received, NOW)).toBeNull()
  expect(whyRefused(webhook, ['0f'.repeat(16)], received, NOW)).not.toBeNull()
  const wanted = message.events.map((event) => ({ resource: 'lead', problem: null, ...event }))
  expect(readEvents(webhook, received)).toMatchObject(wanted)
})

test('the documentation has each scheme of signatures, as it can be written', () => {
  const schemes = [...readAllText().matchAll(/^\| `(\{ scheme: .*? \})` \|/gm)].map(([, written = '']) =>
    parse(written.replaceAll('…', 'X-Any')),
  )
  const kinds = new Set(schemes.map(({ scheme }) => scheme))
  expect([...kinds].sort()).toEqual(['hmac', 'none', 'standard', 'stripe', 'token'])
  for (const verify of schemes)
    expect(webhookProfileSchema.parse({ verify, lead: 'id' }).verify).toMatchObject(verify)
})
