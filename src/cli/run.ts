/** `leadsheet run`: the daemon that syncs and reports as the settings say. */
import type { Command } from 'commander'
import { requireDaemon } from '../config/requirements.ts'
import { runDaemon } from '../jobs/daemon.ts'
import { createLane, joinLanes } from '../jobs/lane.ts'
import { publishIfDue } from '../jobs/publish.ts'
import { reportSchedule } from '../jobs/report-schedule.ts'
import { snapshotSchedule } from '../jobs/snapshot-schedule.ts'
import { syncSchedule } from '../jobs/sync-schedule.ts'
import { tellOperators } from '../jobs/tell-operators.ts'
import { deliverWaiting } from '../jobs/waiting-letters.ts'
import type { Work } from '../jobs/work.ts'
import { openTransport } from '../mail/transport.ts'
import { openPoster } from '../notify/post.ts'
import { nextSlot } from '../schedule/slots.ts'
import { reviewMailOutages } from '../store/mail-outage.ts'
import { addExamples } from './command.ts'
import { openData, pathsIn } from './installation.ts'
import { deliveryPolicyOf, dkimOf } from './mail.ts'
import { openOperators } from './operators.ts'
import { configuredPublishing } from './publishing.ts'
import { tryReports } from './report-trial.ts'
import { openMailing, reportOf } from './reports.ts'
import { schedulesOf } from './schedules.ts'
import { syncOptions } from './sync.ts'
import { openTemplatesOf } from './templates.ts'
import type { Terminal } from './terminal.ts'
import { needsKey, profileOf, withSource } from './upstream.ts'
import { openConfiguredWeb } from './web.ts'

export function defineRun(command: Command, terminal: Terminal): void {
  command.action(() => run(terminal))
  addExamples(command, ['run', 'run --config /etc/leadsheet.yaml'])
}

async function run(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  const { mail } = requireDaemon(config, needsKey(profileOf(config)))
  const log = await terminal.log()
  const templates = await openTemplatesOf(
    config,
    config.reports.map((report) => report.template),
  )
  await withSource(terminal, async (source) => {
    await using store = await openData(config)
    await tryReports(config, terminal.signal)
    await using transport = openTransport(mail?.url.reveal() ?? `file:${pathsIn(config.dataDir).outbox}`, {
      log,
      dkim: dkimOf(config.mail),
    })
    const publishing = configuredPublishing(config, store, log)
    const work: Work = {
      ...(await openMailing(config, store, templates)),
      source,
      transport,
      policy: deliveryPolicyOf(config.mail),
      log,
      syncOptions: (signal) => syncOptions(config, signal),
      poke: () => letters.poke(),
      retention: config.retention,
      publish: async (signal) => {
        if (config.snapshot.when === 'after_sync') await publishIfDue(publishing, signal)
      },
    }
    await store.write((trx) => reviewMailOutages(trx, transport.name, work.now().toISOString()))
    const letters = createLane(log, (signal) =>
      deliverWaiting({ ...work, pauseAfter: config.mail.pauseAfter }, signal),
    )
    await using poster = openPoster()
    const operators = await openOperators(config, {
      ...{ store, source, log, poster, transport },
      now: work.now,
    })
    const notices = createLane(log, (signal) => tellOperators(operators, letters.poke, signal))
    const post = joinLanes([notices, letters])
    const schedules = schedulesOf(config).map(({ report: settings, ...schedule }) => {
      if (settings !== null) {
        const { report, recipients } = reportOf(settings, config, templates)
        return reportSchedule(work, report, { ...schedule, recipients })
      }
      return schedule.name === 'snapshot'
        ? snapshotSchedule(publishing, schedule)
        : syncSchedule(work, { ...schedule, full: schedule.name === 'sync-full' })
    })
    for (const { name, timing } of schedules) {
      const next = nextSlot(timing, new Date())?.toISOString() ?? 'never'
      log.info({ schedule: name, when: timing.expression, timeZone: timing.timeZone, next }, 'scheduled')
    }
    await using web = await openConfiguredWeb(config, store, templates, log)
    if (web !== null) log.info({ listen: web.url, publicUrl: config.web.publicUrl }, 'pages are served')
    const monotonicMs = () => performance.now()
    await runDaemon({ store, log, now: work.now, monotonicMs, schedules, post }, terminal.signal)
    log.info('stopped')
  })
}
