/**
 * A user's whole way to a list behind a real authorization server (oidc-provider): `init` on a terminal, and syncs
 * with tokens of 20 s, with kills, and with tokens that are revoked in mid-scan.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { finished, runLeadsheet, startLeadsheet } from '../support/leadsheet.ts'
import { isSkipped } from '../support/process/programs.ts'
import { HAS_TERMINAL, typeTo } from '../support/process/typed.ts'
import { CLIENT, missingOidc, startOidc } from './oidc.ts'
import { afterHours, storedIn, type UpstreamRecord } from './real-server.ts'

const canRun = !isSkipped('a login at oidc-provider', missingOidc()) && HAS_TERMINAL
const LEADS = 1_500
/** The list has 30 pages, so that a scan takes longer than a token lasts. */
const PAUSE_MS = 1_000
const TEST_MS = 600_000

async function startCrm() {
  const oidc = await startOidc()
  const leads = Array.from({ length: LEADS }, (_, index) => contact(index))
  await oidc.admin('leads', leads)
  return {
    ...oidc,
    leads,
    /** Waits until so many more pages have been read. */
    async untilRead(more: number): Promise<void> {
      const { pages } = await oidc.state()
      const read = async () => (await oidc.state()).pages - pages
      await expect.poll(read, { timeout: 120_000 }).toBeGreaterThan(more)
    },
  }
}

function contact(index: number): UpstreamRecord {
  return {
    id: `c-${index}`,
    name: `Ada ${index}`,
    email: `ada${index}@company${index}.example`,
    stage: ['new', 'contacted', 'won', 'lost'][index % 4],
    created_at: afterHours(index),
    updated_at: afterHours(3_000 + ((index * 7919) % 5_000)),
  }
}

/** Answers `init` as a user does. */
async function init(cwd: string, url: string, refreshToken: string | null): Promise<string> {
  const typing = typeTo(['init'], { cwd })
  await typing.answer('Address of the service', `\x15${url}/crm\r`)
  await typing.answer('API key', 'oauth\r')
  await typing.answer('Token URL', `${url}/token\r`)
  await typing.answer('Grant', refreshToken === null ? '\r' : '\x15refresh_token\r')
  await typing.answer('Client id', `${CLIENT.id}\r`)
  await typing.answer('Client secret (', `${CLIENT.secret}\r`)
  await typing.answer('How id and secret', '\r')
  if (refreshToken !== null) await typing.answer('Refresh token', `${refreshToken}\r`)
  for (const question of ['Scope', 'Mail server', 'Sender']) await typing.answer(question, '\r')
  await typing.answer('Addresses for the report', 'ana@example.com\r')
  for (const question of ['Addresses for alerts', 'Time zone', 'When']) await typing.answer(question, '\r')
  await typing.answer('Where the dashboard listens', '\x15none\r')
  await typing.answer('Send a test alert', 'n\r')
  return (await typing.finished()).screen
}

const asMap = (leads: readonly UpstreamRecord[]) => new Map(leads.map((lead) => [String(lead['id']), lead]))
const sync = (cwd: string) => runLeadsheet(['sync', '--only', 'leads', '--full', '--json'], { cwd })

test.runIf(canRun)(
  'a login with a rotated refresh token is set up by init, and syncs exactly through kills and revocations',
  async () => {
    const oidc = await startCrm()
    const cwd = folderWith()
    const screen = await init(cwd, oidc.url, await oidc.consent())
    expect(screen).toMatch(/^ok {4}login +refresh_token at http:\S+\/token, token lasts until /m)
    expect(screen).not.toContain(CLIENT.secret)

    await oidc.admin('pause', { ms: PAUSE_MS })
    // Kills while pages are read, which lie apart from the requests for tokens.
    for (let kills = 0; kills < 3; kills++) {
      const child = startLeadsheet(['sync', '--only', 'leads', '--full'], { cwd })
      const ended = finished(child)
      await oidc.untilRead(4)
      child.kill('SIGKILL')
      await ended
    }

    const before = await oidc.state()
    const running = sync(cwd)
    await oidc.untilRead(3)
    await oidc.admin('revoke-access')
    const whole = await running
    expect(whole, whole.stdout + whole.stderr).toMatchObject({ status: 0 })
    expect(await storedIn(cwd)).toEqual(asMap(oidc.leads))
    const after = await oidc.state()
    expect(after.refused).toBeGreaterThan(before.refused)
    expect(after.failures).toBe(0)
    expect(after.tokens).toBeGreaterThan(before.tokens)

    const changed = oidc.leads
      .map((lead, index) => (index % 97 === 0 ? { ...lead, stage: 'won' } : lead))
      .slice(7)
    await oidc.admin('leads', [...changed, contact(LEADS)])
    const failing = sync(cwd)
    await oidc.untilRead(3)
    await oidc.admin('revoke-grant')
    const failed = await failing
    expect(failed.status).not.toBe(0)
    expect(failed.stdout + failed.stderr).toMatch(/no access token: .* 400: invalid_grant/)
    expect(failed.stdout + failed.stderr).toContain('docs/how-to/log-in-to-your-crm.md')

    writeFileSync(join(cwd, 'secrets', 'refresh-token'), await oidc.consent())
    await oidc.admin('pause', { ms: 0 })
    for (let scans = 0; scans < 3; scans++) expect(await sync(cwd)).toMatchObject({ status: 0 })
    expect(await storedIn(cwd)).toEqual(asMap([...changed, contact(LEADS)]))
  },
  TEST_MS,
)

test.runIf(canRun)(
  'a login with client credentials outlives its tokens of 20 s within one scan',
  async () => {
    const oidc = await startCrm()
    const cwd = folderWith()
    expect(await init(cwd, oidc.url, null)).toMatch(/^ok {4}login +client_credentials at /m)
    await oidc.admin('pause', { ms: PAUSE_MS })
    const before = await oidc.state()
    expect(await sync(cwd)).toMatchObject({ status: 0 })
    expect(await storedIn(cwd)).toEqual(asMap(oidc.leads))
    const after = await oidc.state()
    expect({ refused: after.refused, failures: after.failures }).toEqual({
      refused: before.refused,
      failures: 0,
    })
    expect(after.tokens - before.tokens).toBeGreaterThanOrEqual(2)
  },
  TEST_MS,
)
