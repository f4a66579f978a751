/** The events of the mail provider, over HTTP: what is signed is stored before the answer, and applied once. */

import { createHmac } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { standardKey } from '../../src/contract/webhook.ts'
import { takeProviderEvent } from '../../src/jobs/outbox/read-bounces.ts'
import { idOf } from '../../src/mail/message.ts'
import { MAIL_WEBHOOK_PATH, mailWebhookRoutes } from '../../src/web/webhooks.ts'
import { openLedger } from '../support/mail/ledger.ts'
import { SENDER } from '../support/mail/message.ts'
import { DAILY, recipient } from '../support/mail/reports.ts'
import { OTHER_SECRET, SECRET, send } from '../support/network/webhook-receiver.ts'
import { openReadLog, openTestWeb } from '../support/web/server.ts'

const DANA = 'dana@example.org'
const NOW = new Date('2026-11-21T09:00:00Z')

async function openMailReceiver() {
  const ledger = await openLedger([DANA])
  onTestFinished(() => ledger.store.close())
  const { store } = ledger
  const sent = { state: 'sent', next_attempt_at: null, response: 'accepted, id=49a3999c-0ce1-4ea6' } as const
  await store.db.updateTable('delivery').set(sent).execute()
  const { log, lines } = await openReadLog([SECRET])
  const now = () => NOW
  const deps = {
    store,
    log,
    now,
    sender: SENDER,
    reports: [{ report: DAILY, recipients: [recipient(DANA)] }],
    reader: { locale: 'en-GB', timeZone: 'UTC' },
    suppressAfterBounces: 5,
  }
  let fails = false
  const take = async (id: string, body: Buffer) => {
    if (fails) throw new Error('the disk is full')
    await takeProviderEvent(deps, id, body)
  }
  const routes = mailWebhookRoutes({ publicUrl: null, secrets: () => [SECRET], take, now, log })
  const server = await openTestWeb({ log }, [], null, [routes])
  const [message] = await ledger.deliveries()
  if (message === undefined) throw new Error('there is one')
  return {
    ...ledger,
    lines,
    url: `${server.url}${MAIL_WEBHOOK_PATH}`,
    tag: idOf(message.messageId),
    setFails: (value: boolean) => {
      fails = value
    },
    state: async () => {
      const { state, is_refusal, response } = await store.db
        .selectFrom('delivery')
        .selectAll()
        .executeTakeFirstOrThrow()
      return `${state} ${is_refusal} ${response}`
    },
    known: async () => (await store.db.selectFrom('notification').selectAll().orderBy('id').execute()).length,
  }
}

function event(type: string, data: object = {}): string {
  const created_at = '2026-11-21T08:59:00.000Z'
  return JSON.stringify({
    type,
    created_at,
    data: { created_at, email_id: '49a3999c-0ce1-4ea6', to: [DANA], subject: 'Another', ...data },
  })
}

function signed(
  body: string,
  { id = 'msg_1', secret = SECRET, at = NOW, more = '' } = {},
): Record<string, string> {
  const time = String(at.getTime() / 1000)
  const signature = createHmac('sha256', standardKey(secret)).update(`${id}.${time}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'svix-id': id,
    'svix-timestamp': time,
    'svix-signature': `${more}v1,${signature}`,
  }
}

const HARD = {
  bounce: {
    type: 'Permanent',
    subType: 'General',
    message: 'hard',
    diagnosticCode: [`smtp; 550 5.1.1 <${DANA}> no such user`],
  },
}

it('each event moves the message as a mail would', async () => {
  const lines: string[] = []
  for (const [type, data] of [
    ['email.sent', {}],
    ['email.delivered', {}],
    ['email.delivery_delayed', {}],
    ['email.bounced', HARD],
    ['email.bounced', { bounce: { type: 'Permanent', message: 'It bounced.' } }],
    [
      'email.bounced',
      { bounce: { type: 'Permanent', diagnosticCode: ['smtp; 550 5.7.1 blocked using spamhaus'] } },
    ],
    [
      'email.bounced',
      { bounce: { type: 'Transient', subType: 'MailboxFull', diagnosticCode: ['smtp; 452 4.2.2 full'] } },
    ],
    [
      'email.bounced',
      { bounce: { type: 'Undetermined', subType: 'Undetermined', message: 'Nobody knows.' } },
    ],
    ['email.failed', { failed: { reason: 'reached_daily_quota' } }],
    [
      'email.suppressed',
      { suppressed: { type: 'OnAccountSuppressionList', message: 'It is on the suppression list.' } },
    ],
    ['email.complained', {}],
    ['contact.created', { id: 'x' }],
  ] as const) {
    for (const way of ['by tag', 'by array of tags', 'by id'] as const) {
      const receiver = await openMailReceiver()
      const { tag } = receiver
      const tags = {
        'by tag': { leadsheet: tag, other: 'x' },
        'by array of tags': [{ name: 'leadsheet', value: tag }],
        'by id': undefined,
      }[way]
      const body = event(type, { ...data, tags })
      const { status } = await send(receiver.url, body, signed(body))
      lines.push(`${type} ${JSON.stringify(data)} ${way}: ${status}, ${await receiver.state()}`)
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/mail-webhook.txt')
})

it('an event that comes twice counts once, and one that was not stored is answered with 500', async () => {
  const receiver = await openMailReceiver()
  const body = event('email.bounced', { ...HARD, tags: { leadsheet: receiver.tag } })
  receiver.setFails(true)
  expect((await send(receiver.url, body, signed(body))).status).toBe(500)
  expect(await receiver.known()).toBe(0)
  receiver.setFails(false)
  expect((await send(receiver.url, body, signed(body))).status).toBe(204)
  expect((await send(receiver.url, body, signed(body))).status).toBe(204)
  expect(await receiver.known()).toBe(1)
  expect(await receiver.state()).toContain('bounced 1')
})

it('only what is signed now is taken', async () => {
  const receiver = await openMailReceiver()
  const body = event('email.bounced', { ...HARD, tags: { leadsheet: receiver.tag } })
  const minutes = (count: number) => new Date(NOW.getTime() + count * 60_000)
  const beside = { at: minutes(-4), more: 'v1,AAAA v2,BBBB ' }
  for (const [name, status, headers, sent] of [
    ['another secret', 401, signed(body, { secret: OTHER_SECRET }), body],
    ['another body', 401, signed(body), body.replace('5.1.1', '5.1.2')],
    ['six minutes ago', 401, signed(body, { at: minutes(-6) }), body],
    ['in six minutes', 401, signed(body, { at: minutes(6) }), body],
    ['another id', 401, { ...signed(body), 'svix-id': 'msg_2' }, body],
    ['no signature', 401, { 'content-type': 'application/json' }, body],
    ['four minutes ago, beside another signature', 204, signed(body, beside), body],
    ['signed, but no JSON', 204, signed('{', { id: 'msg_3' }), '{'],
  ] as const)
    expect([name, (await send(receiver.url, sent, headers)).status]).toEqual([name, status])
  expect(await receiver.known()).toBe(1)
})
