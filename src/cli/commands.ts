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
    summary: 'try it all: a service of its own, a sync, a report and its mail',
    group: START,
    load: async () => (await import('./demo/demo.ts')).defineDemo,
  },
  {
    name: 'init',
    summary: 'write the settings for a first start: five questions, each answer tried',
    group: START,
    load: async () => (await import('./init/init.ts')).defineInit,
  },
  {
    name: 'config',
    summary: 'check the settings, or print their JSON Schema',
    group: START,
    load: async () => (await import('./commands/start/config.ts')).defineConfig,
  },
  {
    name: 'probe',
    summary: 'find out how an unknown upstream works, and write its profile',
    group: START,
    load: async () => (await import('./commands/start/probe.ts')).defineProbe,
  },
  {
    name: 'service',
    summary: 'run the reference service, to try leadsheet with, and manage its API keys',
    group: START,
    load: async () => (await import('./commands/start/service.ts')).defineService,
  },
  {
    name: 'completion',
    summary: 'print what makes bash, zsh or fish complete commands and options',
    group: START,
    load: async () => (await import('./commands/start/completion.ts')).defineCompletion,
  },
  {
    name: 'sync',
    summary: 'bring the local copy up to date, once',
    group: DATA,
    load: async () => (await import('./commands/data/sync.ts')).defineSync,
  },
  {
    name: 'leads',
    summary: 'list leads, or show one with its history',
    group: DATA,
    load: async () => (await import('./commands/data/leads.ts')).defineLeads,
  },
  {
    name: 'figures',
    summary: 'print every figure of a period, or explain one: its meaning and its SQL',
    group: DATA,
    load: async () => (await import('./commands/data/figures.ts')).defineFigures,
  },
  {
    name: 'pipelines',
    summary: 'create a discovery pipeline at the upstream, or read its statistics',
    group: DATA,
    load: async () => (await import('./commands/data/pipelines.ts')).definePipelines,
  },
  {
    name: 'agents',
    summary: 'show what the AI agents are doing',
    group: DATA,
    load: async () => (await import('./commands/data/agents.ts')).defineAgents,
  },
  {
    name: 'webhooks',
    summary: 'register this daemon at the upstream, try its webhook, rotate its secret',
    group: DATA,
    load: async () => (await import('./commands/data/webhooks.ts')).defineWebhooks,
  },
  {
    name: 'report',
    summary: 'preview, test, send, resend and compare reports; make one of your own',
    group: REPORTS,
    load: async () => (await import('./commands/reports/report.ts')).defineReport,
  },
  {
    name: 'recipients',
    summary: 'list who gets which report; pause, unsubscribe or resume them',
    group: REPORTS,
    load: async () => (await import('./commands/reports/recipients.ts')).defineRecipients,
  },
  {
    name: 'outbox',
    summary: 'list the messages and what the mail server said; resolve unconfirmed ones',
    group: REPORTS,
    load: async () => (await import('./commands/reports/outbox.ts')).defineOutbox,
  },
  {
    name: 'snapshot',
    summary: 'make the file that analysts open, now',
    group: ANALYSIS,
    load: async () => (await import('./commands/analysis/snapshot.ts')).defineSnapshot,
  },
  {
    name: 'schema',
    summary: 'show what each table, view and column of the snapshot means',
    group: ANALYSIS,
    load: async () => (await import('./commands/analysis/schema.ts')).defineSchema,
  },
  {
    name: 'query',
    summary: 'run one SELECT on the snapshot',
    group: ANALYSIS,
    load: async () => (await import('./commands/analysis/query.ts')).defineQuery,
  },
  {
    name: 'export',
    summary: 'write a table or view of the snapshot as CSV, NDJSON, Parquet or Excel',
    group: ANALYSIS,
    load: async () => (await import('./commands/analysis/export.ts')).defineExport,
  },
  {
    name: 'run',
    summary: 'run as a daemon: sync and report as scheduled',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/run.ts')).defineRun,
  },
  {
    name: 'reload',
    summary: 'make the running daemon reload its settings',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/run.ts')).defineReload,
  },
  {
    name: 'status',
    summary: 'show how fresh the copy is, what ran and what comes next',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/status.ts')).defineStatus,
  },
  {
    name: 'health',
    summary: 'say whether the daemon lives: exit status 0 or 1, as a container asks',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/health.ts')).defineHealth,
  },
  {
    name: 'doctor',
    summary: 'check everything: settings, clock, disk, database, upstream, mail, schedules',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/doctor.ts')).defineDoctor,
  },
  {
    name: 'alerts',
    summary: 'list what is wrong, acknowledge it, or test how operators are told',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/alerts.ts')).defineAlerts,
  },
  {
    name: 'schedule',
    summary: 'show what runs when, and the next times of each schedule',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/schedule.ts')).defineSchedule,
  },
  {
    name: 'queue',
    summary: 'list the jobs that the workers gave up, and have them tried again',
    group: OPERATIONS,
    load: async () => (await import('./commands/operations/queue.ts')).defineQueue,
  },
  {
    name: 'db',
    summary: 'check, back up, restore, copy or prune the database; let analysts read it',
    group: OPERATIONS,
    load: async () => (await import('./commands/database/db.ts')).defineDb,
  },
]
