/** Webhooks to receivers that fail, and to forbidden addresses: they are retried, given up, or refused. */
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer, type LookupFunction } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { createAddressGuard, createWebhookPoster } from '../../src/service/webhooks/post.ts'
import { DAY_MS, HOUR_MS, startService } from '../service/support/service.ts'
import { happen, register, type TestWebhook, webhooksOfFile } from '../service/support/webhooks.ts'
import { listen } from '../support/network/http-server.ts'
import { openReceiver } from '../support/network/receiver.ts'

const MINUTE_MS = 60_000
const WAITS_MS = [
  5_000,
  ...[5, 30].map((minutes) => minutes * MINUTE_MS),
  ...[2, 5, 10, 10].map((hours) => hours * HOUR_MS),
]
const PUBLIC = '93.184.216.34'

const logged: { readonly fields: object; readonly message: string }[] = []
const log = {
  info: () => undefined,
  error: (fields: object, message: string) => void logged.push({ fields, message }),
}

const { api, receiver, webhookAt } = await webhooksOfFile({ rateLimitPerMinute: 1_000_000, logger: log })
afterEach(() => void logged.splice(0))

/** Answers with each status in turn, and then always with the last one. */
function answerInTurn(...statuses: readonly number[]): (response: ServerResponse) => void {
  const left = [...statuses]
  return (response) => response.writeHead((left.length > 1 ? left.shift() : left[0]) ?? 200).end()
}

/** Lets time pass. It resolves when everything due has been sent, unless `receiver` is without an answer. */
async function pass(ms: number, beacon: TestWebhook): Promise<void> {
  const before = (await beacon.attempts()).length
  await api.pass(ms)
  await happen(api)
  await beacon.attempted(before + 1)
}

describe('a receiver that', () => {
  test.each([500, 404])(
    'answers %i is sent the same message again, with the same id and bytes, and with a time of its own',
    async (status) => {
      receiver.answer = answerInTurn(status, 200)
      const webhook = await webhookAt(receiver.url)
      const before = receiver.posts.length
      await happen(api)
      await webhook.attempted(1)
      await api.pass(6_000)
      const [first, second] = await webhook.attempted(2)
      expect([first, second]).toEqual([
        expect.objectContaining({ attempt: 1, outcome: 'failed', status, message_id: second?.message_id }),
        expect.objectContaining({ attempt: 2, outcome: 'delivered', status: 200, next_attempt_at: null }),
      ])
      const posts = receiver.posts.slice(before)
      expect(posts).toHaveLength(2)
      const [one, two] = posts
      expect(two?.body).toBe(one?.body)
      expect(two?.headers['webhook-id']).toBe(one?.headers['webhook-id'])
      expect(Number(two?.headers['webhook-timestamp']) - Number(one?.headers['webhook-timestamp'])).toBe(6)
      expect(await webhook.show()).toMatchObject({ status: 'active', failing_since: null })
    },
  )

  test('fails for ever is tried eight times, none of them early, and then no more', async () => {
    receiver.answer = 500
    const webhook = await webhookAt(receiver.url)
    await using good = await openReceiver()
    await happen(api)
    await webhook.attempted(1)
    // This webhook hears of the events from now on, also of the first one's failure.
    const beacon = await webhookAt(good.url)
    const message = (await webhook.attempts())[0]?.message_id ?? ''
    const ofMessage = async () =>
      (await webhook.attempts()).filter(({ message_id }) => message_id === message)
    for (const [index, waitMs] of WAITS_MS.entries()) {
      const { at, next_attempt_at: next } = (await ofMessage()).at(-1) ?? {}
      const plannedMs = Date.parse(next ?? '') - Date.parse(at ?? '')
      expect(plannedMs).toBeGreaterThanOrEqual(waitMs)
      expect(plannedMs).toBeLessThanOrEqual(waitMs * 1.1 + 1)
      await pass(plannedMs - 1, beacon)
      expect(await ofMessage()).toHaveLength(index + 1)
      await api.pass(1)
      await expect.poll(ofMessage, { interval: 10 }).toHaveLength(index + 2)
    }
    const all = await ofMessage()
    expect(all.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(all.at(-1)?.next_attempt_at).toBeNull()
    await pass(DAY_MS, beacon)
    expect(await ofMessage()).toHaveLength(8)
  })

  test.each([
    [503, 'in an hour', HOUR_MS],
    [429, String(7 * 24 * 3600), DAY_MS],
  ])('answers %i with Retry-After: %s is sent nothing at all before', async (status, wanted, waitMs) => {
    // The service has a clock of its own, which differs from ours.
    const theirs = new Date('2020-02-29T23:30:00Z')
    const inAnHour = new Date(theirs.getTime() + HOUR_MS).toUTCString()
    receiver.answer = (response) => {
      const value = wanted === 'in an hour' ? inAnHour : wanted
      response.writeHead(status, { date: theirs.toUTCString(), 'retry-after': value }).end()
    }
    const webhook = await webhookAt(receiver.url)
    await using good = await openReceiver()
    const beacon = await webhookAt(good.url)
    await happen(api)
    const [first] = await webhook.attempted(1)
    await beacon.attempted(1)
    const asked = Date.parse(first?.next_attempt_at ?? '') - Date.parse(first?.at ?? '')
    expect(asked).toBe(waitMs)
    receiver.answer = 200
    await pass(asked - 1, beacon)
    expect(await webhook.attempts()).toHaveLength(1)
    await api.pass(1)
    const outcomes = (await webhook.attempted(3)).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['failed', 'delivered', 'delivered'])
  })

  test('answers 410 is disabled at once, with a line in the log, and sent nothing more', async () => {
    receiver.answer = answerInTurn(500, 500, 410)
    const webhook = await webhookAt(receiver.url)
    await happen(api, 3)
    await webhook.attempted(3)
    expect(await webhook.show()).toMatchObject({ status: 'disabled', disabled_reason: 'gone' })
    const { host } = new URL(receiver.url)
    expect(logged).toEqual([
      {
        fields: { webhook: webhook.id, host, reason: 'gone' },
        message: 'a webhook was disabled: its address answered 410, which says that it is gone',
      },
    ])
    await using good = await openReceiver()
    const beacon = await webhookAt(good.url)
    await pass(DAY_MS, beacon)
    expect(await webhook.attempts()).toHaveLength(3)
  })

  test('fails for five days is disabled, with a line in the log', async () => {
    receiver.answer = 500
    const webhook = await webhookAt(receiver.url)
    await happen(api)
    await webhook.attempted(1)
    const failingSince = (await webhook.show()).failing_since
    for (let day = 1; day <= 4; day++) {
      const { length } = await webhook.attempts()
      await api.pass(DAY_MS)
      await webhook.attempted(length + 1)
    }
    expect(await webhook.show()).toMatchObject({ status: 'active', failing_since: failingSince })
    await api.pass(DAY_MS)
    await happen(api)
    await expect.poll(webhook.show).toMatchObject({ status: 'disabled', disabled_reason: 'failing' })
    expect(logged.map(({ message }) => message)).toEqual([
      'a webhook was disabled: every attempt of 5 days failed',
    ])
    expect(
      api.rows(`select * from webhook_message where webhook_id = '${webhook.id}' and state = 'waiting'`),
    ).toEqual([])
  })
})

test('an attempt at a receiver that never answers ends in time', async () => {
  await using slow = await openReceiver()
  slow.answer = () => undefined
  const poster = createWebhookPoster(createAddressGuard({ toLoopback: true }), Date.now, 300)
  const outcome = await poster.post(slow.url, {}, '{}')
  expect(outcome).toMatchObject({ status: null, error: 'no answer within 0.3 s' })
  expect(outcome.durationMs).toBeGreaterThanOrEqual(290)
  await poster.close()
})

/** Hosts and URLs, among them forms of local addresses that would pass a simple list of `127.0.0.1` and `localhost`. */
const ADDRESSES = readFileSync(join(import.meta.dirname, 'addresses.txt'), 'utf8')
  .trimEnd()
  .split('\n')

describe('an address', () => {
  const open = createAddressGuard({ toLoopback: true })
  const closed = createAddressGuard({ toLoopback: false })

  test('is refused or taken, by the strict guard and by one that is open to this machine', async () => {
    const told = ADDRESSES.map((address) => {
      const url = new URL(address.includes('://') ? address : `https://${address}:8443/`)
      return `${address}\n  strict: ${closed.refusalOf(url) ?? 'taken'}\n  open: ${open.refusalOf(url) ?? 'taken'}\n`
    })
    await expect(told.join('')).toMatchFileSnapshot('golden/addresses.txt')
  })

  const LEADS = 'its name leads to an address of this machine or of a private or reserved network'

  test.each<readonly [string, string, string[], string | null]>([
    ['one of this machine', 'hooks.example', ['127.0.0.1'], LEADS],
    ['a closed one among others', 'hooks.example', [PUBLIC, '::ffff:192.168.0.1'], LEADS],
    ['the link it is on', 'hooks.example', ['fe80::1%eth0'], LEADS],
    ['no address at all', 'hooks.example', [], LEADS],
    ['a public one', 'hooks.example', [PUBLIC, '2606:2800:220:1::1'], null],
    ['this machine, as localhost must,', 'localhost', ['127.0.0.1', '::1'], null],
    ['another machine, though it is localhost,', 'localhost', [PUBLIC], LEADS],
  ])(
    'whose name leads to %s is refused or taken when a message is sent',
    async (_, name, addresses, fault) => {
      const guard = createAddressGuard({ toLoopback: name === 'localhost', resolve: leadingTo(addresses) })
      const found = promisify(guard.lookup)(name, { all: true })
      expect(
        await found.then(
          () => null,
          (refused: Error) => refused.message,
        ),
      ).toBe(fault)
    },
  )

  test('whose name leads to this machine once it is registered is not reached', async () => {
    let connections = 0
    const inside = createServer((socket) => {
      connections++
      socket.destroy()
    })
    const port = await listen(inside)
    let addresses = [PUBLIC]
    const resolve: LookupFunction = (name, options, callback) => leadingTo(addresses)(name, options, callback)
    await using service = await startService({ historyDays: 1, resolve })
    const webhook = await register(service, `https://rebinding.example:${port}/`)
    addresses = ['127.0.0.1']
    await happen(service)
    const [attempt] = await webhook.attempted(1)
    expect(attempt?.error).toBe(
      'the address is refused: its name leads to an address of this machine or of a private or reserved network',
    )
    expect(connections).toBe(0)
    inside.close()
  })
})

function leadingTo(addresses: readonly string[]): LookupFunction {
  return (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
}
