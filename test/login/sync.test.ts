/** Whole syncs with a login: tokens that are revoked in mid-scan, and the child process of the daemon. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { syncInProcess } from '../../src/app/sync-process.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openStore } from '../../src/store/open.ts'
import { claimLease } from '../../src/store/schedule/lease.ts'
import { folderWith } from '../support/folder.ts'
import { checkTranscript } from '../support/process/transcript.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { SILENT } from '../support/syncing.ts'
import { startUpstream, status } from '../support/upstream.ts'
import { openWithLogin } from './support/installation.ts'

const LEADS = 100

const openInstallation = () =>
  openWithLogin({
    leads: LEADS,
    settings: 'data_dir: .\nenrichment: { policy: none }\nreports: []\n',
  })

const sync = (cwd: string) => runWarm(['sync', '--only', 'leads', '--json'], { cwd })

it('a sync whose login is revoked in mid-scan ends with what to do, and the next one goes on from there', async () => {
  await using installation = await openInstallation()
  const { server, upstream, cwd } = installation
  installation.beforePage(6, server.revoke)
  const failed = await sync(cwd)
  expect(failed.status).not.toBe(0)
  const said = failed.stdout + failed.stderr
  expect(said).toMatch(/no access token: .* 400: invalid_grant/)
  expect(said).toContain('docs/how-to/log-in-to-your-crm.md')
  const { inserted } = JSON.parse(failed.stdout).data.leads
  expect(inserted).toBeGreaterThan(0)

  expect((await runWarm(['doctor'], { cwd })).stdout).toMatch(
    /^fail {2}list of leads +no access token: .*\n.*restart the daemon/m,
  )

  installation.consentAgain()
  upstream.requests.length = 0
  const rest = await sync(cwd)
  expect(JSON.parse(rest.stdout).data.leads).toMatchObject({ inserted: LEADS - inserted })
  expect(upstream.requests[0]?.path).toContain('cursor=')
  expect((await runWarm(['doctor'], { cwd })).stdout).toMatch(
    /^ok {4}login +refresh_token at http:\S+\/token, token lasts until 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/m,
  )
})

it('a token that is refused although it is new is told as such, after two requests', async () => {
  await using installation = await openInstallation()
  const { server, upstream, cwd } = installation
  upstream.allows = () => false
  const { status, stdout, stderr } = await sync(cwd)
  expect(status).not.toBe(0)
  expect(stdout + stderr).toMatch(/does not accept the access token \(401\)/)
  expect(stdout + stderr).toMatch(/The token is new, .*api\.oauth\.scope/)
  expect(upstream.requests).toHaveLength(2)
  expect(server.asked).toHaveLength(2)
})

it('the process of a scheduled sync takes the token from the file', async () => {
  await using installation = await openInstallation()
  const { server, cwd } = installation
  expect((await runWarm(['doctor'], { cwd })).stdout).toMatch(/^ok {4}login /m)
  const config = loadConfig({ cwd, env: {}, file: 'leadsheet.yaml' })
  await using store = await openStore(join(cwd, 'leadsheet.db'), new Date())
  const lease = await claimLease(store, 'sync', () => new Date())
  installation.beforePage(3, () => server.good.clear())
  const result = await syncInProcess(config, SILENT, () => {})(true, lease, new AbortController().signal)
  expect(result.scan).toMatchObject({ result: 'complete', distinct: LEADS })
  expect(server.asked).toHaveLength(2)
  await lease.release()
})

it('doctor says of a login that is refused what to do, and asks the service nothing', async () => {
  await using installation = await openInstallation()
  const { upstream, cwd } = installation
  writeFileSync(join(cwd, 's'), 'another-secret')
  const { stdout } = await runWarm(['doctor'], { cwd })
  expect(stdout).toMatch(
    /^fail {2}login +no access token: .* 401: invalid_client\n +Check api\.oauth\.client_id/m,
  )
  expect(stdout).not.toContain('list of leads')
  expect(upstream.requests).toEqual([])
})

it('two secrets go along in the headers that the profile names, and without one probe is named', async () => {
  await using upstream = await startUpstream(3)
  const profile = `
name: two
auth: { value: "", headers: { X-App: "{key}", X-App-Secret: "app {secret}" } }
paging: { kind: cursor, param: cursor, next: page.next_cursor }
envelope: { leads: data }
mapping: { lead: { id: id, status: status, updated_at: updated_at } }
`
  const settings = (api: string) => `data_dir: .\nreports: []\napi: { url: "${upstream.url}", ${api} }`
  const cwd = folderWith({
    'p.yaml': profile,
    'two.yaml': settings('profile: p.yaml, key: app-4711, secret: s-4712'),
    'lacking.yaml': settings('profile: p.yaml, key: app-4711'),
    'useless.yaml': settings('key: app-4711, secret: s-4712'),
    'foreign.yaml': settings('key: app-4711'),
  })
  upstream.faults.push(() => false, status(404))
  await checkTranscript(join(import.meta.dirname, 'golden/two-secrets.txt'), { cwd })
  expect(upstream.requests[0]?.headers).toMatchObject({ 'x-app': 'app-4711', 'x-app-secret': 'app s-4712' })
  const { stdout } = await runWarm(['sync', '--new', '--json', '--config', 'foreign.yaml'], { cwd })
  expect(JSON.parse(stdout).data.problems[0].hint).toMatch(
    /^No profile .*probe URL.*\(from foreign\.yaml:3:\d+\)/,
  )
})
