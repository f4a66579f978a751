/** The shipped profiles are complete, and read the records in the documentation of their APIs. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { endpointUrl } from '../../../src/upstream/client/request.ts'
import { mapLead } from '../../../src/upstream/mapping/lead-mapping.ts'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'

const FOLDER = join(import.meta.dirname, '../../../profiles')
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
