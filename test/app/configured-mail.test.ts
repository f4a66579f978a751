/** The API of a provider as the way of sending, from the settings on. */
import { expect, it } from 'vitest'
import { deliveryPolicyOf } from '../../src/app/configured-mail.ts'
import { checkMailServer } from '../../src/cli/installation-checks.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'
import { apiFault, startMailApi } from '../support/mail/api-server.ts'
import { startTokenServer } from '../support/network/token-server.ts'
import { SILENT } from '../support/syncing.ts'

const { signal } = new AbortController()

function configOf(mail: string) {
  const cwd = folderWith({ 'leadsheet.yaml': `api: { url: "http://127.0.0.1:1" }\nmail: ${mail}\n` })
  return loadConfig({ cwd, env: { LEADSHEET_API_KEY: 'k-123456' } })
}

/** Returns the last check, which is the failed one or that of the provider. */
const check = async (config: ReturnType<typeof configOf>) =>
  (await Array.fromAsync(checkMailServer(config, { log: SILENT, signal }))).at(-1)

it('is tested with the key in the URL, and its rate is limited', async () => {
  await using api = await startMailApi('resend')
  const config = configOf(`{ url: "${api.url}", per_minute: 2 }`)
  api.acts.push({ status: 200, body: { data: [{ name: 'example.com', status: 'verified' }] } })
  expect(await check(config)).toMatchObject({
    status: 'ok',
    found: `resend://${api.host} takes the key, and has verified example.com`,
  })
  const { rateLimit } = deliveryPolicyOf(config)
  const now = new Date()
  for (const waits of [false, false, true]) {
    expect(rateLimit.msToWait(now) > 0).toBe(waits)
    rateLimit.take(now)
  }
})

it('is tested with a token of mail.oauth, and a refusal of the login is told apart', async () => {
  await using server = await startTokenServer()
  await using api = await startMailApi('graph', { allows: server.allows })
  const oauth = `{ token_url: "${server.url}", client_id: leadsheet, client_secret: client-secret-4711 }`
  const config = configOf(`{ url: "${api.url}", oauth: ${oauth} }`)
  api.acts.push(apiFault('graph', 403, 'Authorization_RequestDenied', 'no'))
  expect((await check(config))?.found).toContain('takes the token')
  const refused = await check(configOf(`{ url: "${api.url}", oauth: ${oauth.replace('4711', '4712')} }`))
  expect(refused).toMatchObject({ status: 'fail', found: expect.stringContaining('invalid_client') })
  expect(refused?.remedy).toContain('mail.oauth.client_secret')
})
