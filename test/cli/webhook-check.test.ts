/** The doctor's check of the installation's webhook, and its warnings about the settings. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkWebhook, webhookWarnings } from '../../src/cli/installation-checks.ts'
import { loadConfig } from '../../src/config/load.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { type Registration, saveRegistration } from '../../src/jobs/events/webhook-registration.ts'
import { openSource } from '../../src/upstream/source.ts'
import type { WireWebhook } from '../../src/upstream/webhooks/registered-webhooks.ts'
import { folderWith } from '../support/folder.ts'
import { SILENT } from '../support/syncing.ts'

const URL = 'https://reports.example.com/webhooks/leads'
const REGISTERED: Registration = {
  id: 'wh_1',
  url: URL,
  events: ['lead.created'],
  secret: 'whsec_c2VjcmV0',
  registeredAt: '2026-11-20T09:00:00.000Z',
}
const ACTIVE: WireWebhook = {
  id: 'wh_1',
  url: URL,
  events: ['lead.created'],
  description: null,
  status: 'active',
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  created_at: '2026-11-20T09:00:00.000Z',
}
const PUBLIC = 'web: { public_url: "https://reports.example.com", token: "0123456789abcdef" }\n'

interface Situation {
  readonly settings?: string
  readonly state?: Registration
  /** The webhooks that the upstream lists, or the error of its answer. */
  readonly listed?: readonly WireWebhook[] | LeadsheetError
}

/** Returns each check as `status: found -> remedy`. */
async function examine({ settings = PUBLIC, state, listed = [ACTIVE] }: Situation): Promise<string[]> {
  const cwd = folderWith({ 'leadsheet.yaml': settings })
  const config = loadConfig({ cwd, env: {} })
  if (state !== undefined) await saveRegistration(join(config.dataDir, 'webhook.json'), state)
  const open = async () => {
    const source = openSource({ baseUrl: 'http://127.0.0.1:1', apiKey: '', maxWaitMs: 0, log: SILENT })
    const list = async () => {
      if (listed instanceof LeadsheetError) throw listed
      return listed
    }
    return { ...source, webhooks: { ...source.webhooks, list } }
  }
  const checks = await Array.fromAsync(checkWebhook(config, open, new AbortController().signal))
  expect(checks.every(({ what }) => what === 'webhook')).toBe(true)
  return checks.map(
    ({ status, found, remedy }) => `${status}: ${found}${remedy === null ? '' : ` -> ${remedy}`}`,
  )
}

describe('the doctor says of the webhook', () => {
  it.each<[string, Situation, readonly string[]]>([
    ['nothing where none is wanted', {}, []],
    ['that it is well', { state: REGISTERED }, [`ok: wh_1 is active, at ${URL}`]],
    [
      'that it fails',
      { state: REGISTERED, listed: [{ ...ACTIVE, failing_since: '2026-11-20T10:00:00.000Z' }] },
      [
        'warn: wh_1 is active, failing since 2026-11-20 10:00Z -> fix the way to https://reports.example.com/webhooks/leads; until then syncs bring changes',
      ],
    ],
    [
      'that it is disabled, and why',
      {
        state: REGISTERED,
        listed: [
          { ...ACTIVE, status: 'disabled', disabled_reason: 'gone', disabled_at: '2026-11-20T10:00:00.000Z' },
        ],
      },
      [
        'warn: wh_1 is disabled since 2026-11-20 10:00Z: its address answered 410 -> fix the way to https://reports.example.com/webhooks/leads; until then syncs bring changes',
      ],
    ],
    [
      'that it is not known any more',
      { state: REGISTERED, listed: [] },
      ['warn: the upstream does not know wh_1 any more -> `npx leadsheet webhooks register --self` anew'],
    ],
    [
      'that web.public_url is another one by now',
      { state: REGISTERED, settings: PUBLIC.replace('reports', 'news') },
      [
        `warn: ${URL} is registered, but web.public_url says https://news.example.com/webhooks/leads -> set it, then \`npx leadsheet webhooks register --self\``,
      ],
    ],
    [
      'that web.public_url is not set any more',
      { state: REGISTERED, settings: '' },
      [
        `warn: ${URL} is registered, but web.public_url is not set -> set it, then \`npx leadsheet webhooks register --self\``,
      ],
    ],
    [
      'that the upstream does not tell',
      { state: REGISTERED, listed: new LeadsheetError('api_not_found', 'no list') },
      ['ok: wh_1 is registered; the upstream does not tell how it stands'],
    ],
    [
      'that it cannot be asked',
      { state: REGISTERED, listed: new LeadsheetError('api_unauthorized', 'no key', { hint: 'a key' }) },
      ['fail: no key -> a key'],
    ],
    [
      'that the secrets are of no use where nothing listens',
      { settings: 'events: { secret: "whsec_b25lIG9uZQ==" }\nweb: { listen: none }\n' },
      [
        'warn: events.secret is of no use: web.listen is none, so that no events are taken -> fix the profile or the settings',
      ],
    ],
  ])('%s', async (_, situation, said) => {
    expect(await examine(situation)).toEqual(said)
  })

  it('that others can read its secret', async () => {
    const cwd = folderWith({ 'data/webhook.json': '{' })
    chmodSync(join(cwd, 'data/webhook.json'), 0o644)
    const checks = await Array.fromAsync(
      checkWebhook(
        loadConfig({ cwd, env: {} }),
        () => Promise.reject(new Error()),
        new AbortController().signal,
      ),
    )
    expect(checks[0]).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(/^every user of this machine can read .*webhook.json$/),
    })
  })

  it('that what is kept of it is broken', async () => {
    const cwd = folderWith({ 'data/webhook.json': '{' })
    const checks = await Array.fromAsync(
      checkWebhook(
        loadConfig({ cwd, env: {} }),
        () => Promise.reject(new Error()),
        new AbortController().signal,
      ),
    )
    expect(checks).toMatchObject([
      { status: 'fail', found: expect.stringContaining('webhook.json cannot be read: it is not JSON') },
    ])
  })
})

describe('the settings warn', () => {
  const profile = (webhook: string) =>
    `{ name: theirs, paging: { kind: none }, mapping: { lead: { id: id } }${webhook} }`
  const THEIRS = 'api: { profile: theirs.yaml }\n'
  it.each([
    [
      'of events that nobody verifies',
      profile(', webhook: { verify: { scheme: none }, lead: id }'),
      THEIRS,
      /can have leads read$/,
    ],
    [
      'of a secret that is not written as the scheme has it',
      profile(', webhook: { verify: { scheme: hmac, header: x, key: hex }, lead: id }'),
      `${THEIRS}events: { secret: "whsec_b25l" }`,
      /^events.secret cannot be read as the profile theirs says \(webhook.verify\), so that no message fits it$/,
    ],
    [
      'of one among others that has no user before its password',
      profile(', webhook: { verify: { scheme: token, value: "Basic {basic}" }, lead: id }'),
      `${THEIRS}events: { secret: "ana:password\\npassword" }`,
      /^1 of the 2 secrets of events cannot be read/,
    ],
    [
      'of a secret without events',
      profile(''),
      `${THEIRS}events: { secret: "whsec_b25lIG9uZQ==" }`,
      /^events.secret is of no use: the profile theirs has no part webhook$/,
    ],
    [
      'of a secret that only one of several machines would know',
      '',
      `${PUBLIC}database_url: postgres://leadsheet@db.example.com/leadsheet`,
      /^events.secret is not set: of machines that share a store, only the one that has registered/,
    ],
  ])('%s', (_, theirs, settings, warning) => {
    const cwd = folderWith({ 'leadsheet.yaml': settings, 'theirs.yaml': theirs })
    expect(webhookWarnings(loadConfig({ cwd, env: {} }))).toEqual([expect.stringMatching(warning)])
  })
})
