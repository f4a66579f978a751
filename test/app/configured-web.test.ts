// @long
/** The pages of recipients as the daemon serves them, and the resulting views of the operator. */
import { expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { finished, startLeadsheet } from '../support/leadsheet.ts'
import { readAddress } from '../support/process/daemon-address.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { startUpstream } from '../support/upstream.ts'
import { clickOnce } from '../support/web/web.ts'

const SETTINGS = `
web: { public_url: https://reports.example.com }
mail: { url: file:./outbox, from: reports@example.com }
recipients: [ana@example.com]
`

it('the daemon serves the page that a link leads to, and does what is chosen on it', async () => {
  await using upstream = await startUpstream(5)
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS })
  const env = {
    LEADSHEET_API_URL: upstream.url,
    LEADSHEET_API_KEY: 'test-key',
    LEADSHEET_WEB_LISTEN: '127.0.0.1:0',
  }
  const daemon = startLeadsheet(['run'], { cwd, env })
  const listen = await readAddress(daemon.stderr)
  const { stdout } = await runWarm(['recipients', 'link', 'ana@example.com', '--json'], { cwd, env })
  const [{ url }] = JSON.parse(stdout).data
  const page = url.replace('https://reports.example.com', listen)
  expect(await (await fetch(page)).text()).toContain('You get this report.')
  expect((await clickOnce(page)).status).toBe(200)
  // From outside and without a token, machines may ask whether the daemon is alive, and see nothing else.
  const asked = ['/healthz', '/readyz', '/metrics'].map((path) => fetch(`${listen}${path}`))
  const [live, ready, metrics] = await Promise.all(asked)
  expect([live?.status, await live?.json(), metrics?.status]).toEqual([200, { live: true }, 403])
  expect(await ready?.json()).toMatchObject({ checks: { database: 'ok', daemon: 'ok' } })
  const list = await runWarm(['recipients', '--json'], { cwd, env })
  expect(JSON.parse(list.stdout).data).toMatchObject([
    { address: 'ana@example.com', state: 'unsubscribed', changed_by: 'recipient' },
  ])
  const revoke = await runWarm(['recipients', 'link', '--revoke', '--yes'], { cwd, env })
  expect([revoke.status, revoke.stderr]).toEqual([1, expect.stringContaining('A daemon is already running')])
  daemon.kill('SIGTERM')
  expect((await finished(daemon)).status).toBe(0)
})
