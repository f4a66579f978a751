// @both-stores
/** Notifications change these: messages, preferences, who is paused, and who is sent a confirmation. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type BouncesDeps,
  createBouncesTask,
  readBounces,
  takeProviderEvent,
} from '../../../src/jobs/outbox/read-bounces.ts'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { changePreference, preferenceText } from '../../../src/jobs/reports/preferences.ts'
import { openOwnQueue } from '../../../src/jobs/schedule/serial-task.ts'
import { openMailbox } from '../../../src/mail/mailbox.ts'
import { idOf } from '../../../src/mail/message.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { type DeliveryRowState, listDeliveries } from '../../../src/store/outbox/delivery.ts'
import { listRefusing } from '../../../src/store/outbox/delivery-problems.ts'
import { findBounceMailbox } from '../../../src/store/outbox/notification.ts'
import { saveIssue } from '../../../src/store/reports/issue.ts'
import { listPreferences } from '../../../src/store/reports/preference.ts'
import { folderWith } from '../../support/folder.ts'
import { enqueueTo, openLedger } from '../../support/mail/ledger.ts'
import { SENDER, unsavedIssue } from '../../support/mail/message.ts'
import {
  autoReplyMail,
  complaintMail,
  ordinaryMail,
  statusMail,
  unsubscribeMail,
} from '../../support/mail/notifications.ts'
import { AT_ONCE, DAILY, recipient } from '../../support/mail/reports.ts'
import { openMailServer } from '../../support/mail-server.ts'

const NEVER = new AbortController().signal
const DANA = 'dana@example.org'

type About = Parameters<typeof statusMail>[0]

/** The mails that may come for a message. */
const MAILS = {
  hard: statusMail,
  soft: (about: About) => statusMail(about, { status: '5.2.2', said: '552 5.2.2 <{to}>: mailbox full' }),
  delayed: (about: About) =>
    statusMail(about, { action: 'delayed', status: '4.4.1', said: '451 4.4.1 no route' }),
  delivered: (about: About) =>
    statusMail(about, { action: 'delivered', status: '2.0.0', said: '250 2.0.0 delivered' }),
  complaint: complaintMail,
  holiday: autoReplyMail,
} as const
const KINDS = Object.keys(MAILS) as (keyof typeof MAILS)[]

/** Opens a ledger with messages, and a folder in which mails arrive. */
async function openBounced(recipients: readonly string[] = [DANA], locale = 'en-GB') {
  const ledger = await openLedger(recipients)
  const { store, clock, deps } = ledger
  const folder = folderWith()
  const mailbox = `file:${folder}`
  const report = { ...DAILY, locale }
  let mails = 0
  const all: BouncesDeps = {
    ...deps,
    sender: SENDER,
    reports: [{ report, recipients: recipients.map((address) => recipient(address, { locale })) }],
    reader: { locale: 'en-GB', timeZone: 'UTC' },
    suppressAfterBounces: 5,
    returnAddress: null,
    openMailbox: () => openMailbox(mailbox),
  }
  const write = async (to: object, recipient?: string) => {
    const query = store.db.updateTable('delivery').set(to)
    await (recipient === undefined ? query : query.where('recipient', '=', recipient)).execute()
  }
  const sent = {
    state: 'sent',
    next_attempt_at: null,
    reply_code: 250,
    response: '250 queued id=abc',
  } as const
  return {
    ...ledger,
    deps: all,
    mailbox,
    write,
    /** Pretends that all messages were sent. */
    send: () => write(sent),
    put: (...arrived: readonly string[]) => {
      for (const mail of arrived) writeFileSync(join(folder, `${++mails}.eml`), mail)
    },
    read: () => readBounces(all, NEVER),
    /** Queues another issue, on a later day, and pretends that it was sent. */
    async nextIssue(day: number) {
      clock.now = new Date(Date.UTC(2026, 10, 21 + day, 7))
      const at = clock.now.toISOString()
      const period = {
        from: `2026-11-${20 + day}T00:00:00Z`,
        to: `2026-11-${21 + day}T00:00:00Z`,
        timeZone: 'UTC',
      }
      const figures = { ...unsavedIssue().figures, period }
      const issue = await store.write((trx) =>
        saveIssue(trx, unsavedIssue({ renderedAt: at, period, figures })),
      )
      for (const address of recipients) await store.write((trx) => enqueueTo(trx, store, issue, address))
      await store.db.updateTable('delivery').where('issue_id', '=', issue.id).set(sent).execute()
      return listDeliveries(store.db, issue.id)
    },
    preferences: async () =>
      (await listPreferences(store.db)).map((one) => `${one.address} ${one.report}: ${preferenceText(one)}`),
    rows: () =>
      store.db
        .selectFrom('delivery')
        .select(['recipient', 'revision', 'state', 'is_refusal', 'reply_code', 'response', 'next_attempt_at'])
        .orderBy('recipient')
        .orderBy('revision')
        .execute(),
  }
}

/** The states in which a notification may meet a message, and how often its fate was unknown before. */
const STARTS: readonly (readonly [name: string, state: DeliveryRowState, unconfirmed?: number])[] = [
  ['pending', 'pending'],
  ['tried again', 'pending', 1],
  ['data', 'data'],
  ['unconfirmed', 'unconfirmed', 1],
  ...(['sent', 'failed', 'withdrawn', 'bounced', 'complained'] as const).map((it) => [it, it] as const),
]

describe('a notification', () => {
  it('moves a message by its state', async () => {
    const lines: string[] = []
    for (const [name, state, unconfirmed_count = 0] of STARTS) {
      for (const kind of KINDS) {
        await using bounced = await openBounced()
        const waits = ['pending', 'data', 'unconfirmed'].includes(state)
        const next_attempt_at = waits ? '2026-11-21T07:00:00.000Z' : null
        await bounced.write({ state, unconfirmed_count, next_attempt_at, response: '250 ok' })
        const message = await bounced.first()
        bounced.put(MAILS[kind](message))
        const { notifications } = await bounced.read()
        const [row] = await bounced.rows()
        const waiting = row?.next_attempt_at === null ? '' : ', waits'
        const refusal = row?.is_refusal === 1 ? ', counts' : ''
        const outcome = notifications[0]?.outcome ?? 'ignored'
        lines.push(`${name} + ${kind}: ${row?.state}${waiting}${refusal} (${outcome}) ${row?.response}`)
      }
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/notifications.txt')
  }, 60_000)

  it('comes by two ways and in any order, and the end is the same', async () => {
    const ends = new Map<string, Set<string>>()
    for (const other of ['soft', 'delivered', 'complaint'] as const) {
      for (const order of permutations(['hard', other, 'event'] as const)) {
        await using bounced = await openBounced()
        await bounced.write({ state: 'data', sender: 'gone' })
        const message = await bounced.first()
        const bounce = { type: 'Permanent', diagnosticCode: [`smtp; 550 5.1.1 <${DANA}>: no such user here`] }
        const tags = { leadsheet: idOf(message.messageId) }
        const data = { email_id: 'abc', to: [DANA], subject: 's', tags, bounce }
        const created_at = '2026-11-21T08:00:00.000Z'
        const event = Buffer.from(JSON.stringify({ type: 'email.bounced', created_at, data }))
        for (const part of [...order, ...order]) {
          if (part === 'event') await takeProviderEvent(bounced.deps, 'msg_1', event)
          else bounced.put(MAILS[part](message))
          await bounced.read()
        }
        const [row] = await bounced.rows()
        const kept = await bounced.store.db.selectFrom('notification').selectAll().execute()
        const end = [row?.state, row?.is_refusal, kept.length, await bounced.preferences()]
        ends.set(other, (ends.get(other) ?? new Set()).add(JSON.stringify(end)))
      }
    }
    expect(Object.fromEntries([...ends].map(([name, set]) => [name, [...set]]))).toEqual({
      soft: ['["bounced",1,3,[]]'],
      delivered: ['["bounced",1,3,[]]'],
      complaint: [
        JSON.stringify([
          'complained',
          0,
          3,
          [`${DANA} daily: unsubscribed by themselves on 2026-11-21: reported a message as spam`],
        ]),
      ],
    })
  }, 60_000)

  it('without an id is of the only message whose subject it quotes', async () => {
    const outcomes: string[] = []
    const subject = 'Täglich: 59 neue Leads · Fr., 20. Nov.'
    const encoded = `=?UTF-8?Q?T=C3=A4glich:_59_neue?=\n =?UTF-8?Q?_Leads_=C2=B7_Fr.,_20._Nov.?=`
    for (const [name, mail] of [
      ['quoted', { subject: encoded }],
      ['another subject', { subject: 'Lunch' }],
      ['another address', { subject: encoded, recipient: 'erik@example.org' }],
    ] as const) {
      await using ledger = await openBounced()
      const message = await sendWithSubject(ledger, subject)
      ledger.put(statusMail({ ...message, ...mail }, { isNameless: true }))
      const { notifications } = await ledger.read()
      outcomes.push(`${name}: ${notifications.map(({ outcome }) => outcome)}`)
      if (name !== 'quoted') continue
      const [second] = await ledger.nextIssue(1)
      if (second === undefined) throw new Error('there is one')
      await ledger.store.db
        .updateTable('message')
        .set({ head: JSON.stringify({ subject }) })
        .execute()
      const late = statusMail({ ...message, ...mail }, { isNameless: true }).replace('21 Nov', '22 Nov')
      ledger.put(late)
      outcomes.push(`two with it: ${(await ledger.read()).notifications.map(({ outcome }) => outcome)}`)
    }
    expect(outcomes).toEqual([
      'quoted: applied',
      'two with it: unmatched',
      'another subject: unmatched',
      'another address: unmatched',
    ])
  })

  it('about a later address behind an alias does not count against the recipient', async () => {
    await using ledger = await openBounced()
    await ledger.send()
    const message = await ledger.first()
    ledger.put(statusMail(message, { final: 'forwarded@example.net' }))
    await ledger.read()
    expect(await ledger.rows()).toMatchObject([{ state: 'bounced', is_refusal: 0 }])
  })

  it('about somebody else changes nothing for the recipient', async () => {
    const subject = 'Daily leads: 59 new'
    const answer = (message: About) =>
      statusMail({ ...message, subject: `Re: ${subject}` }).replace(
        /Message-ID: (.*)\r\nX-Leadsheet-Id: .*/,
        'Message-ID: <own@example.com>\r\nReferences: $1',
      )
    const ends: string[] = []
    for (const [name, make] of [
      [
        'a complaint of another address',
        (message) => complaintMail({ ...message, recipient: 'mia@example.net' }),
      ],
      ['an answer to it that came back', answer],
      [
        'a name like that of a server',
        (message) => autoReplyMail(message).replace(/^From: .*/m, `From: Mail Service <${DANA}>`),
      ],
      [
        'words that are not known',
        (message) =>
          statusMail(message)
            .replace('Delivery Status Notification\r\nAuto-Submitted: auto-replied', 'Nedoručeno')
            .replace(/Content-Type: multipart[\s\S]*/, `In-Reply-To: ${message.messageId}\r\n\r\nx`),
      ],
      [
        'an unsubscribe of another list',
        () => unsubscribeMail(DANA, 'unsubscribe').replace(/^To: .*/m, 'To: news@example.com'),
      ],
    ] as readonly (readonly [string, (message: About) => string])[]) {
      await using ledger = await openBounced()
      const message = await sendWithSubject(ledger, subject)
      ledger.put(make(message))
      const { notifications } = await ledger.read()
      const [row] = await ledger.rows()
      const told = notifications.map(({ kind, outcome }) => `${kind} ${outcome}`).join() || 'none told'
      ends.push(`${name}: ${told}, ${row?.state}, ${await ledger.preferences()}`)
    }
    expect(ends).toEqual([
      'a complaint of another address: complained unchanged, sent, ',
      'an answer to it that came back: bounced unmatched, sent, ',
      'a name like that of a server: none told, sent, ',
      'words that are not known: other unchanged, sent, ',
      'an unsubscribe of another list: none told, sent, ',
    ])
  })

  it('of several that are attached to one mail is each carried out', async () => {
    await using ledger = await openBounced([DANA, 'erik@example.org'])
    await ledger.send()
    const attached = (await ledger.deliveries()).map(
      (message) =>
        `--d\r\nContent-Type: message/rfc822\r\n\r\n${statusMail(message)
          .replaceAll('"b"', message.recipient.slice(0, 4))
          .replaceAll('--b', `--${message.recipient.slice(0, 4)}`)}\r\n`,
    )
    ledger.put(
      `From: it@example.com\r\nTo: reports@example.com\r\nSubject: Fwd: bounces\r\nContent-Type: multipart/mixed; boundary=d\r\n\r\n${attached.join('')}--d--\r\n`,
    )
    await ledger.read()
    expect(await ledger.rows()).toMatchObject([{ state: 'bounced' }, { state: 'bounced' }])
    expect(await ledger.read()).toMatchObject({ messages: 0 })
  })

  it('is not read twice, and the place in the mailbox moves with what it changed', async () => {
    await using ledger = await openBounced()
    await ledger.send()
    const message = await ledger.first()
    ledger.put(statusMail(message), ordinaryMail(1))
    expect(await ledger.read()).toMatchObject({ messages: 2, notifications: [{ outcome: 'applied' }] })
    const { position } = (await findBounceMailbox(ledger.store.db, ledger.mailbox)) ?? {}
    expect(await ledger.read()).toMatchObject({ messages: 0, notifications: [] })
    expect(await findBounceMailbox(ledger.store.db, ledger.mailbox)).toMatchObject({
      position,
      failingSince: null,
    })
  })
})

function* permutations<T>(all: readonly T[]): Generator<T[]> {
  if (all.length < 2) yield [...all]
  else
    for (const [index, first] of all.entries())
      for (const rest of permutations(all.toSpliced(index, 1))) yield [first, ...rest]
}

/** Each day one letter a recipient: hard, soft, delivered, out of office, complaint, or an answer in other words. */
const STORIES: Readonly<Record<string, string>> = {
  'five hard in a row': 'h... '.repeat(5),
  'four hard and one delivered': `${'h... '.repeat(4)}....`,
  'three hard, one delivered, four hard': `${'h... '.repeat(3)}.... ${'h... '.repeat(4)}`,
  'soft for a month': 's... '.repeat(30),
  'hard and soft in turn': `${'h... s... '.repeat(4)}h...`,
  'most of the issue alike, by their codes': 'hhh. '.repeat(6),
  'most of the issue alike, by words that name each': 'www. '.repeat(6),
  'most of the issue, each for another reason': 'hwx. '.repeat(5),
  'half of the issue alike': 'hh.. '.repeat(5),
  'all are out of office': 'oooo '.repeat(6),
  'a complaint': 'c...',
}

it('who gets no more, by stories of many days', async () => {
  const people = ['ana@example.org', 'ben@example.com', 'cleo@example.net', 'dana@example.de']
  const text: string[] = []
  for (const [name, story] of Object.entries(STORIES)) {
    const days = story.trim().split(' ')
    await using ledger = await openBounced(people)
    text.push(`${name}:`)
    await ledger.write({ state: 'withdrawn', next_attempt_at: null })
    for (const [day, letters] of days.entries()) {
      const messages = await ledger.nextIssue(day)
      for (const [index, message] of messages.entries()) {
        const name = message.recipient.split('@')[0]
        const words = { status: '5.0.0', said: `${name} is no user here, queue ${index}${day}` }
        const mails: Readonly<Record<string, (about: About) => string>> = {
          h: MAILS.hard,
          s: MAILS.soft,
          w: (about) => statusMail(about, words),
          x: (about) => statusMail(about, { status: '5.1.2', said: '550 5.1.2 no such domain' }),
          o: MAILS.holiday,
          c: MAILS.complaint,
        }
        const mail = mails[letters[index] ?? '']?.(message)
        if (mail !== undefined) ledger.put(`${mail}${day}`)
      }
      ledger.clock.now = new Date(ledger.clock.now.getTime() + 3_600_000)
      await ledger.read()
      const failing = await listRefusing(ledger.store.db, 3)
      const preferences = await ledger.preferences()
      if (day === days.length - 1) {
        text.push(...preferences.map((line) => `  ${line}`))
        text.push(
          ...failing.map((one) => `  failing: ${one.recipient}, ${one.issues} in a row: ${one.response}`),
        )
        if (preferences.length + failing.length === 0) text.push('  all go on')
      }
    }
  }
  await expect(`${text.join('\n')}\n`).toMatchFileSnapshot('golden/suppression.txt')
}, 120_000)

it('the daemon reads every five minutes, goes on while the mailbox is away, and sends what confirms an unsubscribe', async () => {
  await using ledger = await openBounced()
  const { store, clock, mailbox } = ledger
  await ledger.send()
  let folder = mailbox
  let confirmed = 0
  const onUnsubscribed = () => {
    confirmed++
  }
  const openFolder = () => openMailbox(folder)
  const stop = new AbortController()
  const queue = openOwnQueue(ledger.deps.log)
  const task = createBouncesTask({ ...ledger.deps, openMailbox: openFolder, queue, onUnsubscribed })
  task.open(stop.signal)
  const after = async (minutes: number) => {
    clock.now = new Date(clock.now.getTime() + minutes * 60_000)
    task.wake()
    await task.idle()
    const [row] = await ledger.rows()
    const { failingSince } = (await findBounceMailbox(store.db, folder)) ?? {}
    return [(await ledger.rows()).at(-1)?.state, confirmed, failingSince ?? null, (row?.revision ?? 0) < 0]
  }
  const message = await ledger.first()
  expect(await after(0)).toEqual(['sent', 0, null, false])
  ledger.put(statusMail(message))
  expect(await after(4)).toEqual(['sent', 0, null, false])
  expect(await after(1)).toEqual(['bounced', 0, null, false])
  ledger.put(unsubscribeMail(DANA, 'unsubscribe'))
  expect(await after(5)).toEqual(['bounced', 1, null, true])
  folder = 'file:/nowhere/bounces'
  expect(await after(5)).toEqual(['bounced', 1, '2026-11-21T07:15:00.000Z', true])
  expect(await after(5)).toEqual(['bounced', 1, '2026-11-21T07:15:00.000Z', true])
  folder = mailbox
  // The clock was an hour ahead and was set back.
  await after(60)
  ledger.put(complaintMail(message))
  expect(await after(-60)).toEqual(['complained', 1, null, true])
  stop.abort()
})

describe('an unsubscribe by mail', () => {
  it('is carried out for the recipient of the message, and confirmed once', async () => {
    const text: string[] = []
    for (const [name, from, subject, locale] of [
      ['by its recipient', DANA, 'unsubscribe daily {id}', 'en-GB'],
      ['in German', DANA, 'unsubscribe daily {id}', 'de-DE'],
      ['from another address', 'd.lopes@example.net', 'unsubscribe daily {id}', 'en-GB'],
      ['without an id', DANA, 'unsubscribe', 'en-GB'],
      ['of another report', DANA, 'unsubscribe weekly', 'en-GB'],
      ['by a stranger', 'eve@example.net', 'unsubscribe daily', 'en-GB'],
    ] as const) {
      await using ledger = await openBounced([DANA, 'erik@example.org'], locale)
      await ledger.write({ state: 'sent', next_attempt_at: null, response: '250 ok' }, 'erik@example.org')
      await using server = await openMailServer()
      await using transport = openTransport(server.url, { log: ledger.deps.log })
      const deliver = () => deliverDue({ ...ledger.deps, policy: AT_ONCE, transport }, NEVER)
      await deliver()
      // A copy of the issue waits.
      const message = await ledger.first()
      const mail = unsubscribeMail(from, subject.replace('{id}', idOf(message.messageId)))
      ledger.put(mail)
      const first = await ledger.read()
      ledger.put(mail.replace('10:00', '11:00'))
      const second = await ledger.read()
      await deliver()
      text.push(
        `# ${name}: ${first.notifications.map(({ outcome }) => outcome)}, again: ${second.notifications.map(({ outcome }) => outcome)}`,
        ...(await ledger.preferences()),
      )
      for (const { to, mail } of server.received.slice(1)) {
        const fields = mail.headers.filter(({ key }) => ['subject', 'auto-submitted', 'to'].includes(key))
        text.push(
          `to ${to}`,
          ...fields.map(({ key, value }) => `${key}: ${value}`),
          '',
          mail.text ?? '',
          mail.html ?? '',
        )
      }
    }
    await expect(`${text.join('\n')}\n`).toMatchFileSnapshot('golden/unsubscribe.txt')
  }, 60_000)

  it('is not confirmed to an address that was never written to, and withdraws what waits', async () => {
    await using ledger = await openBounced()
    ledger.put(unsubscribeMail(DANA, 'unsubscribe'))
    expect((await ledger.read()).notifications).toMatchObject([{ outcome: 'applied' }])
    expect(await ledger.rows()).toMatchObject([{ state: 'withdrawn' }])
  })

  it('of an old mail is over if the recipient has come back since', async () => {
    await using ledger = await openBounced()
    await ledger.send()
    ledger.clock.now = new Date('2026-11-21T12:00:00Z')
    const key = { address: DANA, report: 'daily' }
    const by = { by: 'operator', reason: null } as const
    await changePreference(ledger.store, key, 'start', by, ledger.clock.now)
    ledger.put(unsubscribeMail(DANA, 'unsubscribe'))
    expect((await ledger.read()).notifications).toMatchObject([{ outcome: 'unchanged' }])
    expect(await ledger.preferences()).toEqual([`${DANA} daily: active`])
  })

  it('can be followed by another one after the recipient came back', async () => {
    await using ledger = await openBounced()
    await ledger.send()
    ledger.put(unsubscribeMail(DANA, 'unsubscribe'))
    await ledger.read()
    const key = { address: DANA, report: 'daily' }
    await changePreference(ledger.store, key, 'start', { by: 'recipient', reason: null }, ledger.clock.now)
    ledger.clock.now = new Date(ledger.clock.now.getTime() + 3_600_000)
    ledger.put(unsubscribeMail(DANA, 'Unsubscribe'))
    await ledger.read()
    expect((await ledger.rows()).map(({ revision, state }) => [revision, state])).toEqual([
      [expect.any(Number), 'pending'],
      [expect.any(Number), 'pending'],
      [0, 'sent'],
    ])
  })
})

/** Sends the message, which then has this subject. */
async function sendWithSubject(ledger: Awaited<ReturnType<typeof openBounced>>, subject: string) {
  await ledger.send()
  const head = JSON.stringify({ subject })
  await ledger.store.db.updateTable('message').set({ head }).execute()
  return ledger.first()
}
