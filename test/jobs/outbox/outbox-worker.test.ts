// @both-stores
import { describe, expect, it } from 'vitest'
import { createOutboxTask, queueMessages, sendMessage } from '../../../src/jobs/outbox/outbox-worker.ts'
import { openSender } from '../../../src/jobs/outbox/send-batch.ts'
import { changePreference } from '../../../src/jobs/reports/preferences.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { openPgBossQueue } from '../../../src/queue/pg-boss.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { listMailOutages, takeSend } from '../../../src/store/outbox/send-limits.ts'
import { type Ledger, openLedger } from '../../support/mail/ledger.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { openTakeJob } from '../../support/schedule/take-job.ts'
import { addressOf, IN_POSTGRES } from '../../support/store.ts'
import { SILENT } from '../../support/syncing.ts'

const NEVER = new AbortController().signal

function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `r${100 + number}@example.com`)
}

/** Opens a worker with its own connections. It does not send yet. */
async function openWorker(ledger: Ledger, url: string, change = (store: Store) => store) {
  const { deps } = ledger
  const store = await openStore(addressOf(ledger.store), deps.now())
  if (store.place.kind !== 'postgres') throw new Error('several workers need PostgreSQL')
  const queue = await openPgBossQueue(store.place, SILENT)
  const transport = openTransport(url, { log: SILENT })
  const stop = new AbortController()
  const worker = {
    ...deps,
    store: change(store),
    queue,
    transport,
    onSent: async () => {},
  }
  const task = createOutboxTask(worker)
  return {
    ...{ ...worker, task },
    start: () => task.open(stop.signal),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await task.idle()
      await transport.close()
      await queue[Symbol.asyncDispose]()
      await store.close()
    },
  }
}

describe.skipIf(!IN_POSTGRES)('messages that several workers send beside each other', () => {
  it('reach each recipient once, whichever worker sends them', async () => {
    await using ledger = await openLedger(addresses(30))
    // The server is slow, so that each worker gets some messages.
    await using server = await openMailServer({}, () => new Promise((resolve) => setTimeout(resolve, 50)))
    await using one = await openWorker(ledger, server.url)
    await using two = await openWorker(ledger, server.url)
    await using three = await openWorker(ledger, server.url)
    for (const { start } of [one, two, three]) start()
    one.task.wake()
    await expect.poll(() => countSent(ledger)).toBe(30)
    expect(server.received.map(({ to }) => to[0]).toSorted()).toEqual(addresses(30))
    const senders = await ledger.store.db.selectFrom('delivery').select('sender').distinct().execute()
    expect(senders).toHaveLength(3)
  })

  it('are tried by one of them while the server is away, and sent by all when it is back', async () => {
    await using ledger = await openLedger(addresses(9))
    await using server = await openMailServer()
    await using away = openTransport('smtp://127.0.0.1:1', { log: SILENT })
    await using worker = await openWorker(ledger, server.url)
    await using other = await openWorker(ledger, server.url)
    const transport = { ...away, name: worker.transport.name }
    await using sender = await openSender(worker)
    await using another = await openSender(other)
    if (sender === null || another === null) throw new Error('both may send')
    const [first, second, third] = await ledger.deliveries()
    const tries = [
      sendMessage({ ...worker, transport }, sender, first?.messageId ?? '', NEVER),
      sendMessage({ ...other, transport }, another, second?.messageId ?? '', NEVER),
    ]
    await Promise.all(tries)
    expect(await listMailOutages(ledger.store.db)).toMatchObject([{ failures: 1 }])
    // No worker tries before the time.
    expect(await sendMessage(worker, sender, third?.messageId ?? '', NEVER)).toBe('done')
    expect(server.connections()).toBe(0)

    ledger.clock.now = new Date('2026-11-21T07:01:15Z')
    await queueMessages(worker)
    const jobs: string[] = []
    const takeJob = await openTakeJob(addressOf(ledger.store))
    while (await takeJob('message', async ({ data }) => void jobs.push(data.messageId)));
    expect(jobs).toHaveLength(1)
    const ends = await Promise.all([
      sendMessage(worker, sender, first?.messageId ?? '', NEVER),
      sendMessage(other, another, second?.messageId ?? '', NEVER),
    ])
    expect(ends.toSorted()).toEqual(['done', 'server_back'])
    expect(server.received).toHaveLength(1)
    expect(await listMailOutages(ledger.store.db)).toEqual([])
    for (const { start } of [worker, other]) start()
    worker.task.wake()
    await expect.poll(() => countSent(ledger)).toBe(9)
    expect(server.received).toHaveLength(9)
  })

  it('are left to their sender while that lives, and are known to be unconfirmed when it is gone', async () => {
    await using ledger = await openLedger(addresses(2))
    await using server = await openMailServer()
    await using worker = await openWorker(ledger, server.url)
    const [first, second] = await ledger.deliveries()
    if (first === undefined || second === undefined) throw new Error('two messages wait')
    const living = await openSender(worker)
    const at = ledger.clock.now.toISOString()
    await ledger.store.write(async (trx) => {
      for (const [{ messageId }, sender] of [
        [first, living?.lease.holder],
        [second, 'one that was killed'],
      ] as const) {
        await moveDelivery(trx, messageId, ['pending'], { state: 'sending', at })
        await moveDelivery(trx, messageId, ['sending'], { state: 'data', at })
        await trx.updateTable('delivery').where('message_id', '=', messageId).set({ sender }).execute()
      }
    })
    await queueMessages(worker)
    expect(
      (await ledger.deliveries()).map(({ state, unconfirmedCount }) => [state, unconfirmedCount]),
    ).toEqual([
      ['data', 0],
      ['unconfirmed', 1],
    ])
    await living?.lease.release()
    await queueMessages(worker)
    expect((await ledger.deliveries()).map(({ state }) => state)).toEqual(['unconfirmed', 'unconfirmed'])
  })

  it('are not sent for a job that comes late, nor to who has unsubscribed since it was sent', async () => {
    await using ledger = await openLedger(addresses(2))
    await using server = await openMailServer()
    await using worker = await openWorker(ledger, server.url)
    await using sender = await openSender(worker)
    const [first, second] = await ledger.deliveries()
    if (sender === null || first === undefined || second === undefined) throw new Error('two messages wait')
    await queueMessages(worker)
    const key = { address: second.recipient, report: 'daily' }
    await changePreference(ledger.store, key, 'stop', { by: 'recipient', reason: null }, ledger.clock.now)
    const send = (messageId: string) => sendMessage(worker, sender, messageId, NEVER)
    await Promise.all([send(first.messageId), send(second.messageId)])
    await Promise.all([send(first.messageId), send('<nobody@example.com>')])
    expect(server.received.map(({ to }) => to)).toEqual([[first.recipient]])
    expect((await ledger.deliveries()).map(({ state }) => state)).toEqual(['sent', 'withdrawn'])
  })

  it('are unconfirmed, and sent once more, where what became of them could not be noted', async () => {
    await using ledger = await openLedger(addresses(1))
    let isCut = false
    await using server = await openMailServer({}, async () => {
      isCut = server.received.length === 1
    })
    const cutting = (store: Store): Store => ({
      ...store,
      write: (work) => (isCut ? Promise.reject(new Error('the database is gone')) : store.write(work)),
    })
    await using worker = await openWorker(ledger, server.url, cutting)
    worker.start()
    worker.task.wake()
    await expect.poll(() => isCut && !worker.task.isBusy()).toBe(true)
    expect(await ledger.deliveries()).toMatchObject([{ state: 'data', unconfirmedCount: 0 }])
    isCut = false
    await ledger.store.write((trx) => trx.updateTable('lease').set({ expires_at: '' }).execute())
    await expect.poll(() => countSent(ledger)).toBe(1)
    expect(await ledger.deliveries()).toMatchObject([{ unconfirmedCount: 1, attempts: 2 }])
    expect(new Set(server.received.map(({ mail }) => mail.messageId)).size).toBe(1)
  })

  it('are told of by their job again and again where a mistake of ours keeps them from being sent', async () => {
    await using ledger = await openLedger(addresses(1))
    await using server = await openMailServer()
    await using worker = await openWorker(ledger, server.url)
    await using sender = await openSender(worker)
    const [message] = await ledger.deliveries()
    if (sender === null || message === undefined) throw new Error('a message waits')
    const broken = { html: Buffer.from('not packed') }
    await ledger.store.write((trx) => trx.updateTable('message').set(broken).execute())
    const send = () => sendMessage(worker, sender, message.messageId, NEVER)
    await expect(send()).rejects.toThrow('header')
    await expect(send()).rejects.toThrow(message.messageId)
    expect(await ledger.deliveries()).toMatchObject([{ state: 'pending', attempts: 1, unconfirmedCount: 0 }])
  })
})

describe.skipIf(!IN_POSTGRES)('the pace of messages that several workers send', () => {
  it('is kept by all of them together: never more within the time than may be', async () => {
    await using ledger = await openLedger([])
    const stores = await Promise.all([1, 2, 3].map(() => openStore(addressOf(ledger.store), new Date())))
    const limit = { most: 5, withinMs: 400 }
    const taken: { by: number; from: number; to: number }[] = []
    const until = performance.now() + 2_000
    await Promise.all(
      stores.map(async (store, by) => {
        while (performance.now() < until) {
          const from = performance.now()
          const ms = await store.write((trx) => takeSend(trx, 'smtp://mail.example.com:25', limit))
          if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
          else taken.push({ by, from, to: performance.now() })
        }
      }),
    )
    await Promise.all(stores.map((store) => store.close()))
    const [from, to] = (['from', 'to'] as const).map((end) =>
      taken.map((each) => each[end]).toSorted((a, b) => a - b),
    )
    // The fifth message ends at least the limit's time after the first one began, however slow the machine
    // is.
    const gaps = to?.slice(limit.most).map((at, index) => at - (from?.[index] ?? 0)) ?? []
    expect(Math.min(...gaps)).toBeGreaterThan(limit.withinMs - 5)
    expect(taken.length).toBeGreaterThan(10)
    expect(new Set(taken.map(({ by }) => by)).size).toBe(3)
  })

  it('is of each server by itself', async () => {
    await using ledger = await openLedger([])
    const limit = { most: 1, withinMs: 60_000 }
    const take = (server: string) => ledger.store.write((trx) => takeSend(trx, server, limit))
    expect(await take('smtp://one.example.com:25')).toBe(0)
    expect(await take('smtp://one.example.com:25')).toBeGreaterThan(50_000)
    expect(await take('smtp://two.example.com:25')).toBe(0)
  })
})

async function countSent({ deliveries }: Ledger): Promise<number> {
  return (await deliveries()).filter(({ state }) => state === 'sent').length
}
