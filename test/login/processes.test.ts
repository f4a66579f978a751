/** Several processes of one installation, which share a rotated refresh token, and kills of them. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { killProgram, start } from '../crash/support/program.ts'
import { runScript } from '../support/leadsheet.ts'
import { openWithLogin } from './support/installation.ts'

const SCRIPT = join(import.meta.dirname, 'support/ask-tokens.ts')

async function openInstallation() {
  const installation = await openWithLogin()
  const { cwd } = installation
  return {
    ...installation,
    /** Runs a process that asks for a token, and then for this number of others. */
    async ask(others = 0): Promise<readonly string[]> {
      const { status, stdout, stderr } = await runScript([SCRIPT, String(others)], { cwd })
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

it('a process that is killed while it waits for an answer is followed by one that waits for it', async () => {
  await using installation = await openInstallation()
  const { server } = installation
  const isAsked = Promise.withResolvers<void>()
  server.answers.push(() => {
    isAsked.resolve()
    return true
  })
  const child = installation.start()
  await isAsked.promise
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
