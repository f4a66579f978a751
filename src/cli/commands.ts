/**
 * All commands with the summary that `--help` prints, by its groups. To add a command, add an entry here and a
 * file in the folder of its group. The file is loaded only when the command is called, so that `--version` stays
 * fast.
 */
import type { DefineCommand } from './command.ts'

interface CommandEntry {
  readonly summary: string
  readonly load: () => Promise<DefineCommand>
}

const GROUPS: Readonly<Record<string, Readonly<Record<string, CommandEntry>>>> = {
  'Start:': {
    demo: {
      summary: 'try everything with sample data: a sync, a report and its mail',
      load: async () => (await import('./demo/demo.ts')).defineDemo,
    },
    init: {
      summary: 'write a first settings file: asks for what it needs, and tests the whole at the end',
      load: async () => (await import('./init/init.ts')).defineInit,
    },
    config: {
      summary: 'check the settings',
      load: async () => (await import('./commands/start/config.ts')).defineConfig,
    },
    probe: {
      summary: 'find out how an unknown upstream works, and write a profile for it',
      load: async () => (await import('./commands/start/probe.ts')).defineProbe,
    },
    service: {
      summary: 'run the reference service, for trying leadsheet out',
      load: async () => (await import('./commands/start/service.ts')).defineService,
    },
  },
  'Leads and figures:': {
    sync: {
      summary: 'update the local copy once',
      load: async () => (await import('./commands/data/sync.ts')).defineSync,
    },
    leads: {
      summary: 'list leads, or show one lead with its history',
      load: async () => (await import('./commands/data/leads.ts')).defineLeads,
    },
    figures: {
      summary: 'print the figures of a period, or explain one with its SQL',
      load: async () => (await import('./commands/data/figures.ts')).defineFigures,
    },
    annotate: {
      summary: 'note what is known about a day, such as a campaign; list and remove such notes',
      load: async () => (await import('./commands/data/annotate.ts')).defineAnnotate,
    },
    pipelines: {
      summary: 'create a discovery pipeline upstream, or show its statistics',
      load: async () => (await import('./commands/data/pipelines.ts')).definePipelines,
    },
    agents: {
      summary: 'show what each AI agent is doing now',
      load: async () => (await import('./commands/data/pipelines.ts')).defineAgents,
    },
    webhooks: {
      summary: 'register, list and remove webhooks upstream',
      load: async () => (await import('./commands/data/webhooks.ts')).defineWebhooks,
    },
  },
  'Reports:': {
    report: {
      summary: 'preview, send and resend reports, and show sent ones; create your own',
      load: async () => (await import('./commands/reports/report.ts')).defineReport,
    },
    recipients: {
      summary: 'list who gets which report; pause, resume or unsubscribe recipients',
      load: async () => (await import('./commands/reports/recipients.ts')).defineRecipients,
    },
    outbox: {
      summary: 'list messages with the answers of the mail server; resolve or cancel them',
      load: async () => (await import('./commands/reports/outbox.ts')).defineOutbox,
    },
  },
  'For analysts:': {
    snapshot: {
      summary: 'make the snapshot file for analysts now',
      load: async () => (await import('./commands/analysis/snapshot.ts')).defineSnapshot,
    },
    query: {
      summary: 'run one SELECT on the snapshot',
      load: async () => (await import('./commands/analysis/query.ts')).defineQuery,
    },
  },
  'Operation:': {
    run: {
      summary: 'run as a daemon that syncs and sends reports on schedule',
      load: async () => (await import('./commands/operations/run.ts')).defineRun,
    },
    status: {
      summary: 'show how fresh the copy is, what ran, and what runs next',
      load: async () => (await import('./commands/operations/status.ts')).defineStatus,
    },
    health: {
      summary: "check that the daemon is alive: exit status 0 or 1, for a container's health check",
      load: async () => (await import('./commands/operations/health.ts')).defineHealth,
    },
    doctor: {
      summary: 'check settings, clock, disk, database, upstream, mail and schedules',
      load: async () => (await import('./commands/operations/doctor.ts')).defineDoctor,
    },
    alerts: {
      summary: 'list and acknowledge alerts',
      load: async () => (await import('./commands/operations/alerts.ts')).defineAlerts,
    },
    schedule: {
      summary: 'show schedules, their next runs, and missed runs',
      load: async () => (await import('./commands/operations/schedule.ts')).defineSchedule,
    },
    db: {
      summary: 'check, back up, restore, copy or prune the database',
      load: async () => (await import('./commands/database/db.ts')).defineDb,
    },
  },
}

export const COMMANDS = Object.entries(GROUPS).flatMap(([group, commands]) =>
  Object.entries(commands).map(([name, { summary, load }]) => ({ name, group, summary, load })),
)
