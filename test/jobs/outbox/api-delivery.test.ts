// @both-stores
/** The outbox over the APIs of providers: the same states as over SMTP, and what a key of a request changes. */
import { expect, it } from 'vitest'
import { openTransport } from '../../../src/mail/transport.ts'
import { requeueMessage } from '../../../src/store/outbox/message-resolve.ts'
import { findMailOutage } from '../../../src/store/outbox/send-limits.ts'
import { tagOf } from '../../../src/web/dashboard/archive/issue-messages.ts'
import {
  type ApiAct,
  type ApiScheme,
  apiFault,
  type MailApi,
  startMailApi,
  TOKENS,
} from '../../support/mail/api-server.ts'
import { openPost, type Post } from '../../support/mail/ledger.ts'
import { SILENT } from '../../support/syncing.ts'

const ANA = 'ana@example.org'
const BEN = 'ben@example.org'

async function openOver(scheme: ApiScheme, recipients: readonly string[] = [ANA]) {
  const now = () => post.clock.now
  const post: Post<MailApi> = await openPost(
    recipients,
    startMailApi(scheme, { now: () => now().getTime() }),
    (url) => openTransport(url, { log: SILENT, tokens: TOKENS, now }),
  )
  return post
}

const LOST = 'take and drop'
const ANOTHER = apiFault('resend', 409, 'invalid_idempotent_request', 'body was modified')

/** The answers of the API to each attempt of a message, and the minutes between these. */
const STORIES: Readonly<Record<string, readonly [ApiScheme, readonly ApiAct[], readonly number[]]>> = {
  'Resend says what it has': ['resend', [LOST, 'drop', { status: 500 }, LOST], [0, 75, 75, 75, 75]],
  'Resend has forgotten it': ['resend', [LOST], [0, 24 * 60]],
  'Resend may have forgotten it, and the next answer is lost too': ['resend', [LOST, LOST], [0, 24 * 60]],
  'Resend has another message under the same key': ['resend', [ANOTHER, ANOTHER], [0, 10]],
  'Graph does not recognise it': ['graph', [LOST], [0, 10]],
  'two answers of Graph are lost': ['graph', [LOST, LOST], [0, 10]],
  'two answers of Gmail are lost': ['gmail', [LOST, LOST], [0, 10]],
  'two answers of Amazon SES are lost': ['ses', [LOST, LOST], [0, 10]],
}

it('what becomes of a message whose answer was lost, and what the archive says of it', async () => {
  const lines: string[] = []
  for (const [title, [scheme, acts, minutes]] of Object.entries(STORIES)) {
    await using made = await openOver(scheme)
    made.server.acts.push(...acts)
    lines.push(title)
    for (const passed of minutes) {
      await made.deliver(passed)
      for (const one of await made.deliveries()) {
        const next = one.nextAttemptAt === null ? 'is left' : 'is tried again'
        const counts = `${one.unconfirmedCount} times unconfirmed, ${made.server.received.length} copies`
        lines.push(
          `  after ${passed} minutes: ${one.state}, ${counts}, shown as "${tagOf(one).text}", ${next}`,
        )
      }
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/lost-answers.txt')
})

it('sends a bounced message again where a person wants it, and one of unknown fate only if Resend lacks it', async () => {
  await using made = await openOver('resend', [ANA, BEN])
  made.server.acts.push('take and drop')
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
  expect(made.server.received.map(({ to }) => to).sort()).toEqual([ANA, BEN, BEN])
  expect((await made.states()).map(([, state]) => state)).toEqual(['sent', 'sent'])
  expect((await made.deliveries()).map(({ queuedAt }) => queuedAt === at)).toEqual([true, false])
})

it('waits as long as the API wants, names it without its key, and then sends all', async () => {
  await using made = await openOver('resend', [ANA, BEN])
  made.server.acts.push(apiFault('resend', 429, 'rate_limit_exceeded', 'slow', { 'retry-after': '1800' }))
  await made.deliver()
  const outage = await findMailOutage(made.store.db, made.transport.name)
  expect(outage).toMatchObject({ server: `resend://${made.server.host}`, kind: 'transient', replyCode: 429 })
  expect(outage?.nextAttemptAt).toBe('2026-11-21T07:30:00.000Z')
  expect((await made.states()).map(([, ...state]) => state)).toEqual([
    ['pending', 0],
    ['pending', 0],
  ])
  await made.deliver(29)
  expect(made.server.received).toHaveLength(0)
  await made.deliver(1)
  expect((await made.states()).map(([, state]) => state)).toEqual(['sent', 'sent'])
})

it('counts a refusal against the recipient alone, and one of the sender against nobody', async () => {
  await using made = await openOver('ses', [ANA, BEN])
  for (const words of [`Illegal address ${ANA}`, 'Email address is not verified: reports@example.com'])
    made.server.acts.push(apiFault('ses', 400, 'MessageRejected', words))
  await made.deliver()
  expect(await made.deliveries()).toMatchObject([
    { state: 'failed', isRefusal: 1, replyCode: 400 },
    { state: 'pending', isRefusal: 0, replyCode: null },
  ])
  expect(await findMailOutage(made.store.db, made.transport.name)).toMatchObject({
    kind: 'sender',
    replyCode: 400,
  })
})
