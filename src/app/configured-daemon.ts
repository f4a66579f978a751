/**
 * Builds the daemon from the settings. The daemon is the process that syncs and sends reports at their
 * scheduled times. Everything that it uses is opened first, so that mistakes in the settings show before the
 * daemon runs.
 */
import { type Config, requireDaemon } from '../config/config.ts'
import { isWatchedBySystemd } from '../config/environment.ts'
import { errorText, type LeadsheetError } from '../errors.ts'
import { openWatchdog } from '../jobs/alerts/heartbeat-ping.ts'
import { openPoster } from '../jobs/alerts/http-post.ts'
import { alertWithoutStore, runAlerts } from '../jobs/alerts/run.ts'
import { createFaultWatch } from '../jobs/alerts/store-fault.ts'
import { createEventWorker } from '../jobs/events/event-worker.ts'
import { createWebhookIntake } from '../jobs/events/webhook-intake.ts'
import { createBouncesTask } from '../jobs/outbox/read-bounces.ts'
import { createOutboxTask } from '../jobs/outbox/send-due.ts'
import { reportSchedule, type ScheduledReportDeps } from '../jobs/reports/enqueue-report.ts'
import { pauseRefused } from '../jobs/reports/preferences.ts'
import { createClockTrust } from '../jobs/schedule/clock-trust.ts'
import { keepTicking, startDaemon } from '../jobs/schedule/daemon.ts'
import type { Schedule } from '../jobs/schedule/schedule.ts'
import { combineTasks, createSerialTask, openOwnQueue } from '../jobs/schedule/serial-task.ts'
import { publishIfDue } from '../jobs/snapshot/publish-snapshot.ts'
import { type ScheduledSyncDeps, syncSchedule } from '../jobs/sync/scheduled-sync.ts'
import type { Log } from '../log.ts'
import { openPgBossQueue } from '../queue/pg-boss.ts'
import type { Templates } from '../report/render/templates.ts'
import type { Store } from '../store/db/store.ts'
import { reviewMailOutages } from '../store/outbox/send-limits.ts'
import { openAlerts } from './alert-settings.ts'
import { openBounces } from './configured-bounces.ts'
import { proxyOf } from './configured-login.ts'
import { deliveryPolicyOf, openMail } from './configured-mail.ts'
import { openReportDeps, openTemplatesOf, reportOf } from './configured-reports.ts'
import { reportTimeZones, schedulesOf } from './configured-schedules.ts'
import { needsKey, openSourceOf, profileOf, syncOptions } from './configured-upstream.ts'
import { openConfiguredWeb } from './configured-web.ts'
import { noteLoss } from './installation.ts'
import { configuredPublishing } from './publishing.ts'
import { syncInProcess } from './sync-process.ts'

/** The maximum number of upstream events that are applied at the same time. */
const EVENTS_AT_ONCE = 4
/** The reference service allows no more requests. */
const EVENTS_PER_TEN_SECONDS = 200

interface ConfiguredDaemon extends AsyncDisposable {
  /**
   * Runs the daemon until the signal is aborted, and resolves when the work in progress has ended. Must be
   * called only once.
   * @param onStarted called before the first job, when the daemon holds its lock and serves its pages
   * @throws LeadsheetError job_busy, web_port
   */
  run(signal: AbortSignal, onStarted: (running: RunningDaemon) => void): Promise<void>
}

export interface RunningDaemon {
  readonly schedules: readonly Schedule[]
  /** The URL of the pages; null if no pages are served. */
  readonly web: string | null
  /** Lists the work in progress, such as `sync`, `messages and alerts`, `events`. */
  inFlight(): readonly string[]
}

/** @throws LeadsheetError config_missing, config_invalid, report_template for mistakes in the settings */
export async function openConfiguredDaemon(
  config: Config,
  store: Store,
  log: Log,
): Promise<ConfiguredDaemon> {
  requireDaemon(config, needsKey(profileOf(config)))
  const templates = await openTemplatesOf(
    config,
    config.reports.map((report) => report.template),
  )
  await using opening = new AsyncDisposableStack()
  const source = openSourceOf(config, log)
  opening.defer(source.close)
  const transport = opening.use(openMail(config, log))
  const poster = opening.use(openPoster(proxyOf(config)))
  let snapshotFault: LeadsheetError | null = null
  const noteFault = (found: LeadsheetError | null): void => {
    snapshotFault = found
  }
  const publishing = { ...configuredPublishing(config, store), noteFault }
  const own = openOwnQueue(log)
  const isShared = store.place.kind === 'postgres'
  const queue = store.place.kind === 'postgres' ? opening.use(await openPgBossQueue(store.place, log)) : own
  const reportDeps = await openReportDeps(config, store, templates)
  let syncAheadMs: number | null = null
  const onClock = (aheadMs: number | null): void => {
    syncAheadMs = aheadMs ?? syncAheadMs
  }
  const publish = async (signal: AbortSignal): Promise<void> => {
    if (config.snapshot.when === 'after_sync') await publishIfDue(publishing, signal)
  }
  const snapshots = createSerialTask(own, 'snapshot', publish)
  const work = {
    ...reportDeps,
    source,
    transport,
    policy: deliveryPolicyOf(config),
    log,
    syncOptions: (signal: AbortSignal) => syncOptions(config, signal),
    ...(!isShared && { syncElsewhere: syncInProcess(config, log, onClock) }),
    wake: () => messages.wake(),
    retention: config.retention,
    timeZones: reportTimeZones(config),
    // If several daemons share the store, each daemon makes a snapshot file of its own. This daemon starts
    // its snapshot now. The other daemons notice the new data within a minute.
    publish: isShared ? async () => snapshots.wake() : publish,
  }
  const { now } = work
  const messages = createOutboxTask({
    ...work,
    queue,
    onSent: () => pauseRefused({ ...work, suppressAfterBounces: config.mail.suppressAfterBounces }),
  })
  const clockAheadMs = () => syncAheadMs ?? source.clockAheadMs()
  const monotonicMs = () => performance.now()
  const upstreamClock = { last: clockAheadMs, ask: source.askClock }
  const clockTrust = createClockTrust({ store, log, now, monotonicMs, upstreamClock })
  const clockDoubt = clockTrust.doubt
  const tellFault = async (fault: LeadsheetError, isNews: boolean): Promise<boolean> => {
    if (fault.code === 'store_lost') {
      const onFailure = (thrown: unknown) => log.warn(errorText(thrown))
      await noteLoss(config.dataDir, fault, now()).catch(onFailure)
    }
    return alertWithoutStore(alerting, fault, isNews ? transport : null, new AbortController().signal)
  }
  const faults = createFaultWatch(tellFault, now)
  const lastFault = faults.last
  const knowledge = { clockAheadMs, clockDoubt, lastFault, snapshotFault: () => snapshotFault }
  const alerting = await openAlerts(config, { store, knowledge, log, poster, transport, now })
  const alerts = createSerialTask(queue, 'alerts', async (signal) => {
    try {
      await runAlerts(alerting, messages.wake, signal)
    } catch (thrown) {
      await faults.note(thrown)
      throw thrown
    }
  })
  const schedules = schedulesIn(config, templates, work)
  const eventWorker = createEventWorker({
    source,
    store,
    log,
    now,
    wantsDetails: config.enrichment !== null,
    concurrency: EVENTS_AT_ONCE,
    perTenSeconds: EVENTS_PER_TEN_SECONDS,
  })
  const events = isShared ? createSerialTask(queue, 'events', eventWorker.applyAll) : eventWorker
  const intake = createWebhookIntake({ store, now, wake: events.wake })
  const mailbox = openBounces(config, work, templates)
  const bounces = mailbox && createBouncesTask({ ...mailbox, queue, onUnsubscribed: messages.wake })
  const post = combineTasks([alerts, ...(bounces === null ? [] : [bounces]), messages])
  const daemon = {
    store,
    log,
    now,
    monotonicMs,
    schedules,
    queue,
    post,
    events,
    faults,
    clockTrust,
    ...(isShared && { own: snapshots }),
  }
  const signalAlive = isWatchedBySystemd() ? openWatchdog((message) => log.warn(message)) : () => {}
  const opened = opening.move()
  return {
    async run(signal, onStarted) {
      const started = await startDaemon(daemon, signal)
      try {
        await store.write((trx) => reviewMailOutages(trx, transport.name, now().toISOString()))
        const served = { ...started, work, schedules, intake }
        await using web = await openConfiguredWeb(config, store, templates, served, log)
        onStarted({ schedules, web: web?.url ?? null, inFlight: started.inFlight })
        const tick = () => started.tick().then(signalAlive)
        await keepTicking({ ...started, tick })
      } finally {
        await started.stop()
      }
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function schedulesIn(
  config: Config,
  templates: Templates,
  work: ScheduledReportDeps & ScheduledSyncDeps,
): Schedule[] {
  return schedulesOf(config).map(({ report: settings, ...schedule }) => {
    if (settings !== null) {
      const { report, recipients } = reportOf(settings, config, templates)
      return reportSchedule(work, report, { ...schedule, recipients })
    }
    return syncSchedule(work, { ...schedule, full: schedule.name === 'sync-full' })
  })
}
