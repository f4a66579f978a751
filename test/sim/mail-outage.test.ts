/**
 * A mail server is away for two days. Reports are still made, and every message leaves once the server is
 * back.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openPoster } from '../../src/jobs/alerts/http-post.ts'
import { runAlerts } from '../../src/jobs/alerts/run.ts'
import { createRateLimit } from '../../src/jobs/outbox/rate-limit.ts'
import { createOutboxTask } from '../../src/jobs/outbox/send-due.ts'
import { reportSchedule } from '../../src/jobs/reports/enqueue-report.ts'
import { pauseRefused } from '../../src/jobs/reports/preferences.ts'
import { startDaemon } from '../../src/jobs/schedule/daemon.ts'
import { combineTasks, createSerialTask } from '../../src/jobs/schedule/serial-task.ts'
import { syncSchedule } from '../../src/jobs/sync/scheduled-sync.ts'
import { openTransport } from '../../src/mail/transport.ts'
import { openAlertMail } from '../../src/report/render/alert-mail.ts'
import { openStore } from '../../src/store/open.ts'
import { openSource } from '../../src/upstream/source.ts'
import { folderWith } from '../support/folder.ts'
import { DAILY, recipient, reportDeps } from '../support/mail/reports.ts'
import { openMailServer } from '../support/mail-server.ts'
import { openReceiver } from '../support/network/receiver.ts'
import { openTcpProxy } from '../support/network/tcp-proxy.ts'
import { scheduleOf, timing } from '../support/schedule/schedule.ts'
import { openTasks } from '../support/schedule/tasks.ts'
import { SILENT, SYNC_OPTIONS } from '../support/syncing.ts'
import { startUpstream } from '../support/upstream.ts'
import { bareInstallation } from '../support/web/installation.ts'
import { HOUR_MS, MINUTE_MS } from './plan.ts'
import { IS_FULL } from './scale.ts'

const FROM = Date.parse('2026-11-23T00:30:00Z')
const AWAY_HOURS = 48
/** Each of them is a report of its own, due once a day. */
const EVERY_HOURS = IS_FULL ? 1 : 6
const SCHEDULED_RUNS = AWAY_HOURS / EVERY_HOURS
const PER_MINUTE = 5
const render = await openAlertMail('templates', null)

it(`${SCHEDULED_RUNS} reports that are due in the ${AWAY_HOURS} hours in which the mail server is away are archived, and mailed when it is back: oldest first, paced, each once; operators hear of it by webhook`, async () => {
  const clock = { now: new Date(FROM) }
  const now = (): Date => clock.now
  const folder = folderWith()
  await using mail = await openMailServer()
  await using way = await openTcpProxy(mail.port)
  await way.refuse(true)
  await using receiver = await openReceiver()
  await using poster = openPoster()
  await using store = await openStore(join(folder, 'leadsheet.db'), clock.now)
  await using transport = openTransport(way.urlOf(mail.url), { log: SILENT })
  await using upstream = await startUpstream(20)
  const source = openSource({ baseUrl: upstream.url, apiKey: 'test-key', maxWaitMs: 0, log: SILENT, now })
  const work = {
    ...reportDeps(store, now, join(folder, 'archive')),
    source,
    transport,
    log: SILENT,
    publish: async () => {},
    wake: () => messages.wake(),
    policy: { rateLimit: createRateLimit(PER_MINUTE), isRecipient: () => true },
    timeZones: [],
    retention: { dailyAfterDays: 365 },
    syncOptions: (signal: AbortSignal) => ({ ...SYNC_OPTIONS, parts: ['leads'] as const, signal }),
  }
  const { queue, events } = openTasks()
  const onSent = () => pauseRefused({ ...work, suppressAfterBounces: 5 })
  const messages = createOutboxTask({ ...work, queue, onSent })
  const operators = {
    store,
    log: SILENT,
    now,
    poster,
    heartbeat: null,
    knowledge: { clockAheadMs: () => null },
    installation: bareInstallation(store, { mailServer: transport.name }),
    alerts: {
      mail: { recipients: ['ops@example.com'], from: 'r@example.com', replyTo: null, render },
      hasWebhook: true,
      place: 'test',
    },
    webhook: { url: receiver.url, format: 'json' as const },
  }
  const alerts = createSerialTask(queue, 'alerts', (signal) => runAlerts(operators, messages.wake, signal))
  const everyHour = scheduleOf({ name: 'sync', timing: timing('0 * * * *'), runsAtFirstSight: true })
  const recipients = [recipient('ana@example.com')]
  const reportSchedules = Array.from({ length: 24 / EVERY_HOURS }, (_, index) => {
    const hour = index * EVERY_HOURS
    const schedule = scheduleOf({ name: `report:at-${hour}`, timing: timing(`0 ${hour} * * *`) })
    return reportSchedule(work, { ...DAILY, name: `at-${hour}` }, { ...schedule, recipients })
  })
  const schedules = [syncSchedule(work, { ...everyHour, full: false }), ...reportSchedules]
  const controller = new AbortController()
  const post = combineTasks([alerts, messages])
  const monotonicMs = (): number => clock.now.getTime()
  const deps = { store, log: SILENT, now, monotonicMs, schedules, queue, post, events }
  const daemon = await startDaemon(deps, controller.signal)
  const tickAt = async (ms: number): Promise<void> => {
    clock.now = new Date(ms)
    await daemon.tick()
    await daemon.idle()
  }

  for (let minute = 0; minute < AWAY_HOURS * 60; minute += 30) await tickAt(FROM + minute * MINUTE_MS)
  const countDone = async (): Promise<number> => {
    const reports = store.db.selectFrom('scheduled_run').where('schedule', '!=', 'sync')
    return (await reports.where('state', '=', 'done').select('due_at').execute()).length
  }
  expect(await countDone()).toBe(SCHEDULED_RUNS)
  const pages = readdirSync(join(folder, 'archive'), { recursive: true, encoding: 'utf8' })
  expect(pages.filter((page) => page.endsWith('/index.html'))).toHaveLength(SCHEDULED_RUNS)
  expect(mail.received).toEqual([])
  const told = (): string[] => receiver.posts.map(({ body }) => JSON.parse(body).subject)
  expect(told()).toContain('1 alert: mail waiting')

  await way.refuse(false)
  const back = FROM + AWAY_HOURS * HOUR_MS
  const perTick: number[] = []
  for (let minute = 0; minute < 90; minute++) {
    const before = mail.received.length
    await tickAt(back + minute * MINUTE_MS)
    perTick.push(mail.received.length - before)
  }
  const reports = mail.received.filter(({ to }) => to.includes('ana@example.com'))
  const dueAt = reports.map(({ mail: { date } }) => date)
  // The count includes the reports made since.
  expect(reports).toHaveLength(await countDone())
  expect(new Set(reports.map(({ mail: { messageId } }) => messageId)).size).toBe(reports.length)
  expect(dueAt).toEqual([...dueAt].sort())
  expect(Math.max(...perTick)).toBeLessThanOrEqual(PER_MINUTE)
  expect(told().at(-1)).toBe('resolved: mail waiting')
  controller.abort()
  await daemon.stop()
  await source.close()
})
