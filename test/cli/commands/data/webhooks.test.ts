// @long
/** `npx leadsheet webhooks` with a real service and a real daemon that receives the messages. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { webhookListSchema } from '../../../../src/contract/webhook.ts'
import { startService, type TestService } from '../../../service/support/service.ts'
import { folderWith } from '../../../support/folder.ts'
import { finished, startLeadsheet } from '../../../support/leadsheet.ts'
import { freePort } from '../../../support/network/free-port.ts'
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
function installation(publicUrl: string | null, url = api.service.url) {
  const web = `{ listen: "${publicUrl?.replace('http://', '') ?? '127.0.0.1:0'}"${publicUrl ? `, public_url: "${publicUrl}"` : ''} }`
  const cwd = folderWith({
    'leadsheet.yaml': `reports: []\nsnapshot: { when: never }\nsync: { schedule: 0 4 1 1 *, full_schedule: 0 5 1 1 * }\nweb: ${web}\n`,
  })
  return { cwd, env: { LEADSHEET_API_URL: url, LEADSHEET_API_KEY: api.writeKey } }
}

/** Runs the commands one after the other. Returns all that they have printed. */
async function runAll(options: ReturnType<typeof installation>, commands: readonly string[]) {
  const runs = []
  for (const line of commands) runs.push(await runWarm([...line.split(' '), '--json'], options))
  return {
    stdout: runs.map(({ stdout }) => stdout).join(''),
    stderr: runs.map(({ stderr }) => stderr).join(''),
  }
}

/** Returns the outputs that commands have printed one after the other. */
function answersIn(stdout: string) {
  const documents = stdout.split(/(?<=^\})\n/m).filter((text) => text !== '')
  return documents.map((text) => JSON.parse(text).data)
}

describe('the webhook of a daemon', () => {
  it('is registered, tried and removed while the daemon runs', async () => {
    const publicUrl = `http://127.0.0.1:${await freePort()}`
    const installed = installation(publicUrl)
    const env = { ...installed.env, LEADSHEET_WEB_LISTEN: publicUrl.replace('http://', '') }
    const daemon = startLeadsheet(['run'], { ...installed, env })
    await readAddress(daemon.stderr)
    const { stdout, stderr } = await runAll(installed, [
      'webhooks register --self',
      'webhooks register --self',
      'webhooks list',
      'doctor',
      'webhooks remove --yes',
      'webhooks list',
    ])
    const url = `${publicUrl}/webhooks/leads`
    const delivered = { outcome: 'delivered', status: 204 }
    const [first, again, list, examined, removed, none] = answersIn(stdout)
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
    expect(stdout + stderr).not.toContain('whsec_')
    expect(readdirSync(join(installed.cwd, 'data'))).not.toContain('webhook.json')
    const ended = once(daemon, 'exit')
    daemon.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('is registered anew where the program is killed before it has the answer, and the lost one is listed', async () => {
    const child = { kill: (): void => undefined }
    // A proxy that passes requests on, and kills the program when the first POST has been answered.
    const before = createServer(async (request, response) => {
      const { method = 'GET', headers, url = '' } = request
      const answer = await fetch(new URL(url, api.service.url), {
        method,
        headers: {
          authorization: headers.authorization ?? '',
          'content-type': headers['content-type'] ?? 'application/json',
          ...(headers['idempotency-key'] === undefined
            ? {}
            : { 'idempotency-key': `${headers['idempotency-key']}` }),
        },
        body: method === 'POST' ? await buffer(request) : null,
      })
      child.kill()
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
    await new Promise<void>((resolve) => before.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void before.close())
    const { port } = before.address() as AddressInfo
    const installed = installation('http://127.0.0.1:28080', `http://127.0.0.1:${port}/api/v1`)
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
