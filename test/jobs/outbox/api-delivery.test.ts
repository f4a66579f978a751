/** The outbox over the APIs of providers: the same states as over SMTP, and what a key of a request changes. */
import { expect, it } from 'vitest'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { listDeliveries } from '../../../src/store/outbox/delivery.ts'
import { requeueMessage } from '../../../src/store/outbox/message-resolve.ts'
import { findMailOutage } from '../../../src/store/outbox/send-limits.ts'
import { tagOf } from '../../../src/web/dashboard/archive/issue-messages.ts'
import { type ApiScheme, startMailApi } from '../../support/mail/api-server.ts'
import { openLedger } from '../../support/mail/ledger.ts'
import { SILENT } from '../../support/syncing.ts'

const ANA = 'ana@example.org'
const BEN = 'ben@example.org'
const TOKENS = { current: async () => 'token', hasOther: async () => false, close: async () => undefined }

async function openOver(scheme: ApiScheme, recipients: readonly string[] = [ANA]) {
  const opened = new AsyncDisposableStack()
  const ledger = opened.use(await openLedger(recipients))
  const { clock } = ledger
  const api = opened.use(await startMailApi(scheme, { now: () => clock.now.getTime() }))
  const now = () => clock.now
  const transport = opened.use(openTransport(api.url, { log: SILENT, tokens: TOKENS, now }))
  return {
    ...ledger,
    api,
    transport,
    /** Moves the clock by so many minutes, and sends what is due. */
    async deliver(minutes = 0) {
      clock.now = new Date(clock.now.getTime() + minutes * 60_000)
      await deliverDue({ ...ledger.deps, transport }, new AbortController().signal)
    },
    /** Returns for each message its state, how often it was unconfirmed, and what the archive says of it. */
    async fates() {
      const found = await listDeliveries(ledger.store.db, ledger.issue.id)
      return found.map((one) => [
        one.state,
        one.unconfirmedCount,
        tagOf(one).text,
        one.nextAttemptAt !== null,
      ])
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

it('tries a message whose answer was lost until Resend says what it has, and does not count it twice', async () => {
  await using made = await openOver('resend')
  made.api.acts.push('take and drop', 'drop', { status: 500 }, 'take and drop')
  await made.deliver()
  expect(await made.fates()).toEqual([['unconfirmed', 1, 'unconfirmed', true]])
  for (let attempt = 0; attempt < 3; attempt++) await made.deliver(75)
  expect(await made.fates()).toEqual([['unconfirmed', 1, 'unconfirmed', true]])
  await made.deliver(75)
  expect(await made.fates()).toEqual([['sent', 1, 'sent', false]])
  expect(made.api.received).toHaveLength(1)
})

it('says that a message may have come twice if Resend has forgotten it', async () => {
  await using made = await openOver('resend')
  made.api.acts.push('take and drop')
  await made.deliver()
  await made.deliver(24 * 60)
  expect(await made.fates()).toEqual([['sent', 1, 'sent, perhaps twice', false]])
  expect(made.api.received).toHaveLength(2)
})

it('leaves a message to a person after two lost answers once Resend may have forgotten it', async () => {
  await using made = await openOver('resend')
  made.api.acts.push('take and drop', 'take and drop')
  await made.deliver()
  await made.deliver(24 * 60)
  expect(await made.fates()).toEqual([['unconfirmed', 2, 'unconfirmed', false]])
})

it('leaves it to a person if Resend has had another message under the same key', async () => {
  await using made = await openOver('resend')
  const conflict = { status: 409, body: { name: 'invalid_idempotent_request', message: 'body was modified' } }
  made.api.acts.push(conflict, conflict)
  await made.deliver()
  await made.deliver(10)
  expect(await made.fates()).toEqual([['unconfirmed', 2, 'unconfirmed', false]])
})

it.each(['graph', 'gmail', 'ses'] as const)(
  'leaves a message to a person after two lost answers of %s',
  async (scheme) => {
    await using made = await openOver(scheme)
    made.api.acts.push('take and drop', 'take and drop')
    await made.deliver()
    expect(await made.fates()).toEqual([['unconfirmed', 1, 'unconfirmed', true]])
    await made.deliver(10)
    expect(await made.fates()).toEqual([['unconfirmed', 2, 'unconfirmed', false]])
  },
)

it('says of a message over Graph, sent after a lost answer, that it may have come twice', async () => {
  await using made = await openOver('graph')
  made.api.acts.push('take and drop')
  await made.deliver()
  await made.deliver(10)
  expect(await made.fates()).toEqual([['sent', 1, 'sent, perhaps twice', false]])
  expect(made.api.received).toHaveLength(2)
})

it('sends a bounced message again where a person wants it, and one of unknown fate only if Resend lacks it', async () => {
  await using made = await openOver('resend', [ANA, BEN])
  made.api.acts.push('take and drop')
  await made.deliver()
  const [ana, ben] = await made.deliveries()
  if (ana === undefined || ben === undefined) throw new Error('no messages')
  expect([ana.state, ben.state]).toEqual(['unconfirmed', 'sent'])
  const at = made.clock.now.toISOString()
  await made.store.write(async (trx) => {
    await trx.updateTable('delivery').where('recipient', '=', BEN).set({ state: 'bounced' }).execute()
    made.clock.now = new Date(made.clock.now.getTime() + 60_000)
    for (const { messageId } of [ana, ben]) await requeueMessage(trx, messageId, made.clock.now.toISOString())
  })
  await made.deliver()
  expect(made.api.received.map(({ to }) => to).sort()).toEqual([ANA, BEN, BEN])
  expect((await made.fates()).map(([state]) => state)).toEqual(['sent', 'sent'])
  expect((await made.deliveries()).map(({ queuedAt }) => queuedAt === at)).toEqual([true, false])
})

it('waits as long as the API wants, names it without its key, and then sends all', async () => {
  await using made = await openOver('resend', [ANA, BEN])
  made.api.acts.push({
    status: 429,
    headers: { 'retry-after': '1800' },
    body: { name: 'rate_limit_exceeded', message: 'slow' },
  })
  await made.deliver()
  const outage = await findMailOutage(made.store.db, made.transport.name)
  expect(outage).toMatchObject({ server: `resend://${made.api.host}`, kind: 'transient', replyCode: 429 })
  expect(outage?.nextAttemptAt).toBe('2026-11-21T07:30:00.000Z')
  expect((await made.states()).map(([, ...state]) => state)).toEqual([
    ['pending', 0],
    ['pending', 0],
  ])
  await made.deliver(29)
  expect(made.api.received).toHaveLength(0)
  await made.deliver(1)
  expect((await made.fates()).map(([state]) => state)).toEqual(['sent', 'sent'])
})

it('counts a refusal against the recipient alone, and one of the sender against nobody', async () => {
  await using made = await openOver('ses', [ANA, BEN])
  const reject = (message: string) => ({
    status: 400,
    headers: { 'x-amzn-errortype': 'MessageRejected' },
    body: { message },
  })
  made.api.acts.push(
    reject(`Illegal address ${ANA}`),
    reject('Email address is not verified: reports@example.com'),
  )
  await made.deliver()
  const found = (await made.deliveries()).map(({ state, isRefusal, replyCode }) => [
    state,
    isRefusal,
    replyCode,
  ])
  expect(found).toEqual([
    ['failed', 1, 400],
    ['pending', 0, null],
  ])
  expect(await findMailOutage(made.store.db, made.transport.name)).toMatchObject({
    kind: 'sender',
    replyCode: 400,
  })
})
