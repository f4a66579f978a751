// @both-stores
import { describe, expect, it } from 'vitest'
import { messageFor } from '../../../src/jobs/outbox/compose-message.ts'
import { createRateLimit } from '../../../src/jobs/outbox/rate-limit.ts'
import { deliverDue, deliverIssues, sendTest } from '../../../src/jobs/outbox/send-due.ts'
import type { Transport } from '../../../src/mail/transport.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { claimDelivery, enqueueMessage, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { listMailOutages, reviewMailOutages } from '../../../src/store/outbox/send-limits.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { CONTENT, type Ledger, openNoServer, openPost } from '../../support/mail/ledger.ts'
import { MESSAGE, SENDER } from '../../support/mail/message.ts'
import { judging, openMailServer, refusal } from '../../support/mail-server.ts'
import { IN_POSTGRES } from '../../support/store.ts'
import { SILENT } from '../../support/syncing.ts'

const signal = new AbortController().signal
type Options = Parameters<typeof openMailServer>[0]

const [ANA, BEN] = ['ana@example.com', 'ben@example.com'] as const

/** Claims the first message for a process that was killed, and returns its Message-ID. */
async function claimFirst({ store, clock, first }: Ledger): Promise<string> {
  const waiting = await first()
  await store.write((trx) => claimDelivery(trx, waiting, 'one that was killed', clock.now.toISOString()))
  return waiting.messageId
}

describe('delivery', () => {
  it('withdraws what waits for people who have left the settings, alerts too, and says so', async () => {
    await using made = await openPost(['Ana@example.com', BEN, 'cleo@example.com'], openMailServer())
    const { store, server, deps, clock } = made
    await store.write((trx) =>
      enqueueMessage(trx, null, { ...MESSAGE, to: 'gone@example.com' }, clock.now.toISOString()),
    )
    const isRecipient = (address: string, report: string | null) =>
      report === 'daily' && address.toLowerCase() !== BEN
    await deliverDue({ ...deps, policy: { ...deps.policy, isRecipient } }, signal)
    expect(server.received.map(({ to }) => to)).toEqual([['Ana@example.com'], ['cleo@example.com']])
    const response = 'its recipient is no longer in the settings'
    const alerts = store.db.selectFrom('delivery').where('message_id', '=', MESSAGE.messageId)
    expect(await alerts.selectAll().execute()).toMatchObject([
      { state: 'withdrawn', next_attempt_at: null, response },
    ])
    expect((await made.deliveries())[1]).toMatchObject({
      recipient: BEN,
      state: 'withdrawn',
      nextAttemptAt: null,
      response,
    })
  })

  /** Returns a transport that does something before or after it hands a message over. */
  function interfering(
    { transport }: { readonly transport: Transport },
    { before, after }: Partial<Record<'before' | 'after', (messageId: string) => Promise<unknown>>>,
  ): Transport {
    return {
      ...transport,
      send: async (message, options) => {
        await before?.(message.messageId)
        const receipt = await transport.send(message, options)
        await after?.(message.messageId)
        return receipt
      },
    }
  }

  it.each([
    [
      'holds a message for unconfirmed, not for unsent, when that it was taken could not be noted',
      'after',
      1,
      'data',
    ],
    ['lets no byte of a message leave once another process has taken over', 'before', 0, 'sending'],
  ] as const)('%s', async (_, when, received, state) => {
    await using made = await openPost([ANA], openMailServer())
    const takeOver = () =>
      made.store.write((trx) => trx.updateTable('lease').set({ holder: 'another' }).execute())
    const deps = { ...made.deps, transport: interfering(made, { [when]: takeOver }) }
    await expect(deliverIssues(deps, [made.issue], signal)).rejects.toMatchObject({ code: 'job_busy' })
    expect(made.server.received).toHaveLength(received)
    expect(await made.states()).toEqual([[ANA, state, 1]])
  })

  it('lets no byte of a message leave that somebody else has dealt with meanwhile', async () => {
    await using made = await openPost([ANA], openMailServer())
    const to = { state: 'failed', at: made.clock.now.toISOString(), nextAttemptAt: null } as const
    const before = (id: string) => made.store.write((trx) => moveDelivery(trx, id, ['sending'], to))
    const deps = { ...made.deps, transport: interfering(made, { before }) }
    await expect(deliverDue(deps, signal)).rejects.toThrow('is sent no more')
    expect(made.server.received).toEqual([])
    expect(await made.states()).toEqual([[ANA, 'failed', 1]])
  })

  it.each([
    ['sending', 0],
    ['data', 1],
  ] as const)('goes on after a crash in %s', async (state, timesUnconfirmed) => {
    await using made = await openPost([ANA], openMailServer())
    const messageId = await claimFirst(made)
    const at = made.clock.now.toISOString()
    if (state === 'data')
      await made.store.write((trx) => moveDelivery(trx, messageId, ['sending'], { state, at }))
    made.clock.now = new Date('2026-11-21T07:05:00Z')
    await made.deliver()
    expect(await made.states()).toEqual([[ANA, 'sent', 2]])
    const counts = await made.store.db.selectFrom('delivery').select('unconfirmed_count').execute()
    expect(counts).toEqual([{ unconfirmed_count: timesUnconfirmed }])
    expect(made.server.received).toHaveLength(1)
    expect(made.server.received[0]?.mail.messageId).toBe(messageId)
  })

  it('has the state on disk before the first byte of the message leaves', async () => {
    const seen: unknown[] = []
    await using made = await openPost([ANA], openMailServer())
    const transport: Transport = {
      ...made.transport,
      send: (message, options) =>
        made.transport.send(message, {
          ...options,
          onData: async () => {
            seen.push(made.server.received.length, await made.states())
            await options.onData?.()
            seen.push(await made.states())
          },
        }),
    }
    await deliverIssues({ ...made.deps, transport }, [made.issue], signal)
    expect(seen).toEqual([0, [[ANA, 'sending', 1]], [[ANA, 'data', 1]]])
  })

  it('sends a test to one person alone, says so, and leaves the ledger as it is', async () => {
    await using made = await openPost([ANA], openMailServer())
    await sendTest(
      made.deps,
      messageFor(made.store, made.issue, { address: 'me@example.com', name: null }, CONTENT, SENDER, 1),
      signal,
    )
    expect(made.server.received.map((one) => one.to)).toEqual([['me@example.com']])
    expect(made.server.received[0]?.mail.subject).toMatch(/^\[Test\] /)
    expect(await made.states()).toEqual([[ANA, 'pending', 0]])
  })

  it('sends again the same bytes, with header, boundaries and signature', async () => {
    const taken: Buffer[] = []
    const onData = judging((message) => (taken.push(message) < 3 ? refusal(451, 'later') : null))
    await using made = await openPost([ANA], openMailServer({ onData }), (url) =>
      openTransport(url, { log: SILENT, dkim: DKIM_KEY }),
    )
    for (let attempt = 0; attempt < 3; attempt++) await made.deliver(1000)
    expect(await made.states()).toEqual([[ANA, 'sent', 3]])
    const [first, ...others] = taken
    expect(first?.toString()).toMatch(/^DKIM-Signature: /m)
    expect(first?.toString()).toMatch(/^Date: Sat, 21 Nov 2026 07:00:00 \+0000/m)
    expect(others).toEqual([first, first])
  })
})

describe('messages that wait', () => {
  it('go out in the order in which they came, so many a minute, once the server is back', async () => {
    const addresses = ['cleo', 'ana', 'ben'].map((name) => `${name}@example.com`)
    await using made = await openPost([], openMailServer())
    const { server, transport } = made
    const policy = { ...made.deps.policy, rateLimit: createRateLimit(2) }
    for (const [hour, to] of addresses.entries()) {
      const at = new Date(made.clock.now.getTime() + hour * 3_600_000).toISOString()
      await made.store.write((trx) =>
        enqueueMessage(trx, null, { ...MESSAGE, to, messageId: `<${hour}@x>` }, at),
      )
    }
    made.clock.now = new Date('2026-11-23T07:00:00Z')
    await using away = openTransport('smtp://127.0.0.1:1', { log: SILENT })
    await deliverDue({ ...made.deps, policy, transport: away }, signal)
    expect(await listMailOutages(made.store.db)).toMatchObject([{ failures: 1 }])
    const rounds: (string | undefined)[][] = []
    for (let minute = 1; minute <= 3; minute++) {
      made.clock.now = new Date(made.clock.now.getTime() + 60_000)
      await deliverDue({ ...made.deps, policy, transport }, signal)
      rounds.push(server.received.map((one) => one.to[0]))
    }
    expect(rounds).toEqual([addresses.slice(0, 2), addresses, addresses])
  })

  it('wait for their turn, unless the minute is over or all is to stop', async () => {
    await using made = await openPost([ANA, BEN], openMailServer())
    const paced = (waits: number[]) => {
      const rateLimit = { msToWait: () => waits.shift() ?? 0, take: () => {} }
      return { ...made.deps, policy: { ...made.deps.policy, rateLimit } }
    }
    await deliverDue(paced([60_000]), signal)
    const stopped = performance.now()
    await deliverIssues(paced([60_000]), [made.issue], AbortSignal.timeout(100))
    expect(performance.now() - stopped).toBeLessThan(30_000)
    expect(made.server.received).toHaveLength(0)
    const begun = performance.now()
    await deliverDue(paced([0, 50]), signal)
    expect(performance.now() - begun).toBeGreaterThanOrEqual(50)
    expect(made.server.received).toHaveLength(2)
  })

  it('are tried at once when the daemon starts, whatever the server said before; one of other settings is forgotten', async () => {
    await using made = await openPost([ANA], openNoServer())
    const { transport } = made
    await made.deliver()
    const before = { ...transport, name: 'smtp://before.example.com:25' }
    await deliverDue({ ...made.deps, transport: before }, signal)
    expect(await listMailOutages(made.store.db)).toHaveLength(2)
    const at = made.clock.now.toISOString()
    await made.store.write((trx) => reviewMailOutages(trx, transport.name, at))
    expect(await listMailOutages(made.store.db)).toMatchObject([
      { server: 'smtp://127.0.0.1:1', failures: 1, nextAttemptAt: at },
    ])
    expect(await made.deliver()).toBe(true)
    expect(await listMailOutages(made.store.db)).toMatchObject([{ failures: 2 }])
    // The same holds when another process takes a message, without a daemon.
    await using server = await openMailServer()
    await using other = openTransport(server.url, { log: SILENT })
    await deliverIssues({ ...made.deps, transport: other }, [made.issue], signal)
    expect(await listMailOutages(made.store.db)).toEqual([])
  })

  it.skipIf(IN_POSTGRES)('wait too while another process sends', async () => {
    await using made = await openPost([ANA], openMailServer())
    const lease = await claimLease(made.store, 'delivery', made.deps.now)
    expect(await made.deliver()).toBe(false)
    expect(await deliverIssues(made.deps, [made.issue], signal)).toMatchObject([
      { recipient: ANA, state: 'pending', response: 'another process is sending' },
    ])
    await lease.release()
    expect(await made.deliver()).toBe(true)
    expect(made.server.received).toHaveLength(1)
  })

  it('are unconfirmed after a crash also while no server can be reached', async () => {
    await using made = await openPost([ANA, BEN], openNoServer())
    await made.deliver()
    const messageId = await claimFirst(made)
    const at = made.clock.now.toISOString()
    await made.store.write((trx) => moveDelivery(trx, messageId, ['sending'], { state: 'data', at }))
    await made.deliver()
    expect(await made.states()).toEqual([
      [ANA, 'unconfirmed', 1],
      [BEN, 'pending', 0],
    ])
  })

  it('are not held up by one that cannot be read', async () => {
    await using made = await openPost([ANA, BEN], openMailServer())
    const { messageId } = await made.first()
    const broken = { html: Buffer.from('not packed') }
    await made.store.db.updateTable('message').set(broken).where('message_id', '=', messageId).execute()
    await expect(deliverDue(made.deps, signal)).rejects.toThrow('header')
    await made.deliver()
    expect(made.server.received.map(({ to }) => to)).toEqual([[BEN]])
    expect(await made.states()).toEqual([
      [ANA, 'pending', 1],
      [BEN, 'sent', 1],
    ])
  })

  it('do not wait for what a clock that was far ahead took for the time', async () => {
    await using made = await openPost([ANA, BEN], openMailServer())
    await using away = openTransport('smtp://127.0.0.1:1', { log: SILENT })
    const transport = { ...made.transport, name: away.name }
    await deliverDue({ ...made.deps, transport: away, now: () => new Date('2036-11-21T07:00:00Z') }, signal)
    const { messageId } = await made.first()
    const at = '2036-11-21T07:00:00.000Z'
    const to = { state: 'pending', at, nextAttemptAt: at } as const
    await made.store.write((trx) => moveDelivery(trx, messageId, ['pending'], to))
    await deliverDue({ ...made.deps, transport }, signal)
    expect(made.server.received).toHaveLength(2)
  })

  it.each<[what: string, server: (stop: () => void) => Options, ana: [state: string, attempts: number]]>([
    [
      'but the one that is leaving gets its answer',
      (stop) => ({
        onData: (stream, _session, done) => {
          stream
            .resume()
            .once('end', () => void setTimeout(done, 50))
            .once('end', stop)
        },
      }),
      ['sent', 1],
    ],
    [
      'and no attempt counts that was broken off before anything left',
      (stop) => ({ onRcptTo: stop }),
      ['pending', 0],
    ],
  ])('stay as they were when all is to stop, %s', async (_, server, ana) => {
    const stop = new AbortController()
    await using made = await openPost([ANA, BEN], openMailServer(server(() => stop.abort())))
    await deliverDue(made.deps, stop.signal)
    expect(await made.states()).toEqual([
      [ANA, ...ana],
      [BEN, 'pending', 0],
    ])
    expect(await listMailOutages(made.store.db)).toEqual([])
  })
})
