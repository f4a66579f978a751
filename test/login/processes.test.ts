/** Several processes of one installation, which share a rotated refresh token, and kills of them. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { killProgram, start } from '../crash/support/program.ts'
import { runScript } from '../support/leadsheet.ts'
import { CLIENT, startTokenServer } from '../support/network/token-server.ts'
import { openWithLogin } from './support/installation.ts'

const SCRIPT = join(import.meta.dirname, 'support/ask-tokens.ts')

async function openInstallation() {
  await using opened = new AsyncDisposableStack()
  const mailServer = opened.use(await startTokenServer())
  const installation = opened.use(
    await openWithLogin({
      settings: `mail:
  url: "graph:"
  from: reports@example.com
  oauth: { token_url: "${mailServer.url}", grant: refresh_token, client_id: ${CLIENT.id}, client_secret_file: s, refresh_token_file: m }
`,
      files: { m: mailServer.consent() },
    }),
  )
  const { cwd } = installation
  const closing = opened.move()
  return {
    ...installation,
    mailServer,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
    /** Runs a process that asks for a token, and then for this number of others. */
    async ask(others = 0, login: 'api' | 'mail' = 'api'): Promise<readonly string[]> {
      const { status, stdout, stderr } = await runScript([SCRIPT, String(others), login], { cwd })
      expect(stderr).toBe('')
      expect(status).toBe(0)
      return stdout.trim().split('\n')
    },
    /** Starts a process that is to be killed. */
    start: () => start({ main: SCRIPT, args: ['0'], cwd, env: {} }),
  }
}

it('no refresh token is used twice by processes that all want new tokens', async () => {
  await using installation = await openInstallation()
  const { server } = installation
  const tokens = await Promise.all(Array.from({ length: 4 }, () => installation.ask(6)))
  expect(tokens.flat()).toHaveLength(4 * 7)
  const used = server.asked.map(({ body }) => body['refresh_token'])
  expect(new Set(used).size).toBe(used.length)
  expect(used.length).toBe(server.good.size)
  expect(used.length).toBeGreaterThanOrEqual(7)
})

it('the logins of the API and of mail each have tokens of their own in one file, for all processes', async () => {
  await using installation = await openInstallation()
  const { server, mailServer } = installation
  const logins = ['api', 'mail', 'api', 'mail'] as const
  const tokens = await Promise.all(logins.map((login) => installation.ask(6, login)))
  for (const [index, { asked, good }] of [server, mailServer].entries()) {
    const own = tokens.filter((_list, place) => place % 2 === index).flat()
    expect(own.filter((token) => !good.has(token))).toEqual([])
    const used = asked.map(({ body }) => body['refresh_token'])
    expect(new Set(used).size).toBe(used.length)
    expect(used.length).toBeGreaterThanOrEqual(7)
  }
})

it('a token URL that does not answer holds up no other login', async () => {
  await using installation = await openInstallation()
  const { server, mailServer } = installation
  const isAsked = server.hang()
  const child = installation.start()
  await isAsked
  expect(mailServer.good).toEqual(new Set(await installation.ask(0, 'mail')))
  expect(child.exitCode).toBeNull()
  expect(server.good.size).toBe(0)
  await killProgram(child)
})

it('a process that is killed while it waits for an answer is followed by one that waits for it', async () => {
  await using installation = await openInstallation()
  const { server } = installation
  const isAsked = server.hang()
  const child = installation.start()
  await isAsked
  const next = installation.ask()
  await killProgram(child)
  expect(server.good).toEqual(new Set(await next))
  expect(server.asked).toHaveLength(2)
})

it('a kill between the answer and its commit is the one that loses a rotated refresh token, which is told', async () => {
  await using installation = await openInstallation()
  const { server, cwd } = installation
  const isRotated = Promise.withResolvers<void>()
  server.answers.push(async ({ headers, body }) => {
    const { authorization = '' } = headers
    await fetch(server.url, { method: 'POST', headers: { authorization }, body: new URLSearchParams(body) })
    isRotated.resolve()
    return true
  })
  const child = installation.start()
  await isRotated.promise
  await killProgram(child)
  const { status, stderr } = await runScript([SCRIPT, '0'], { cwd })
  expect(status).toBe(1)
  expect(stderr).toMatch(/no access token: .* answered 400: invalid_grant: grant request is invalid/)
  expect(stderr).toMatch(/Get a new one .* put it into api\.oauth\.refresh_token/)

  installation.consentAgain()
  expect(server.good.has((await installation.ask())[0] ?? '')).toBe(true)
})
