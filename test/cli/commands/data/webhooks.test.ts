// @long
/** `npx leadsheet webhooks` with a real service and a real daemon that receives the messages. */
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startService } from '../../../service/support/service.ts'
import { folderWith } from '../../../support/folder.ts'
import { startLeadsheet } from '../../../support/leadsheet.ts'
import { freePort } from '../../../support/network/free-port.ts'
import { readAddress } from '../../../support/process/daemon-address.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

it('the webhook of a daemon is registered, tried and removed while it runs', async () => {
  // Signatures contain the time and the daemon checks it, so the service uses the real clock.
  await using api = await startService({ historyDays: 1, webhooksToLoopback: true, now: Date.now })
  const listen = `127.0.0.1:${await freePort()}`
  const publicUrl = `http://${listen}`
  const cwd = folderWith({
    'leadsheet.yaml': `
reports: []
snapshot: { when: never }
sync: { schedule: 0 4 1 1 *, full_schedule: 0 5 1 1 * }
web: { listen: "${listen}", public_url: "${publicUrl}" }
`,
  })
  const installed = { cwd, env: { LEADSHEET_API_URL: api.service.url, LEADSHEET_API_KEY: api.writeKey } }
  const env = { ...installed.env, LEADSHEET_WEB_LISTEN: listen }
  const daemon = startLeadsheet(['run'], { ...installed, env })
  await readAddress(daemon.stderr)
  const answers = []
  let said = ''
  for (const line of [
    ...['webhooks register --self', 'webhooks register --self', 'webhooks list', 'doctor'],
    ...['webhooks remove --yes', 'webhooks list'],
  ]) {
    const { stdout, stderr } = await runWarm([...line.split(' '), '--json'], installed)
    answers.push(JSON.parse(stdout).data)
    said += stdout + stderr
  }
  const url = `${publicUrl}/webhooks/leads`
  const delivered = { outcome: 'delivered', status: 204 }
  const [first, again, list, examined, removed, none] = answers
  expect(first).toMatchObject({ url, outcome: 'registered', left_over: null, test: delivered })
  expect(again).toMatchObject({ id: first.id, outcome: 'already', test: delivered })
  expect(list).toMatchObject([{ id: first.id, status: 'active', is_own: true }])
  expect(examined.checks).toContainEqual({
    what: 'webhook',
    status: 'ok',
    found: `${first.id} is active, at ${url}`,
    remedy: null,
  })
  expect([removed, none]).toEqual([{ id: first.id, outcome: 'removed' }, []])
  expect(said).not.toContain('whsec_')
  expect(readdirSync(join(cwd, 'data'))).not.toContain('webhook.json')
  const ended = once(daemon, 'exit')
  daemon.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  const { stdout, stderr } = await runWarm(['webhooks', 'register', '--self'], installed)
  expect(stdout).toMatch(
    /^Webhook +wh_\w+\nURL +.+\nEvents +all\nRegistered .+\nTest +not now, since no daemon runs here/,
  )
  expect(stderr).toContain('Its secret is in data/webhook.json')
})
