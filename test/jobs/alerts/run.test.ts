/** Operators get alerts about the problems of a real sync, through a real mail server and a real webhook. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import type { AlertLine } from '../../../src/jobs/alerts/alert-message.ts'
import { type AlertWebhook, postDueAlerts } from '../../../src/jobs/alerts/alert-webhook.ts'
import { type HeartbeatMonitor, pingHeartbeatMonitor } from '../../../src/jobs/alerts/heartbeat-ping.ts'
import { openPoster, type Poster } from '../../../src/jobs/alerts/http-post.ts'
import { type AlertDeps, alertWithoutStore, updateAlerts } from '../../../src/jobs/alerts/run.ts'
import { createFaultWatch } from '../../../src/jobs/alerts/store-fault.ts'
import { createRateLimit } from '../../../src/jobs/outbox/rate-limit.ts'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { openAlertMail } from '../../../src/report/render/alert-mail.ts'
import { listAlerts, markAcknowledged } from '../../../src/store/alerts/alert.ts'
import { deleteMailOutages } from '../../../src/store/outbox/send-limits.ts'
import { type MailServer, openMailServer, openScriptedServer } from '../../support/mail-server.ts'
import { openReceiver, type Receiver } from '../../support/network/receiver.ts'
import { openSyncing, SILENT, type Syncing } from '../../support/syncing.ts'
import { startUpstream, status, type Upstream } from '../../support/upstream.ts'
import { bareInstallation } from '../../support/web/installation.ts'

const signal = new AbortController().signal
const render = await openAlertMail('templates', null)

let upstream: Upstream
let syncing: Syncing
let mailServer: MailServer
let receiver: Receiver
let poster: Poster
let deps: AlertDeps & AlertWebhook & HeartbeatMonitor

beforeEach(async () => {
  upstream = await startUpstream(5)
  syncing = await openSyncing(upstream.url)
  mailServer = await openMailServer()
  receiver = await openReceiver()
  poster = openPoster()
  const { store, clock } = syncing
  deps = {
    store,
    log: SILENT,
    now: () => clock.now,
    poster,
    knowledge: { clockAheadMs: () => null },
    installation: bareInstallation(store),
    alerts: {
      mail: {
        recipients: ['ops@example.com', 'oncall@example.com'],
        from: 'r@example.com',
        replyTo: null,
        render,
      },
      hasWebhook: true,
      place: 'db1, /data',
    },
    webhook: { url: receiver.url, format: 'json' },
    heartbeat: { url: receiver.url.replace('hook', 'ping') },
  }
})
afterEach(async () => {
  for (const each of [upstream, syncing, mailServer, receiver, poster]) await each[Symbol.asyncDispose]()
})

/** Runs a tick of the daemon with its mails, so many minutes after the last one. */
async function tick(minutes = 1, url = mailServer.url): Promise<void> {
  syncing.clock.now = new Date(syncing.clock.now.getTime() + minutes * 60_000)
  await updateAlerts({ ...deps, installation: { ...deps.installation, mailServer: url } })
  await postDueAlerts(deps, signal)
  await using transport = openTransport(url, { log: SILENT })
  const policy = {
    rateLimit: createRateLimit(Number.POSITIVE_INFINITY),
    isRecipient: () => true,
  } as const
  await deliverDue({ ...deps, transport, policy }, signal)
}

async function failingSync(code = 503): Promise<void> {
  upstream.faults.push(...Array(5).fill(status(code)))
  await syncing.sync({ parts: ['leads'] })
  upstream.faults.length = 0
}

const ping = () => pingHeartbeatMonitor(deps, signal)

/** Tells the mails, the posts and the pings that have come, and what the webhook has not accepted. */
async function told(): Promise<string> {
  const posts = receiver.posts.map(({ path, body }) => {
    if (path.startsWith('/ping')) return `${path}: ${body}`
    const { subject, opened } = JSON.parse(body)
    return [`post: ${subject}`, ...opened.map((alert: AlertLine) => alert.message)].join('\n  ')
  })
  const messages = syncing.store.db
    .selectFrom('alert_message')
    .where('post_state', 'in', ['pending', 'failed'])
  const lines = [
    ...mailServer.received.map(({ to, mail }) => `mail to ${to}: ${mail.subject}`),
    ...posts,
    ...(await messages.selectAll().orderBy('id').execute()).map(
      (row) => `not accepted: ${row.post_state} ${row.post_attempts} ${row.post_response}`,
    ),
    ...(await listAlerts(syncing.store.db, 'open', 10)).map(
      ({ checkId, acknowledgedAt }) => `open: ${checkId}, acknowledged ${acknowledgedAt}`,
    ),
  ]
  const named = lines.join('\n').replaceAll(/127\.0\.0\.1:\d{2,}/g, 'SERVER')
  return `${named.replaceAll(/Z-[0-9a-f]{6}/g, 'Z-ID')}\n`
}

/** The stories. The name of each is that of its golden. */
const STORIES: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'five syncs fail, and a good one follows'() {
    for (let sync = 0; sync < 5; sync++) {
      await failingSync()
      await tick(15)
    }
    await syncing.sync({ parts: ['leads'] })
    for (let minute = 0; minute < 2; minute++) await tick()
    const [{ mail } = {}] = mailServer.received
    expect(mail?.text).toMatch(/The last 3 syncs failed or came back incomplete[\s\S]+503 to 5 attempts/)
    expect(mail?.html).toContain('Sync failing')
    expect(mail?.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated')
  },
  async 'the key is refused, each day again, until an operator knows'() {
    await failingSync(401)
    await tick()
    await tick(24 * 60)
    const [alert] = await listAlerts(syncing.store.db, 'open', 10)
    await syncing.store.write((trx) => markAcknowledged(trx, alert?.id ?? 0, '2026-11-22T06:00:00.000Z'))
    await tick(24 * 60)
  },
  async 'the mail server is away for an hour'() {
    const away = 'smtp://127.0.0.1:1'
    await failingSync(401)
    await tick(1, away)
    for (let minutes = 0; minutes < 60; minutes += 5) await tick(5, away)
    expect(mailServer.received).toEqual([])
    await tick(60)
    await tick(5)
  },
  async 'the webhook fails, and what comes after waits for it'() {
    receiver.answer = 500
    await failingSync(401)
    await tick()
    await syncing.sync()
    await tick(0.5)
    expect(receiver.posts).toHaveLength(1)
    await tick(6)
    expect(receiver.posts).toHaveLength(2)
    receiver.answer = 200
    await tick(6)
  },
  async 'the webhook fails for two days'() {
    receiver.answer = 404
    await failingSync(401)
    for (let hours = 0; hours < 60; hours += 5) await tick(300)
  },
  async 'syncs end well and badly, and one has begun'() {
    await syncing.sync()
    syncing.clock.now = new Date('2026-11-21T06:20:00Z')
    await ping()
    await syncing.sync()
    for (const answer of [503, 200, 200]) {
      receiver.answer = answer
      await ping()
    }
    await failingSync()
    await ping()
    const runs = syncing.store.db.updateTable('sync_run')
    await runs.set({ outcome: null, finished_at: null, leads_as_of: null }).execute()
    await ping()
    await runs.set({ outcome: 'ok', leads_as_of: '2026-11-21T06:00:00.000Z' }).execute()
    await ping()
  },
  async 'a mail server takes no message, and does again'() {
    await syncing.sync()
    await ping()
    await using limited = await openScriptedServer({ MAIL: '550 5.4.5 daily user sending limit exceeded' })
    await failingSync(401)
    await syncing.sync()
    for (const minutes of [1, 6]) await tick(minutes, limited.url)
    await ping()
    await syncing.store.write(deleteMailOutages)
    await tick()
    await ping()
  },
}

it.each(Object.keys(STORIES))('what operators and the heartbeat monitor are told where %s', async (name) => {
  await STORIES[name]?.()
  await expect(await told()).toMatchFileSnapshot(`golden/${name.replaceAll(/,? /g, '-')}.txt`)
})

it('the address of a webhook is in no table', async () => {
  receiver.answer = (response) => response.destroy()
  await failingSync(401)
  await tick()
  const rows = await syncing.store.db.selectFrom('alert_message').selectAll().execute()
  expect(rows).toMatchObject([{ post_state: 'pending', post_attempts: 1 }])
  expect(JSON.stringify(rows)).not.toContain('s3cr3t')
})

it('a fault of the database goes to the webhook and the heartbeat monitor without the database, again where that refuses it, and once by mail to each operator, if it can be mailed', async () => {
  await syncing.store.close()
  const lost = new LeadsheetError('store_lost', 'leadsheet.db was deleted', { hint: 'Put it back.' })
  await using away = openTransport('smtp://127.0.0.1:1', { log: SILENT })
  expect(await alertWithoutStore(deps, lost, away, signal)).toBe(true)
  const [posted, ping] = receiver.posts
  expect(JSON.parse(posted?.body ?? '')).toMatchObject({
    subject: '1 alert: database unwritable',
    opened: [{ check: 'database_unwritable', message: 'leadsheet.db was deleted', hint: 'Put it back.' }],
  })
  expect([ping?.path, ping?.body]).toEqual(['/ping/s3cr3t/fail', 'leadsheet.db was deleted'])
  receiver.answer = 503
  expect(await alertWithoutStore(deps, lost, null, signal)).toBe(false)
  receiver.posts.length = 0
  await using transport = openTransport(mailServer.url, { log: SILENT })
  const watch = createFaultWatch(
    (fault, isNews) => alertWithoutStore(deps, fault, isNews ? transport : null, signal),
    deps.now,
  )
  for (let minute = 0; minute < 3; minute++) await watch.note(lost)
  expect(receiver.posts.filter(({ path }) => path.startsWith('/hook'))).toHaveLength(3)
  const { received } = mailServer
  expect(received.map(({ to }) => to)).toEqual([['ops@example.com'], ['oncall@example.com']])
  const { subject, text = '' } = received[0]?.mail ?? {}
  expect(subject).toBe('[leadsheet] 1 alert: database unwritable')
  expect(text).toMatch(/leadsheet\.db was deleted[\s\S]+Put it back\.[\s\S]+Since 2026/)
  expect(text).not.toMatch(/No\. 0|alerts list/)
})

it('a fault of the database that comes and goes is mailed once an hour', async () => {
  const news: boolean[] = []
  const { clock } = syncing
  const watch = createFaultWatch(async (_, isNews) => news.push(isNews) > 0, deps.now)
  for (const minutes of [0, 10, 70]) {
    clock.now = new Date(clock.now.getTime() + minutes * 60_000)
    await watch.note(new LeadsheetError('store_busy', 'leadsheet.db stays locked'))
    watch.noteWritten()
    watch.noteWritten()
  }
  expect(news).toEqual([true, false, true])
})
