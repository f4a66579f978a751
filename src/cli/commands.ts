/**
 * All commands with the summary that `--help` prints. To add a command, add an entry here and a file in the
 * folder of its group. The file is loaded only when the command is called, so that `--version` stays fast.
 */
import type { DefineCommand } from './command.ts'

interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly group: string
  readonly load: () => Promise<DefineCommand>
}

const START = 'Start:'
const REPORTS = 'Reports:'
const DATA = 'Leads and figures:'
const ANALYSIS = 'For analysts:'
const OPERATIONS = 'Operation:'

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'demo',
    summary: 'try everything with sample data: a sync, a report and its mail',
    group: START,
    load: async () => (await import('./demo/demo.ts')).defineDemo,
  },
  {
    name: 'init',
    summary: 'write a first settings file: asks five questions and tests each answer',
    group: START,
    load: async () => (await import('./init/init.ts')).defineInit,
  },
  {
    name: 'config',
    summary: 'check the settings',
    group: START,
    load: async () => (await import('./commands/start/config.ts')).defineConfig,
  },
  {
    name: 'probe',
    summary: 'find out how an unknown upstream works, and write a profile for it',
    group: START,
    load: async () => (await import('./commands/start/probe.ts')).defineProbe,
  },
  {
    name: 'service',
    summary: 'run the reference service, for trying leadsheet out',
    group: START,
    load: async () => (await import('./commands/start/service.ts')).defineService,
  },
  {
    name: 'sync',
    summary: 'update the local copy once',
    group: DATA,
    load: async () => (await import('./commands/data/sync.ts')).defineSync,
  },
  {
    name: 'leads',
    summary: 'list leads, or show one lead with its history',
    group: DATA,
    load: async () => (await import('./commands/data/leads.ts')).defineLeads,
  },
  {
    name: 'figures',
    summary: 'print the figures of a period, or explain one with its SQL',
    group: DATA,
    load: async () => (await import('./commands/data/figures.ts')).defineFigures,
  },
  {
    name: 'annotate',
    summary: 'note what is known about a day, such as a campaign; list and remove such notes',
    group: DATA,
    load: async () => (await import('./commands/data/annotate.ts')).defineAnnotate,
  },
  {
    name: 'pipelines',
    summary: 'create a discovery pipeline upstream, or show its statistics',
    group: DATA,
    load: async () => (await import('./commands/data/pipelines.ts')).definePipelines,
  },
  {
    name: 'agents',
    summary: 'show what each AI agent is doing now',
    group: DATA,
    load: async () => (await import('./commands/data/pipelines.ts')).defineAgents,
  },
  {
    name: 'webhooks',
    summary: 'register a webhook upstream, test it, and rotate its secret',
    group: DATA,
    load: async () => (await import('./commands/data/webhooks.ts')).defineWebhooks,
  },
  {
    name: 'report',
    summary: 'preview, test, send, resend and compare reports; create your own',
    group: REPORTS,
    load: async () => (await import('./commands/reports/report.ts')).defineReport,
  },
  {
    name: 'recipients',
    summary: 'list who gets which report; pause, resume or unsubscribe recipients',
    group: REPORTS,
    load: async () => (await import('./commands/reports/recipients.ts')).defineRecipients,
  },
  {
    name: 'outbox',
    summary: 'list messages with the answers of the mail server; resolve unconfirmed messages',
    group: REPORTS,
    load: async () => (await import('./commands/reports/outbox.ts')).defineOutbox,
  },
  {
    name: 'snapshot',
    summary: 'make the snapshot file for analysts now',
    group: ANALYSIS,
    load: async () => (await import('./commands/analysis/snapshot.ts')).defineSnapshot,
  },
  {
    name: 'query',
    summary: 'run one SELECT on the snapshot',
    group: ANALYSIS,
    load: async () => (await import('./commands/analysis/export.ts')).defineQuery,
  },
  {
    name: 'export',
    summary: 'write a table or view of the snapshot as CSV, NDJSON, Parquet or Excel',
    group: ANALYSIS,
    load: async () => (await import('./commands/analysis/export.ts')).defineExport,
  },
  {
    name: 'run',
    summary: 'run as a daemon that syncs and sends reports on schedule',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/run.ts')).defineRun,
  },
  {
    name: 'status',
    summary: 'show how fresh the copy is, what ran, and what runs next',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/status.ts')).defineStatus,
  },
  {
    name: 'health',
    summary: "check that the daemon is alive: exit status 0 or 1, for a container's health check",
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/health.ts')).defineHealth,
  },
  {
    name: 'doctor',
    summary: 'check settings, clock, disk, database, upstream, mail and schedules',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/doctor.ts')).defineDoctor,
  },
  {
    name: 'alerts',
    summary: 'list and acknowledge alerts, or send a test alert',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/alerts.ts')).defineAlerts,
  },
  {
    name: 'schedule',
    summary: 'show schedules, their next runs, and missed runs',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/schedule.ts')).defineSchedule,
  },
  {
    name: 'db',
    summary: 'check, back up, restore, copy or prune the database',
    group: OPERATIONS,
    load: async () => (await import('./commands/database/db.ts')).defineDb,
  },
]
