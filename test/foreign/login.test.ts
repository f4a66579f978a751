/**
 * A user's whole way to a list behind a real authorization server (oidc-provider): `init` on a terminal, and syncs
 * with tokens of 20 s, with kills, and with tokens that are revoked in mid-scan.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { type Finished, finished, runLeadsheet, startLeadsheet } from '../support/leadsheet.ts'
import { isSkipped } from '../support/process/programs.ts'
import { HAS_TERMINAL, typeTo } from '../support/process/typed.ts'
import type { UpstreamRecord } from './real-server.ts'
import { startProcess, untilTrue } from './server-process.ts'

const CLIENT = { id: 'leadsheet', secret: 'a-secret+of/the client' }
const isInstalled = existsSync(join(import.meta.dirname, 'node_modules/oidc-provider'))
const canRun =
  !isSkipped('a login at oidc-provider', isInstalled ? null : 'npm ci --prefix test/foreign') && HAS_TERMINAL
const LEADS = 1_500
/** The list has 30 pages, so that a scan takes longer than a token lasts. */
const PAUSE_MS = 1_000
const TEST_MS = 600_000

interface State {
  readonly pages: number
  readonly refused: number
  readonly tokens: number
  readonly failures: number
}

async function startOidc() {
  const server = startProcess(process.execPath, [
    join(import.meta.dirname, 'oidc-process.mjs'),
    CLIENT.id,
    CLIENT.secret,
  ])
  const portIn = (output: string) => /^(\d+)$/m.exec(output)?.[1]
  await untilTrue(server, async () => portIn(server.output) !== undefined)
  const url = `http://127.0.0.1:${portIn(server.output)}`
  const admin = async (name: string, body: unknown = null): Promise<Record<string, never>> =>
    (await fetch(`${url}/admin/${name}`, { method: 'POST', body: JSON.stringify(body) })).json() as never
  return {
    url,
    admin,
    consent: async (): Promise<string> => (await admin('consent'))['refreshToken'] ?? '',
    state: async (): Promise<State> => (await admin('state')) as unknown as State,
  }
}

type Oidc = Awaited<ReturnType<typeof startOidc>>

function contact(index: number): UpstreamRecord {
  const hours = (count: number): string => new Date(Date.UTC(2026, 0, 1) + count * 3_600_000).toISOString()
  return {
    id: `c-${index}`,
    name: `Ada ${index}`,
    email: `ada${index}@company${index}.example`,
    stage: ['new', 'contacted', 'won', 'lost'][index % 4],
    created_at: hours(index),
    updated_at: hours(3_000 + ((index * 7919) % 5_000)),
  }
}

/** Answers `init` as a user does. */
async function init(cwd: string, { url }: Oidc, refreshToken: string | null): Promise<Finished['stdout']> {
  const typing = typeTo(['init'], { cwd })
  await typing.answer('Address of the service', `\x15${url}/crm\r`)
  await typing.answer('API key', 'oauth\r')
  await typing.answer('Token URL', `${url}/token\r`)
  await typing.answer('Grant', refreshToken === null ? '\r' : '\x15refresh_token\r')
  await typing.answer('Client id', `${CLIENT.id}\r`)
  await typing.answer('Client secret (', `${CLIENT.secret}\r`)
  await typing.answer('Client secret in', '\r')
  if (refreshToken !== null) await typing.answer('Refresh token', `${refreshToken}\r`)
  await typing.answer('Scope', '\r')
  await typing.answer('Mail server', '\r')
  await typing.answer('Sender', '\r')
  await typing.answer('Addresses for the report', 'ana@example.com\r')
  await typing.answer('Addresses for alerts', '\r')
  await typing.answer('Time zone', '\r')
  await typing.answer('When', '\r')
  await typing.answer('Where the dashboard listens', '\x15none\r')
  await typing.answer('Send a test alert', 'n\r')
  return (await typing.finished()).screen
}

async function stored(cwd: string): Promise<ReadonlyMap<string, unknown>> {
  await using store = await openStore(join(cwd, 'data', 'leadsheet.db'), new Date())
  const rows = await store.db
    .selectFrom('lead')
    .innerJoin('lead_raw', 'lead_raw.lead_no', 'lead.no')
    .select(['id', 'raw'])
    .where('deleted_at', 'is', null)
    .execute()
  return new Map(rows.map(({ id, raw }) => [id, JSON.parse(raw)]))
}

const asMap = (leads: readonly UpstreamRecord[]) => new Map(leads.map((lead) => [String(lead['id']), lead]))
const sync = (cwd: string) => runLeadsheet(['sync', '--only', 'leads', '--full', '--json'], { cwd })

test.runIf(canRun)(
  'a login with a rotated refresh token is set up by init, and syncs exactly through kills and revocations',
  async () => {
    const oidc = await startOidc()
    const leads = Array.from({ length: LEADS }, (_, index) => contact(index))
    await oidc.admin('leads', leads)
    const cwd = folderWith()
    const screen = await init(cwd, oidc, await oidc.consent())
    expect(screen).toMatch(/^ok {4}login +refresh_token at http:\S+\/token, token lasts until /m)
    expect(screen).not.toContain(CLIENT.secret)

    await oidc.admin('pause', { ms: PAUSE_MS })
    // Kills while pages are read, which lie apart from the requests for tokens.
    for (let kills = 0; kills < 3; kills++) {
      const { pages } = await oidc.state()
      const child = startLeadsheet(['sync', '--only', 'leads', '--full'], { cwd })
      const ended = finished(child)
      await expect
        .poll(async () => (await oidc.state()).pages, { timeout: 120_000 })
        .toBeGreaterThan(pages + 4)
      child.kill('SIGKILL')
      await ended
    }

    const before = await oidc.state()
    const running = sync(cwd)
    await expect
      .poll(async () => (await oidc.state()).pages, { timeout: 120_000 })
      .toBeGreaterThan(before.pages + 3)
    await oidc.admin('revoke-access')
    const whole = await running
    expect(whole, whole.stdout + whole.stderr).toMatchObject({ status: 0 })
    expect(await stored(cwd)).toEqual(asMap(leads))
    const after = await oidc.state()
    expect(after.refused).toBeGreaterThan(before.refused)
    expect(after.failures).toBe(0)
    expect(after.tokens).toBeGreaterThan(before.tokens)

    const changed = leads.map((lead, index) => (index % 97 === 0 ? { ...lead, stage: 'won' } : lead)).slice(7)
    await oidc.admin('leads', [...changed, contact(LEADS)])
    const { pages } = await oidc.state()
    const failing = sync(cwd)
    await expect.poll(async () => (await oidc.state()).pages, { timeout: 120_000 }).toBeGreaterThan(pages + 3)
    await oidc.admin('revoke-grant')
    const failed = await failing
    expect(failed.status).not.toBe(0)
    expect(failed.stdout + failed.stderr).toMatch(/no access token: .* 400: invalid_grant/)
    expect(failed.stdout + failed.stderr).toContain('docs/how-to/log-in-to-your-crm.md')

    writeFileSync(join(cwd, 'secrets', 'refresh-token'), await oidc.consent())
    await oidc.admin('pause', { ms: 0 })
    for (let scans = 0; scans < 3; scans++) expect(await sync(cwd)).toMatchObject({ status: 0 })
    expect(await stored(cwd)).toEqual(asMap([...changed, contact(LEADS)]))
  },
  TEST_MS,
)

test.runIf(canRun)(
  'a login with client credentials outlives its tokens of 20 s within one scan',
  async () => {
    const oidc = await startOidc()
    const leads = Array.from({ length: LEADS }, (_, index) => contact(index))
    await oidc.admin('leads', leads)
    const cwd = folderWith()
    expect(await init(cwd, oidc, null)).toMatch(/^ok {4}login +client_credentials at /m)
    await oidc.admin('pause', { ms: PAUSE_MS })
    const before = await oidc.state()
    expect(await sync(cwd)).toMatchObject({ status: 0 })
    expect(await stored(cwd)).toEqual(asMap(leads))
    const after = await oidc.state()
    expect({ refused: after.refused, failures: after.failures }).toEqual({
      refused: before.refused,
      failures: 0,
    })
    expect(after.tokens - before.tokens).toBeGreaterThanOrEqual(2)
  },
  TEST_MS,
)
