/**
 * Every command, by what `--help` says of it. A new one is an entry here and a file beside this one, which is loaded
 * only when the command is called, so that `--version` costs nothing.
 */
import type { DefineCommand } from './command.ts'

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly group: string
  readonly load: () => Promise<DefineCommand>
}

const WORK = 'Commands:'
const BY_HAND = 'The service by hand:'
const TRYING = 'A service of your own, for trying it out:'

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'demo',
    summary: 'try it all: a service of its own, a sync, a report and its mail',
    group: WORK,
    load: async () => (await import('./demo/demo.ts')).defineDemo,
  },
  {
    name: 'init',
    summary: 'write the settings for a first start: five questions, each answer tried',
    group: WORK,
    load: async () => (await import('./init/init.ts')).defineInit,
  },
  {
    name: 'run',
    summary: 'run as a daemon: sync and report as scheduled',
    group: WORK,
    load: async () => (await import('./commands/operations/run.ts')).defineRun,
  },
  {
    name: 'reload',
    summary: 'have the running daemon go over to the settings on the disk',
    group: WORK,
    load: async () => (await import('./commands/operations/run.ts')).defineReload,
  },
  {
    name: 'sync',
    summary: 'bring the local copy up to date, once',
    group: WORK,
    load: async () => (await import('./commands/data/sync.ts')).defineSync,
  },
  {
    name: 'report',
    summary: 'make the report of a day; look at it, test it or send it',
    group: WORK,
    load: async () => (await import('./commands/reports/report.ts')).defineReport,
  },
  {
    name: 'issues',
    summary: 'list the issues that are kept, and what became of each',
    group: WORK,
    load: async () => (await import('./commands/reports/issues.ts')).defineIssues,
  },
  {
    name: 'deliveries',
    summary: 'list the mails, how each stands and what the mail server said',
    group: WORK,
    load: async () => (await import('./commands/reports/outbox.ts')).defineDeliveries,
  },
  {
    name: 'resend',
    summary: 'send mails of a report again: those that failed, or all as new ones',
    group: WORK,
    load: async () => (await import('./commands/reports/resend.ts')).defineResend,
  },
  {
    name: 'recipients',
    summary: 'list who gets which report, and what of it; pause, unsubscribe or resume them',
    group: WORK,
    load: async () => (await import('./commands/reports/recipients.ts')).defineRecipients,
  },
  {
    name: 'figures',
    summary: 'print every figure of a period, in all and by pipeline',
    group: WORK,
    load: async () => (await import('./commands/data/figures.ts')).defineFigures,
  },
  {
    name: 'explain',
    summary: 'show what a figure means, its SQL and its value',
    group: WORK,
    load: async () => (await import('./commands/data/figures.ts')).defineExplain,
  },
  {
    name: 'snapshot',
    summary: 'make the file that analysts open, now',
    group: WORK,
    load: async () => (await import('./commands/analysis/snapshot.ts')).defineSnapshot,
  },
  {
    name: 'schema',
    summary: 'show what each table, view and column of the snapshot means',
    group: WORK,
    load: async () => (await import('./commands/analysis/schema.ts')).defineSchema,
  },
  {
    name: 'query',
    summary: 'run one SELECT on the snapshot',
    group: WORK,
    load: async () => (await import('./commands/analysis/query.ts')).defineQuery,
  },
  {
    name: 'export',
    summary: 'write a table or view of the snapshot as CSV, NDJSON, Parquet or Excel',
    group: WORK,
    load: async () => (await import('./commands/analysis/export.ts')).defineExport,
  },
  {
    name: 'schedule',
    summary: 'show what runs when, explain it, or let a held report go',
    group: WORK,
    load: async () => (await import('./commands/operations/schedule.ts')).defineSchedule,
  },
  {
    name: 'status',
    summary: 'show how fresh the copy is, what ran and what comes next',
    group: WORK,
    load: async () => (await import('./commands/operations/status.ts')).defineStatus,
  },
  {
    name: 'health',
    summary: 'say whether the daemon lives: exit status 0 or 1, as a container asks',
    group: WORK,
    load: async () => (await import('./commands/operations/health.ts')).defineHealth,
  },
  {
    name: 'jobs',
    summary: 'what several workers gave up, and have it done again',
    group: WORK,
    load: async () => (await import('./commands/operations/queue.ts')).defineJobs,
  },
  {
    name: 'notices',
    summary: 'list what is wrong, end its reminders, or try how operators are told',
    group: WORK,
    load: async () => (await import('./commands/operations/notices.ts')).defineNotices,
  },
  {
    name: 'probe',
    summary: 'find out how an unknown upstream works, and write its profile',
    group: WORK,
    load: async () => (await import('./commands/start/probe.ts')).defineProbe,
  },
  {
    name: 'webhooks',
    summary:
      'be told of changes as they happen: register this daemon at the upstream, try it, rotate its secret',
    group: WORK,
    load: async () => (await import('./commands/data/webhooks.ts')).defineWebhooks,
  },
  {
    name: 'doctor',
    summary:
      'check everything: settings, clock, disk, database and its rules, upstream, mail, schedules, dashboard',
    group: WORK,
    load: async () => (await import('./commands/operations/doctor.ts')).defineDoctor,
  },
  {
    name: 'prune',
    summary: 'let go of what the settings do not want to be kept any longer; shows it first',
    group: WORK,
    load: async () => (await import('./commands/database/prune.ts')).definePrune,
  },
  {
    name: 'backup',
    summary: 'copy the whole database, what is private included, into one checked file',
    group: WORK,
    load: async () => (await import('./commands/database/backup.ts')).defineBackup,
  },
  {
    name: 'restore',
    summary: 'put a backup in the place of the database',
    group: WORK,
    load: async () => (await import('./commands/database/backup.ts')).defineRestore,
  },
  {
    name: 'move',
    summary: 'move the whole store into another database, and compare the two',
    group: WORK,
    load: async () => (await import('./commands/database/move.ts')).defineMove,
  },
  {
    name: 'reader',
    summary: 'give analysts a role in PostgreSQL that reads what a snapshot shows',
    group: WORK,
    load: async () => (await import('./commands/database/reader.ts')).defineReader,
  },
  {
    name: 'config',
    summary: 'check the settings, or print their JSON Schema',
    group: WORK,
    load: async () => (await import('./commands/start/config.ts')).defineConfig,
  },
  {
    name: 'leads',
    summary: 'list leads, or show one with its history',
    group: BY_HAND,
    load: async () => (await import('./commands/data/leads.ts')).defineLeads,
  },
  {
    name: 'pipelines',
    summary: 'create a discovery pipeline, or read its statistics',
    group: BY_HAND,
    load: async () => (await import('./commands/data/pipelines.ts')).definePipelines,
  },
  {
    name: 'agents',
    summary: 'show what the AI agents are doing',
    group: BY_HAND,
    load: async () => (await import('./commands/data/agents.ts')).defineAgents,
  },
  {
    name: 'serve',
    summary: 'run the reference service',
    group: TRYING,
    load: async () => (await import('./commands/start/service.ts')).defineServe,
  },
  {
    name: 'keys',
    summary: 'create, list and revoke API keys of the reference service',
    group: TRYING,
    load: async () => (await import('./commands/start/service.ts')).defineKeys,
  },
]
