/** The doctor's checks of the webhook and of the DNS, and the warnings of the settings about events. */
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CheckResult } from '../../src/checks/check.ts'
import type { AskDns } from '../../src/cli/deliverability/spf.ts'
import {
  checkSignature,
  checkUnsubscribe,
  checkWebhook,
  webhookWarnings,
} from '../../src/cli/installation-checks.ts'
import { loadConfig } from '../../src/config/load.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { saveRegistration } from '../../src/jobs/events/webhook-registration.ts'
import { dnsRecordOf } from '../../src/mail/message.ts'
import { openSource } from '../../src/upstream/source.ts'
import type { WireWebhook } from '../../src/upstream/webhooks/registered-webhooks.ts'
import { folderWith } from '../support/folder.ts'
import { DKIM_KEY } from '../support/mail/dkim.ts'
import { REGISTERED } from '../support/network/webhook-receiver.ts'
import { checkExamples } from '../support/process/transcript.ts'
import { SILENT } from '../support/syncing.ts'

const { url: URL, registeredAt: AT } = REGISTERED
const ACTIVE: WireWebhook = {
  id: 'wh_1',
  url: URL,
  events: ['lead.created'],
  description: null,
  status: 'active',
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  created_at: AT,
}
const PUBLIC = 'web: { public_url: "https://reports.example.com", token: "0123456789abcdef" }\n'

interface Situation {
  readonly settings?: string
  /** The stored registration; by default that of the webhook. */
  readonly state?: string
  /** The webhooks that the upstream lists, or the error of its answer. */
  readonly listed?: readonly WireWebhook[] | LeadsheetError
}

const DISABLED = { ...ACTIVE, status: 'disabled', disabled_reason: 'gone', disabled_at: AT } as const
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'none is wanted': { state: '' },
  'it is well': {},
  'it fails': { listed: [{ ...ACTIVE, failing_since: AT }] },
  'it is disabled': { listed: [DISABLED] },
  'it is not known any more': { listed: [] },
  'web.public_url is another one by now': { settings: PUBLIC.replace('reports', 'news') },
  'web.public_url is not set any more': { settings: '' },
  'the upstream does not tell': { listed: new LeadsheetError('api_not_found', 'no list') },
  'it cannot be asked': { listed: new LeadsheetError('api_unauthorized', 'no key', { hint: 'a key' }) },
  'nothing listens': {
    settings: 'events: { secret: "whsec_b25lIG9uZQ==" }\nweb: { listen: none }\n',
    state: '',
  },
  'what is kept of it is broken': { state: '{' },
}

async function examine({ settings = PUBLIC, state, listed = [ACTIVE] }: Situation): Promise<string[]> {
  const cwd = folderWith({ 'leadsheet.yaml': settings, ...(state ? { 'data/webhook.json': state } : {}) })
  const config = loadConfig({ cwd, env: {} })
  if (state === undefined) await saveRegistration(join(config.dataDir, 'webhook.json'), REGISTERED)
  if (state === '{') chmodSync(join(config.dataDir, 'webhook.json'), 0o644)
  const open = async () => {
    const source = openSource({ baseUrl: 'http://127.0.0.1:1', apiKey: '', maxWaitMs: 0, log: SILENT })
    const list = async () => {
      if (listed instanceof LeadsheetError) throw listed
      return listed
    }
    return { ...source, webhooks: { ...source.webhooks, list } }
  }
  const checks = await Array.fromAsync(checkWebhook(config, open, new AbortController().signal))
  return checks.map((check) => lineOf(check).replaceAll(cwd, 'FOLDER'))
}

function lineOf({ status, what, found, remedy }: CheckResult): string {
  return `  ${status} ${what}: ${found}${remedy === null ? '' : ` -> ${remedy}`}\n`
}

it('the doctor says of the webhook how it stands, and what to do', async () => {
  const told: string[] = []
  for (const [title, situation] of Object.entries(SITUATIONS))
    told.push(`${title}\n${(await examine(situation)).join('')}`)
  await expect(told.join('\n')).toMatchFileSnapshot('golden/webhook-checks.txt')
})

/** An example is what the profile says of webhooks, and below it the settings. */
it('the settings warn of events that nobody verifies, and of secrets that are of no use, cannot be read or are not shared', () =>
  checkExamples(join(import.meta.dirname, 'golden/webhook-warnings.txt'), (input) => {
    const [webhook = '', ...settings] = input.split('\n')
    const theirs = `{ name: theirs, paging: { kind: none }, mapping: { lead: { id: id } }, ${webhook} }`
    const cwd = folderWith({ 'leadsheet.yaml': settings.join('\n'), 'theirs.yaml': theirs })
    return webhookWarnings(loadConfig({ cwd, env: {} }))
  }))

it('the key of the settings is found in the DNS, or the record to publish is told', async () => {
  const { text } = dnsRecordOf(DKIM_KEY)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const other = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const told: string[] = []
  for (const [how, records] of Object.entries<string[]>({
    'as it is': [text],
    'beside another record': ['v=spf1 -all', text.replace('; p=', ';p = ')],
    nowhere: [],
    revoked: ['v=DKIM1; p='],
    'as another': [dnsRecordOf({ ...DKIM_KEY, privateKey: other }).text],
  })) {
    const ask: AskDns = async (name) => (name === 'leadsheet._domainkey.example.com' ? records : [])
    const line = lineOf(await checkSignature(DKIM_KEY, ask))
    told.push(`${how}\n${line.replace(text, 'RECORD')}`)
  }
  await expect(told.join('\n')).toMatchFileSnapshot('golden/signature-checks.txt')
})

it('the way out of a report is told', async () => {
  const settings = [
    'mail: { reply_to: stop@example.com }',
    'web: { public_url: https://reports.example.com/ }',
    'web: { public_url: "http://localhost:8080" }',
  ]
  const told = settings.map((yaml) => {
    const config = loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml }), env: {} })
    return `${yaml}\n${lineOf(checkUnsubscribe(config))}`
  })
  await expect(told.join('\n')).toMatchFileSnapshot('golden/unsubscribing.txt')
})
