// @long
/** `npx leadsheet webhooks` with a real service and a real daemon that receives the messages. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { webhookListSchema } from '../../../../src/contract/webhook.ts'
import { startService, type TestService } from '../../../service/support/service.ts'
import { folderWith } from '../../../support/folder.ts'
import { finished, startLeadsheet } from '../../../support/leadsheet.ts'
import { freePort } from '../../../support/network/free-port.ts'
import { openInTime } from '../../../support/network/in-time.ts'
import { readAddress } from '../../../support/process/daemon-address.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

let api: TestService
beforeAll(async () => {
  // Signatures contain the time and the daemon checks it, so the service uses the real clock.
  api = await startService({ historyDays: 1, webhooksToLoopback: true, now: Date.now })
})
afterAll(() => api[Symbol.asyncDispose]())
beforeEach(async () => {
  for (const { id } of await listed()) await api.post(`/webhooks/${id}`, {}, { method: 'DELETE' })
  expect(await listed()).toEqual([])
})

async function listed() {
  return webhookListSchema.parse((await api.get('/webhooks')).json).data
}

/** @param url of the service, or of a proxy in front of it */
function installation(publicUrl: string, url = api.service.url) {
  const cwd = folderWith({
    'leadsheet.yaml': `
reports: []
snapshot: { when: never }
sync: { schedule: 0 4 1 1 *, full_schedule: 0 5 1 1 * }
web: { listen: "${publicUrl.replace('http://', '')}", public_url: "${publicUrl}" }
`,
  })
  return { cwd, env: { LEADSHEET_API_URL: url, LEADSHEET_API_KEY: api.writeKey } }
}

describe('the webhook of a daemon', () => {
  it('is registered, tried and removed while the daemon runs', async () => {
    const publicUrl = `http://127.0.0.1:${await freePort()}`
    const installed = installation(publicUrl)
    const env = { ...installed.env, LEADSHEET_WEB_LISTEN: publicUrl.replace('http://', '') }
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
    expect(readdirSync(join(installed.cwd, 'data'))).not.toContain('webhook.json')
    const ended = once(daemon, 'exit')
    daemon.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('is registered anew where the program is killed before it has the answer, and the lost one is listed', async () => {
    const child = { kill: (): void => undefined }
    // The proxy asks for its time when an answer is there, so the program is killed before it has the first one.
    const proxy = await openInTime(api.service.url, () => {
      child.kill()
      return new Date()
    })
    onTestFinished(proxy.close)
    const installed = installation('http://127.0.0.1:28080', proxy.url)
    const program = startLeadsheet(['webhooks', 'register', '--self'], installed)
    child.kill = () => void program.kill('SIGKILL')
    expect((await finished(program)).status).toBeNull()
    const [lost] = await listed()
    child.kill = () => undefined
    const second = await runWarm(['webhooks', 'register', '--self'], installed)
    const { id } = JSON.parse(readFileSync(join(installed.cwd, 'data/webhook.json'), 'utf8'))
    expect([second.status, second.stdout]).toEqual([
      0,
      expect.stringMatching(`^Webhook +${id}\nURL +http://127.0.0.1:28080/webhooks/leads\nEvents +all\n`),
    ])
    expect(second.stdout).toMatch(/Test +not now, since no daemon runs here/)
    expect(second.stderr).toContain('Its secret is in data/webhook.json')
    expect(id).not.toBe(lost?.id)
    expect((await listed()).map((webhook) => webhook.id).sort()).toEqual([id, lost?.id].sort())
  })
})
