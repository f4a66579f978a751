// @both-stores
import { describe, expect, it } from 'vitest'
import { openSession } from '../../../src/jobs/outbox/send-batch.ts'
import { createOutboxTask, deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { openPgBossQueue } from '../../../src/queue/pg-boss.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { claimDelivery, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { type Ledger, openLedger } from '../../support/mail/ledger.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { addressOf, IN_POSTGRES } from '../../support/store.ts'
import { SILENT } from '../../support/syncing.ts'

const NEVER = new AbortController().signal

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
    ...worker,
    task,
    start: () => task.open(stop.signal),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await task.idle()
      await transport[Symbol.asyncDispose]()
      await queue[Symbol.asyncDispose]()
      await store.close()
    },
  }
}

describe.skipIf(!IN_POSTGRES)('messages of several workers', () => {
  it('are left to their sender while that lives, and are known to be unconfirmed when it is gone', async () => {
    await using ledger = await openLedger(['ana@example.com', 'ben@example.com'])
    await using server = await openMailServer()
    await using worker = await openWorker(ledger, server.url)
    const [first, second] = await ledger.deliveries()
    if (first === undefined || second === undefined) throw new Error('two messages wait')
    const living = await openSession(worker)
    const at = ledger.clock.now.toISOString()
    await ledger.store.write(async (trx) => {
      for (const [waiting, sender] of [
        [first, living?.lease.holder ?? ''],
        [second, 'one that was killed'],
      ] as const) {
        await claimDelivery(trx, waiting, sender, at)
        await moveDelivery(trx, waiting.messageId, ['sending'], { state: 'data', at })
      }
    })
    expect(await deliverDue(worker, NEVER)).toBe(false)
    expect((await ledger.deliveries()).map(({ state }) => state)).toEqual(['data', 'data'])
    await living?.lease.release()
    await using next = await openSession(worker)
    expect(next).not.toBeNull()
    expect(
      (await ledger.deliveries()).map(({ state, unconfirmedCount }) => [state, unconfirmedCount]),
    ).toEqual([
      ['unconfirmed', 1],
      ['unconfirmed', 1],
    ])
  })

  it('are unconfirmed, and sent once more, where what became of them could not be noted', async () => {
    await using ledger = await openLedger(['ana@example.com'])
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
    await expect.poll(ledger.states).toEqual([['ana@example.com', 'sent', 2]])
    expect(await ledger.deliveries()).toMatchObject([{ unconfirmedCount: 1 }])
    expect(new Set(server.received.map(({ mail }) => mail.messageId)).size).toBe(1)
  })
})
