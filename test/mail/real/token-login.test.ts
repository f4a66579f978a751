/**
 * A report on its whole way with a login by OAuth: tokens of oidc-provider, which last 20 s, let it through Postfix, at
 * which no password does, into a mailbox of Dovecot, which asks oidc-provider about each token.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CLIENT, missingOidc, startOidc } from '../../foreign/oidc.ts'
import { folderWith } from '../../support/folder.ts'
import { runLeadsheet } from '../../support/leadsheet.ts'
import { USER } from '../../support/mail/token-login.ts'
import { isSkipped } from '../../support/process/programs.ts'
import { startService } from '../../support/service.ts'
import { missingDovecot, startDovecot } from './dovecot.ts'
import { missingPostfix, startPostfix } from './postfix.ts'

const canRun = !isSkipped('a report with a login by OAuth', missingOidc(), missingPostfix(), missingDovecot())
const TEST_MS = 180_000
const LIFETIME_MS = 20_000

async function openInstallation() {
  const oidc = await startOidc()
  // Encoded as in a form first (RFC 6749, 2.3.1), and then for the URL.
  const secret = encodeURIComponent(encodeURIComponent(CLIENT.secret))
  const { lmtpPort, authPort, untilArrived } = await startDovecot(
    `${oidc.url.replace('//', `//${CLIENT.id}:${secret}@`)}/token/introspection`,
  )
  const port = await startPostfix(lmtpPort, authPort)
  const service = await startService(folderWith(), new Date(), 2)
  const key = await service.createKey({ name: 'test', scope: 'read' })
  const settings = `
api: { url: "${service.url}", key_file: key }
web: { listen: none }
mail:
  url: smtp://${encodeURIComponent(USER)}@127.0.0.1:${port}
  from: ${USER}
  oauth: { token_url: "${oidc.url}/token", client_id: ${CLIENT.id}, client_secret_file: secret }
reports: [{ name: daily, schedule: "0 7 * * *" }]
`
  const cwd = folderWith({ key, secret: CLIENT.secret, 'leadsheet.yaml': settings })
  const run = (...args: string[]) => runLeadsheet(args, { cwd })
  return {
    oidc,
    cwd,
    run,
    /** Runs the doctor with changed settings. */
    async doctorWith(change: (settings: string) => string): Promise<string> {
      writeFileSync(join(cwd, 'other.yaml'), change(settings))
      return (await run('doctor', '--config', 'other.yaml')).stdout
    },
    /** Sends the report to an address, and waits until it is in the mailbox. */
    async send(address: string): Promise<string> {
      const sent = await run('report', 'preview', 'daily', '--to', address)
      expect(sent, sent.stdout + sent.stderr).toMatchObject({ status: 0 })
      return (await untilArrived(address, ['text']))[0]?.['text'] ?? ''
    },
    [Symbol.asyncDispose]: service[Symbol.asyncDispose],
  }
}

test.runIf(canRun)(
  'a report arrives with a token, after the token has expired and after it was revoked, and with no password',
  async () => {
    await using installation = await openInstallation()
    const { oidc, cwd, run, send } = installation
    expect(await run('sync')).toMatchObject({ status: 0 })
    const { stdout } = await run('doctor')
    expect(stdout).toMatch(/^ok {4}mail login +client_credentials at http:\S+\/token, token lasts until /m)
    expect(stdout).toMatch(/^ok {4}mail +smtp:\S+ lets us in$/m)
    expect(await send('ana@example.org')).toMatch(/^From: .*reports@example\.com/m)
    const first = (await oidc.state()).tokens
    expect(first).toBe(1)

    await sleep(LIFETIME_MS)
    await send('ben@example.org')
    expect((await oidc.state()).tokens).toBe(2)

    await oidc.admin('revoke-access')
    await send('cem@example.org')
    expect((await oidc.state()).tokens).toBe(3)

    // A token for another mailbox.
    const refused = await installation.doctorWith((it) => it.replace('reports%40', 'boss%40'))
    expect(refused).toMatch(/^ok {4}mail login/m)
    expect(refused).toMatch(/^fail +mail +smtp:\S+ did not take the access token: 535 5\.7\.8/m)

    writeFileSync(join(cwd, 'secret'), 'another-secret')
    await oidc.admin('revoke-access')
    const gone = await run('report', 'preview', 'daily', '--to', 'dana@example.org')
    expect(gone.stderr).toMatch(
      /was not asked: no access token: http:\S+\/token answered 401: invalid_client/,
    )
    expect(gone.stderr).toContain('Check mail.oauth.client_id and mail.oauth.client_secret')

    const basic = await installation.doctorWith((it) =>
      it.replace(/ {2}oauth: .*/, '').replace(/(?<=smtp:.*)@/, ':hunter22@'),
    )
    expect(basic).toMatch(/^fail +mail +smtp:\S+ did not let us in/m)
  },
  TEST_MS,
)
