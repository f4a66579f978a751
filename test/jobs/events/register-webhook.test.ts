/**
 * The webhook of an installation at a real service, with a kill between any two steps of its registration.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { EVENT_TYPES } from '../../../src/contract/webhook.ts'
import { type OwnWebhook, registerSelf, removeSelf } from '../../../src/jobs/events/register-webhook.ts'
import {
  readRegistration,
  registrationFile,
  watchSecrets,
} from '../../../src/jobs/events/webhook-registration.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import type { Source } from '../../../src/upstream/source.ts'
import { openSource } from '../../../src/upstream/source.ts'
import type { WebhookSource } from '../../../src/upstream/webhooks/registered-webhooks.ts'
import { whyRefused } from '../../../src/upstream/webhooks/verify-signature.ts'
import { serviceOfFile } from '../../service/support/service.ts'
import { folderWith } from '../../support/folder.ts'
import { openReceiver } from '../../support/network/receiver.ts'
import { SILENT } from '../../support/syncing.ts'

const { signal } = new AbortController()

const api = await serviceOfFile({ historyDays: 2, webhooksToLoopback: true, rateLimitPerMinute: 100_000 })
const now = () => new Date(api.clock.at)
const receiver = await openReceiver()
const log = SILENT
const source = openSource({ baseUrl: api.service.url, apiKey: api.writeKey, maxWaitMs: 0, log, now })
afterAll(async () => {
  await source.close()
  await receiver[Symbol.asyncDispose]()
})

let dataDir: string
let own: OwnWebhook
beforeEach(forgetAll)

async function forgetAll(): Promise<void> {
  for (const { id } of await source.webhooks.list()) await source.webhooks.remove(id)
  dataDir = folderWith()
  own = { source, file: registrationFile(dataDir), now }
}

/** Ends the work like a kill: nothing comes after it. */
class Killed extends Error {}

/** @param step 0 is before the first request, 1 after its answer, 2 before the second request, and so on */
function dyingAt(step: number): Pick<Source, 'webhooks'> {
  let at = 0
  const webhooks = new Proxy(source.webhooks, {
    get: (real, name: keyof WebhookSource) => async (first: never, second: never, third: never) => {
      if (at++ === step) throw new Killed(`before ${name}`)
      const answer = await real[name](first, second, third)
      if (at++ === step) throw new Killed(`after ${name}`)
      return answer
    },
  })
  return { webhooks }
}

/** Runs the registration with a kill at each step in turn, each time from the prepared start. */
async function killAtEach(
  prepare: () => Promise<void>,
  run: (own: OwnWebhook) => Promise<unknown>,
  examine: (killed: string) => Promise<void>,
): Promise<string[]> {
  const kills: string[] = []
  for (let step = 0; ; step++) {
    await forgetAll()
    await prepare()
    try {
      await run({ ...own, source: dyingAt(step) })
      return kills
    } catch (thrown) {
      if (!(thrown instanceof Killed)) throw thrown
      kills.push(thrown.message)
      await examine(thrown.message)
    }
  }
}

function register(path = '/webhooks/leads', by: OwnWebhook = own) {
  return registerSelf({ ...by, url: receiver.url.replace(/\/hook.*/, path), events: EVENT_TYPES }, signal)
}

/** True if a daemon with the stored secret accepts a signature of the service. */
async function isBelieved(id: string): Promise<boolean> {
  await source.webhooks.test(id)
  const post = receiver.posts.at(-1)
  if (post === undefined) throw new Error('nothing was sent')
  const headers = Object.fromEntries(
    Object.entries(post.headers).map(([name, value]) => [name, [`${value}`]]),
  )
  const message = { method: 'POST', url: receiver.url, headers, body: Buffer.from(post.body) }
  const profile = REFERENCE_PROFILE.webhook
  if (profile === undefined) throw new Error('the profile has a part webhook')
  return whyRefused(profile, secretsNow(), message, now()) === null
}

function secretsNow(): readonly string[] {
  return watchSecrets(own.file, [], ({ message }) => SILENT.error(message))()
}

async function webhookIds(): Promise<string[]> {
  return (await source.webhooks.list()).map(({ id }) => id)
}

describe('a registration', () => {
  it('is made once, kept with its secret for its owner alone, believed, and replaced by one of another address', async () => {
    const { registration, outcome } = await register()
    expect([outcome, readRegistration(own.file)]).toEqual(['registered', registration])
    expect(statSync(own.file).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir)).toEqual(['webhook.json'])
    expect(await isBelieved(registration.id)).toBe(true)
    expect(await register()).toEqual({ registration, outcome: 'already', leftOver: null })
    expect(await webhookIds()).toEqual([registration.id])
    const other = (await register('/other')).registration
    expect(await webhookIds()).toEqual([other.id])
  })

  it.each([
    ['made by the next one', null, ['before register', 'after register']],
    ['of another address', '/old', ['before register', 'after register', 'before remove', 'after remove']],
  ])(
    'that is killed at any step is made by the next one, and nobody believes a lost one: %s',
    async (_, old, steps) => {
      const kills = await killAtEach(
        async () => void (old && (await register(old))),
        (dying) => register('/new', dying),
        async (killed) => {
          const lost = old ? [] : await webhookIds()
          const { registration } = await register('/new')
          expect(registration.url).toMatch(/\/new$/)
          for (const id of lost) expect(await isBelieved(id), killed).toBe(false)
          expect(await isBelieved(registration.id), killed).toBe(true)
        },
      )
      expect(kills).toEqual(steps)
    },
  )

  it('that the upstream does not know any more, or has disabled, is made anew', async () => {
    const first = (await register()).registration.id
    await source.webhooks.remove(first)
    const second = await register()
    expect(second.outcome).toBe('replaced')
    const list: WebhookSource['list'] = async () =>
      (await source.webhooks.list()).map((webhook) => ({ ...webhook, status: 'disabled' }))
    const third = await register(undefined, {
      ...own,
      source: { webhooks: { ...source.webhooks, list } },
    })
    expect(third.outcome).toBe('replaced')
    expect(await webhookIds()).toEqual([third.registration.id])
  })

  it('that the upstream refuses leaves nothing behind', async () => {
    const refused = registerSelf({ ...own, url: 'https://10.0.0.1/in', events: EVENT_TYPES }, signal)
    await expect(refused).rejects.toMatchObject({ code: 'api_rejected' })
    expect(readdirSync(dataDir)).toEqual([])
  })
})

it('a new secret is known to who watches the file as soon as it is there', async () => {
  const secrets = watchSecrets(own.file, ['configured-one'], () => undefined)
  expect(secrets()).toEqual(['configured-one'])
  const { registration } = await register()
  expect(secrets()).toEqual([registration.secret, 'configured-one'])
  const { secret } = (await register('/webhooks/other')).registration
  expect(secrets()).toEqual([secret, 'configured-one'])
  await removeSelf(own, signal)
  expect(secrets()).toEqual(['configured-one'])
})

describe('a removal', () => {
  it('ends it at the upstream and forgets the secret', async () => {
    const { registration } = await register()
    expect(await removeSelf(own, signal)).toEqual({ id: registration.id, outcome: 'removed' })
    expect([await webhookIds(), readdirSync(dataDir)]).toEqual([[], []])
    await expect(removeSelf(own, signal)).rejects.toMatchObject({ code: 'usage_invalid' })
  })

  it('that is killed at any step is finished by the next one', async () => {
    const kills = await killAtEach(
      async () => void (await register()),
      (dying) => removeSelf(dying, signal),
      async (killed) => {
        await removeSelf(own, signal)
        expect([killed, await webhookIds(), readdirSync(dataDir)]).toEqual([killed, [], []])
      },
    )
    expect(kills).toEqual(['before remove', 'after remove'])
  })
})

describe('a file that is broken', () => {
  it.each([
    ['{"secret": "whsec_half', 'it is not JSON'],
    ['{"secret": 7}', 'it is of another shape: id, '],
  ])('is named and not quoted: %s', async (text, problem) => {
    writeFileSync(own.file, text)
    expect(() => readRegistration(own.file)).toThrow(
      expect.objectContaining({
        code: 'webhook_unreadable',
        message: expect.stringContaining(`${own.file} cannot be read: ${problem}`),
      }),
    )
    await expect(register()).rejects.not.toMatchObject({ message: expect.stringContaining('half') })
    expect([await webhookIds(), readFileSync(own.file, 'utf8')]).toEqual([[], text])
  })

  it('is told once by who watches it, and what it held goes on to count', async () => {
    const told: string[] = []
    const { registration } = await register()
    const secrets = watchSecrets(own.file, [], ({ message }) => void told.push(message))
    expect(secrets()).toEqual([registration.secret])
    writeFileSync(own.file, '{')
    for (let look = 0; look < 3; look++) expect(secrets()).toEqual([registration.secret])
    expect(told).toEqual([expect.stringContaining('it is not JSON')])
  })
})
