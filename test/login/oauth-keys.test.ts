/** When a token is fetched, and what is kept of it. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, test } from 'vitest'
import { openOAuthKeys } from '../../src/login/oauth-keys.ts'
import type { Login } from '../../src/login/token-request.ts'
import { folderWith } from '../support/folder.ts'
import { loginOf, startTokenServer, tokenAnswer } from '../support/network/token-server.ts'
import { SILENT } from '../support/syncing.ts'

const START = Date.parse('2026-11-21T06:00:00Z')
const NO_SIGNAL = new AbortController().signal

/** An installation whose processes are sources of keys, and whose clock a test sets. */
async function openInstallation(more: Partial<Login> = {}, lifetime = 3600) {
  const server = await startTokenServer(lifetime)
  onTestFinished(() => server[Symbol.asyncDispose]())
  const file = join(folderWith(), 'data', 'tokens.db')
  const clock = { ms: START }
  const login = loginOf(server.url, { grant: 'refresh_token', refreshToken: server.consent(), ...more })
  return {
    server,
    file,
    clock,
    login,
    open(changed: Partial<Login> = {}, deps: Partial<Parameters<typeof openOAuthKeys>[1]> = {}) {
      const now = () => new Date(clock.ms)
      const usual = { file, log: SILENT, now, maxWaitMs: 0, backoff: { attempts: 1, baseMs: 0, maxMs: 0 } }
      const keys = openOAuthKeys({ ...login, ...changed }, { ...usual, ...deps })
      onTestFinished(keys.close)
      return keys
    },
  }
}

it('fetches one token for all that ask at the same time, in a file that only its owner may read', async () => {
  const { server, file, open } = await openInstallation()
  const all = [open(), open(), open()]
  const tokens = await Promise.all([...all, ...all].map((keys) => keys.current(NO_SIGNAL)))
  expect(new Set(tokens)).toEqual(server.good)
  expect(server.asked).toHaveLength(1)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

it.each([
  [3600, 3539, 3541],
  [20, 14, 16],
  [2, 1, 1.6],
])(
  'fetches another token before the end of one of %i s, with the new refresh token',
  async (lifetime, still, late) => {
    const { server, clock, file, open } = await openInstallation({}, lifetime)
    const keys = open()
    const first = await keys.current(NO_SIGNAL)
    clock.ms = START + still * 1000
    expect(await keys.current(NO_SIGNAL)).toBe(first)
    expect(await open().current(NO_SIGNAL)).toBe(first)
    clock.ms = START + late * 1000
    expect(await keys.current(NO_SIGNAL)).not.toBe(first)
    clock.ms = START + 10 * lifetime * 1000
    await open().current(NO_SIGNAL)
    const used = server.asked.map(({ body }) => body['refresh_token'])
    expect(new Set(used).size).toBe(3)
    // The file holds neither a token that was used up nor one of the settings.
    const text = readFileSync(file, 'latin1')
    expect([first, ...used].filter((token) => text.includes(token ?? ''))).toEqual([])
  },
)

it('fetches one token for all requests that were refused, also where the answer says no lifetime', async () => {
  const { server, clock, open } = await openInstallation({ grant: 'client_credentials', refreshToken: null })
  server.answers.push(tokenAnswer(200, { access_token: 'first-of-no-lifetime' }))
  const [keys, other] = [open(), open()]
  const first = await keys.current(NO_SIGNAL)
  clock.ms += 365 * 86_400_000
  expect(await other.current(NO_SIGNAL)).toBe(first)
  const asked = [keys, keys, other, other].map((each) => each.hasOther(first, NO_SIGNAL))
  expect(await Promise.all(asked)).toEqual([true, true, true, true])
  expect(server.asked).toHaveLength(2)
  expect(await keys.hasOther(first, NO_SIGNAL)).toBe(true)
  expect(await other.current(NO_SIGNAL)).toBe(await keys.current(NO_SIGNAL))
  expect(server.asked).toHaveLength(2)
})

it('has no other token if the service gives the refused one again, and does not ask for it forever', async () => {
  const { server, open } = await openInstallation({ grant: 'client_credentials', refreshToken: null })
  server.answers.push(
    ...Array.from({ length: 9 }, () => tokenAnswer(200, { access_token: 'always-the-same' })),
  )
  const keys = open()
  const token = await keys.current(NO_SIGNAL)
  const asked = [1, 2, 3].map(() => keys.hasOther(token, NO_SIGNAL))
  expect(await Promise.all(asked)).toEqual([false, false, false])
  expect(await keys.hasOther(token, NO_SIGNAL)).toBe(false)
  expect(server.asked).toHaveLength(2)
})

it('uses a token whose answer took longer than it lasts, instead of asking forever', async () => {
  const { server, clock, open } = await openInstallation({}, 1)
  server.answers.push(() => {
    clock.ms += 10_000
    return false
  })
  expect(server.good.has(await open().current(NO_SIGNAL))).toBe(true)
  expect(server.asked).toHaveLength(1)
})

it('begins anew with another refresh token in the settings, and goes on with another client secret', async () => {
  const { server, open } = await openInstallation()
  const token = await open().current(NO_SIGNAL)
  expect(await open({ clientSecret: 'rotated' }).current(NO_SIGNAL)).toBe(token)
  const refreshToken = server.consent()
  expect(await open({ refreshToken }).current(NO_SIGNAL)).not.toBe(token)
  expect(server.asked.at(-1)?.body['refresh_token']).toBe(refreshToken)
})

it('keeps a new refresh token although everybody who waited for it has been stopped', async () => {
  const { server, login, open } = await openInstallation()
  const isAsked = Promise.withResolvers<void>()
  const isAnswered = Promise.withResolvers<void>()
  server.answers.push(async () => {
    isAsked.resolve()
    await isAnswered.promise
    return false
  })
  const keys = open()
  const stop = new AbortController()
  const stopped = keys.current(stop.signal)
  await isAsked.promise
  stop.abort(new Error('the test stops it'))
  await expect(stopped).rejects.toThrow('the test stops it')
  const closed = keys.close()
  isAnswered.resolve()
  await closed
  await open().current(NO_SIGNAL)
  expect(server.asked.map(({ body }) => body['refresh_token'])).toEqual([login.refreshToken])
})

it('does not wait for a service that is away once it is closed', async () => {
  const { server, open } = await openInstallation()
  const isAsked = Promise.withResolvers<void>()
  server.answers.push((asked, response) => {
    isAsked.resolve()
    return tokenAnswer(503, 'away')(asked, response)
  })
  const backoff = { attempts: 5, baseMs: 3_600_000, maxMs: 3_600_000 }
  const keys = open({}, { backoff })
  const asking = keys.current(NO_SIGNAL).catch(() => 'ended')
  await isAsked.promise
  await keys.close()
  expect(await asking).toBe('ended')
})

test('a token that cannot be kept is not asked for', async () => {
  const { server, file, open } = await openInstallation()
  await open().current(NO_SIGNAL)
  writeFileSync(file, 'no database at all'.repeat(99))
  await expect(open().current(NO_SIGNAL)).rejects.toMatchObject({
    code: 'store_corrupt',
    message: expect.stringContaining(file),
  })
  const nowhere = open({}, { file: '/proc/nowhere/tokens.db' })
  await expect(nowhere.current(NO_SIGNAL)).rejects.toMatchObject({ code: 'data_unwritable' })
  expect(server.asked).toHaveLength(1)
})
