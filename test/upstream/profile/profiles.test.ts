/** Messages from the documentation of each sender, shortened and read with the shipped profiles. */

import { createHmac } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it, test } from 'vitest'
import { parse } from 'yaml'
import type { UpstreamEvent } from '../../../src/domain/model.ts'
import { endpointUrl } from '../../../src/upstream/client/request.ts'
import { mapLead } from '../../../src/upstream/mapping/lead-mapping.ts'
import { type Profile, parseProfile } from '../../../src/upstream/profile/profile.ts'
import { webhookProfileSchema } from '../../../src/upstream/profile/webhook-profile.ts'
import { readEvents } from '../../../src/upstream/webhooks/read-events.ts'
import { whyRefused } from '../../../src/upstream/webhooks/verify-signature.ts'
import { readAllText } from '../../support/docs/docs.ts'

const FOLDER = join(import.meta.dirname, '../../../profiles')
const URL_OF_OURS = 'https://leads.example.com/webhooks/leads'
const SECONDS = 1_795_251_600
const NOW = new Date(SECONDS * 1000)

interface Sender {
  readonly secret: string
  readonly headers: (body: string) => Readonly<Record<string, string>>
  readonly body: unknown
  readonly events: readonly Partial<UpstreamEvent>[]
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text)

const SENDERS: Readonly<Record<string, Sender>> = {
  'github-issues': {
    secret: "It's a Secret to Everybody",
    headers: (body) => ({
      'x-github-event': 'issues',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-hub-signature-256': `sha256=${hmac("It's a Secret to Everybody", body).digest('hex')}`,
    }),
    body: {
      action: 'opened',
      issue: { id: 73464126, number: 1347, title: 'Acme', updated_at: '2026-11-21T08:59:58Z' },
      repository: { id: 1296269, full_name: 'octocat/Hello-World' },
    },
    events: [{ type: 'opened', resourceId: '1347', occurredAt: '2026-11-21T08:59:58.000Z' }],
  },
  'hubspot-contacts': {
    secret: 'client-secret',
    headers: (body) => ({
      'x-hubspot-request-timestamp': `${SECONDS}123`,
      'x-hubspot-signature-v3': hmac('client-secret', `POST${URL_OF_OURS}${body}${SECONDS}123`).digest(
        'base64',
      ),
    }),
    body: [
      {
        eventId: 567890123,
        subscriptionId: 234567,
        portalId: 12345678,
        appId: 987654,
        occurredAt: 1708986598741,
        subscriptionType: 'contact.creation',
        attemptNumber: 0,
        objectId: 65059681032,
        changeFlag: 'CREATED',
        changeSource: 'CRM_UI',
      },
      {
        eventId: 567890123,
        subscriptionId: 234568,
        portalId: 12345678,
        appId: 987654,
        occurredAt: 1708986598999,
        subscriptionType: 'contact.deletion',
        attemptNumber: 0,
        objectId: 65059681033,
        changeFlag: 'DELETED',
      },
    ],
    events: [
      { type: 'contact.creation', resourceId: '65059681032', occurredAt: '2024-02-26T22:29:58.741Z' },
      { type: 'contact.deletion', resourceId: '65059681033', isDeletion: true },
    ],
  },
  'stripe-customers': {
    secret: 'whsec_test_secret',
    headers: (body) => ({
      'stripe-signature': `t=${SECONDS},v1=${hmac('whsec_test_secret', `${SECONDS}.${body}`).digest('hex')}`,
    }),
    body: {
      id: 'evt_1MqqbKLt4dXK03v5qaIbiNCC',
      object: 'event',
      created: 1680064028,
      type: 'customer.updated',
      data: {
        object: { id: 'cus_NcLYdDxLHxlFo7', object: 'customer' },
        previous_attributes: { currency: null },
      },
    },
    events: [
      {
        id: 'evt_1MqqbKLt4dXK03v5qaIbiNCC',
        type: 'customer.updated',
        resourceId: 'cus_NcLYdDxLHxlFo7',
        occurredAt: '2023-03-29T04:27:08.000Z',
      },
    ],
  },
  'pipedrive-leads': {
    secret: 'leads:passw0rd',
    headers: () => ({ authorization: `Basic ${Buffer.from('leads:passw0rd').toString('base64')}` }),
    body: {
      meta: {
        action: 'delete',
        entity: 'lead',
        company_id: 123123,
        version: '2.0',
        attempt: 1,
        entity_id: 'adf21080-0e10-11eb-879b-05d71fb426ec',
        id: '8f1a7c3e-0b2d-4f3e-9b1a-2c3d4e5f6a7b',
        timestamp: '2026-11-21T08:59:58.000Z',
      },
      data: null,
      previous: { title: 'Acme' },
    },
    events: [
      {
        id: '8f1a7c3e-0b2d-4f3e-9b1a-2c3d4e5f6a7b',
        type: 'delete',
        isDeletion: true,
        resourceId: 'adf21080-0e10-11eb-879b-05d71fb426ec',
        occurredAt: '2026-11-21T08:59:58.000Z',
      },
    ],
  },
  'close-leads': {
    secret: '5a0d2b7c'.repeat(8),
    headers: (body) => ({
      'close-sig-timestamp': String(SECONDS),
      'close-sig-hash': hmac(Buffer.from('5a0d2b7c'.repeat(8), 'hex'), `${SECONDS}${body}`).digest('hex'),
    }),
    body: {
      event: {
        id: 'ev_2sYKRjcrA79yKxi3S4Crd7',
        action: 'updated',
        object_type: 'opportunity',
        date_created: '2019-01-15T12:48:23.395000',
        lead_id: 'lead_zwqYhEFwzPyfCErS8uQ77is2wFLvr9BgVi6cTfbFM68',
        data: { id: 'oppo_8H4sjNso7FyBFaeR3RXi5PMJbilfo0c6UPCxsJtEhCO', status_label: 'Won' },
      },
      subscription_id: 'whsub_5E6SuY0jmT4qsU6VC7yyLC',
    },
    events: [
      {
        id: 'ev_2sYKRjcrA79yKxi3S4Crd7',
        type: 'updated',
        isDeletion: false,
        resourceId: 'lead_zwqYhEFwzPyfCErS8uQ77is2wFLvr9BgVi6cTfbFM68',
        occurredAt: '2019-01-15T12:48:23.395Z',
      },
    ],
  },
}

const profiles = globSync('*.yaml', { cwd: FOLDER }).map((file) =>
  parseProfile(parse(readFileSync(join(FOLDER, file), 'utf8')), file),
)
const senders = Object.entries(SENDERS).map(([name, sender]) => ({ name, ...sender }))

function webhookOf(name: string): Pick<Profile, 'mapping'> & { webhook: NonNullable<Profile['webhook']> } {
  const profile = profiles.find((each) => each.name === name)
  if (profile?.webhook === undefined) throw new Error(`${name} has no webhook`)
  return { ...profile, webhook: profile.webhook }
}

function messageOf(body: string, headers: Readonly<Record<string, string>>) {
  const values = Object.entries(headers).map(([name, value]) => [name, [value]])
  return { method: 'POST', url: URL_OF_OURS, headers: Object.fromEntries(values), body: Buffer.from(body) }
}

test('each profile with webhooks has a message to be tried on', () => {
  const withWebhooks = profiles.filter(({ webhook }) => webhook !== undefined).map(({ name }) => name)
  expect(withWebhooks.sort()).toEqual(Object.keys(SENDERS).sort())
})

it.each(senders)('a message of $name is verified and read', ({ name, secret, headers, body, events }) => {
  const { webhook } = webhookOf(name)
  const text = JSON.stringify(body)
  const message = messageOf(text, headers(text))
  expect(whyRefused(webhook, [secret], message, NOW)).toBeNull()
  expect(whyRefused(webhook, ['0f'.repeat(16)], message, NOW)).not.toBeNull()
  const wanted = events.map((event) => ({ resource: 'lead', problem: null, ...event }))
  expect(readEvents(webhook, message)).toMatchObject(wanted)
})

const SCHEMES = [...readAllText().matchAll(/^\| `(\{ scheme: .*? \})` \|/gm)].map(
  ([, written = '']) => written,
)

test('the table of schemes in the documentation has each of them', () => {
  const kinds = SCHEMES.map((written) => parse(written.replaceAll('…', 'X-Any')).scheme)
  expect([...new Set(kinds)].sort()).toEqual(['hmac', 'none', 'standard', 'stripe', 'token'])
})

it.each(SCHEMES)('%s stands in the documentation and can be written so', (written) => {
  const verify = parse(written.replaceAll('…', 'X-Any'))
  expect(webhookProfileSchema.parse({ verify, lead: 'id' }).verify).toMatchObject(verify)
})

const files = globSync('*.yaml', { cwd: FOLDER })
const read = (file: string) => parseProfile(parse(readFileSync(join(FOLDER, file), 'utf8')), file)

/** A shortened record of each API. */
const RECORDS: Readonly<Record<string, object>> = {
  'hubspot-contacts': {
    id: '512',
    properties: {
      firstname: 'Ada',
      lastname: 'Byron',
      company: 'Acme',
      website: 'https://www.acme.com',
      lifecyclestage: 'lead',
    },
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-02T00:00:00Z',
  },
  'pipedrive-leads': {
    id: 'adf2',
    title: 'Acme',
    is_archived: false,
    value: { amount: 5, currency: 'EUR' },
    add_time: '2026-01-01T00:00:00.000Z',
  },
  'stripe-customers': {
    id: 'cus_1',
    name: null,
    description: 'Acme',
    created: 1767225600,
    currency: 'eur',
    balance: 0,
  },
  'github-issues': {
    id: 1,
    number: 7,
    title: 'Acme',
    state: 'open',
    user: { login: 'ada' },
    created_at: '2026-01-01T00:00:00Z',
  },
  'close-leads': {
    id: 'lead_1',
    display_name: 'Acme',
    status_label: 'Qualified',
    contacts: [{ name: 'Ada Byron', emails: [{ email: 'a@acme.com' }] }],
  },
  'directus-items': { id: 3, status: 'new', name: 'Acme', date_created: '2026-01-01T00:00:00Z' },
}

test('each has a record to be tried on', () => {
  expect(files.map((file) => basename(file, '.yaml')).sort()).toEqual(Object.keys(RECORDS).sort())
})

test.each(files)('%s maps a record', (file) => {
  const profile = read(file)
  const lead = mapLead(RECORDS[profile.name], profile)
  expect(lead).toMatchObject({ companyName: 'Acme' })
  expect('status' in lead && lead.status !== 'unknown').toBe(true)
})

test.each(files)('%s addresses its list below the base that its comment names', (file) => {
  const [, base = ''] = /api\.url: (https:\S+?)[,\s]/.exec(readFileSync(join(FOLDER, file), 'utf8')) ?? []
  const url = endpointUrl(base, read(file), 'leads')
  expect(url.origin).toBe(new URL(base).origin)
  expect(url.pathname.startsWith(new URL(base).pathname)).toBe(true)
})

test('several parts of a name become one', () => {
  expect(mapLead(RECORDS['hubspot-contacts'], read('hubspot-contacts.yaml'))).toMatchObject({
    contactName: 'Ada Byron',
    companyDomain: 'acme.com',
  })
})
