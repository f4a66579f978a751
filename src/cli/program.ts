/**
 * The command line: global options and the list of commands. A new command is an entry in COMMANDS and a file
 * beside this one; that file is loaded only when its command is called, so that `--version` costs nothing.
 */
import { Command, CommanderError } from 'commander'
import { LeadsheetError } from '../errors.ts'
import type { DefineCommand } from './command.ts'
import { EXIT_STATUS } from './exit-status.ts'
import { type FrameTerminal, type GlobalFlags, openTerminal } from './terminal.ts'
import { readVersion } from './version.ts'

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
    load: async () => (await import('./demo.ts')).defineDemo,
  },
  {
    name: 'init',
    summary: 'write the settings for a first start: five questions, each answer tried',
    group: WORK,
    load: async () => (await import('./init.ts')).defineInit,
  },
  {
    name: 'run',
    summary: 'run as a daemon: sync and report as scheduled',
    group: WORK,
    load: async () => (await import('./run.ts')).defineRun,
  },
  {
    name: 'reload',
    summary: 'have the running daemon go over to the settings on the disk',
    group: WORK,
    load: async () => (await import('./reload.ts')).defineReload,
  },
  {
    name: 'sync',
    summary: 'bring the local copy up to date, once',
    group: WORK,
    load: async () => (await import('./sync.ts')).defineSync,
  },
  {
    name: 'report',
    summary: 'make the report of a day; look at it, test it or send it',
    group: WORK,
    load: async () => (await import('./report.ts')).defineReport,
  },
  {
    name: 'editions',
    summary: 'list the editions that are kept, and what became of each',
    group: WORK,
    load: async () => (await import('./editions.ts')).defineEditions,
  },
  {
    name: 'deliveries',
    summary: 'list the mails, how each stands and what the mail server said',
    group: WORK,
    load: async () => (await import('./deliveries.ts')).defineDeliveries,
  },
  {
    name: 'resend',
    summary: 'send mails of a report again: those that failed, or all as new ones',
    group: WORK,
    load: async () => (await import('./resend.ts')).defineResend,
  },
  {
    name: 'recipients',
    summary: 'list who gets which report, and what of it; pause, unsubscribe or resume them',
    group: WORK,
    load: async () => (await import('./recipients.ts')).defineRecipients,
  },
  {
    name: 'figures',
    summary: 'print every figure of a period, in all and by pipeline',
    group: WORK,
    load: async () => (await import('./figures.ts')).defineFigures,
  },
  {
    name: 'explain',
    summary: 'show what a figure means, its SQL and its value',
    group: WORK,
    load: async () => (await import('./explain.ts')).defineExplain,
  },
  {
    name: 'snapshot',
    summary: 'make the file that analysts open, now',
    group: WORK,
    load: async () => (await import('./snapshot.ts')).defineSnapshot,
  },
  {
    name: 'schema',
    summary: 'show what each table, view and column of the snapshot means',
    group: WORK,
    load: async () => (await import('./schema.ts')).defineSchema,
  },
  {
    name: 'query',
    summary: 'run one SELECT on the snapshot',
    group: WORK,
    load: async () => (await import('./query.ts')).defineQuery,
  },
  {
    name: 'export',
    summary: 'write a table or view of the snapshot as CSV, NDJSON, Parquet or Excel',
    group: WORK,
    load: async () => (await import('./export.ts')).defineExport,
  },
  {
    name: 'schedule',
    summary: 'show what runs when, explain it, or let a held report go',
    group: WORK,
    load: async () => (await import('./schedule.ts')).defineSchedule,
  },
  {
    name: 'status',
    summary: 'show how fresh the copy is, what ran and what comes next',
    group: WORK,
    load: async () => (await import('./status.ts')).defineStatus,
  },
  {
    name: 'health',
    summary: 'say whether the daemon lives: exit status 0 or 1, as a container asks',
    group: WORK,
    load: async () => (await import('./health.ts')).defineHealth,
  },
  {
    name: 'notices',
    summary: 'list what is wrong, end its reminders, or try how operators are told',
    group: WORK,
    load: async () => (await import('./notices.ts')).defineNotices,
  },
  {
    name: 'probe',
    summary: 'find out how an unknown upstream works, and write its profile',
    group: WORK,
    load: async () => (await import('./probe.ts')).defineProbe,
  },
  {
    name: 'doctor',
    summary:
      'check everything: settings, clock, disk, database and its rules, upstream, mail, schedules, window',
    group: WORK,
    load: async () => (await import('./doctor.ts')).defineDoctor,
  },
  {
    name: 'prune',
    summary: 'let go of what the settings do not want to be kept any longer; shows it first',
    group: WORK,
    load: async () => (await import('./prune.ts')).definePrune,
  },
  {
    name: 'backup',
    summary: 'copy the whole database, what is private included, into one checked file',
    group: WORK,
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  {
    name: 'restore',
    summary: 'put a backup in the place of the database',
    group: WORK,
    load: async () => (await import('./restore.ts')).defineRestore,
  },
  {
    name: 'config',
    summary: 'check the settings, or print their JSON Schema',
    group: WORK,
    load: async () => (await import('./config.ts')).defineConfig,
  },
  {
    name: 'leads',
    summary: 'list leads, or show one with its history',
    group: BY_HAND,
    load: async () => (await import('./leads.ts')).defineLeads,
  },
  {
    name: 'pipelines',
    summary: 'create a discovery pipeline, or read its statistics',
    group: BY_HAND,
    load: async () => (await import('./pipelines.ts')).definePipelines,
  },
  {
    name: 'webhooks',
    summary: 'register a webhook',
    group: BY_HAND,
    load: async () => (await import('./webhooks.ts')).defineWebhooks,
  },
  {
    name: 'agents',
    summary: 'show what the AI agents are doing',
    group: BY_HAND,
    load: async () => (await import('./agents.ts')).defineAgents,
  },
  {
    name: 'serve',
    summary: 'run the reference service',
    group: TRYING,
    load: async () => (await import('./serve.ts')).defineServe,
  },
  {
    name: 'keys',
    summary: 'create, list and revoke API keys of the reference service',
    group: TRYING,
    load: async () => (await import('./keys.ts')).defineKeys,
  },
]

/** @param signal aborted when the process is told to stop */
export function createProgram(signal: AbortSignal): { program: Command; terminal: FrameTerminal } {
  const program = new Command('leadsheet')
  const terminal = openTerminal(() => program.opts<GlobalFlags>(), signal)
  program
    .description(
      'Keeps a local, queryable copy of a lead pipeline service and mails people a report that they read.',
    )
    .version(readVersion(), '--version', 'print the version')
    .option('--config <file>', 'settings file (default: LEADSHEET_CONFIG, or leadsheet.yaml if it is there)')
    .option('--json', 'print the result as JSON, and an error as {"error": {…}}')
    .option('--quiet', 'no progress, and only errors in the log')
    .option('--verbose', 'also log what matters only when something is wrong')
    .option('--no-color', 'no colours; NO_COLOR does the same')
    .helpOption('--help', 'show this help, or that of a command')
    .helpCommand(false)
    .configureHelp({
      showGlobalOptions: true,
      // Not those of `report` in the help of `report new`, too.
      visibleGlobalOptions: ({ parent }) => (parent ? [...program.options] : []),
    })
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .addHelpText('after', `\n${exitStatusHelp()}`)
  for (const { name, summary, group } of COMMANDS)
    program.command(name).helpGroup(group).description(summary).helpCommand(false)
  program.hook('preSubcommand', async (_, command) => {
    const entry = COMMANDS.find(({ name }) => name === command.name())
    const define = await entry?.load()
    define?.(command, terminal)
  })
  return { program, terminal }
}

/**
 * Parses the arguments and runs their command.
 * @throws LeadsheetError usage_invalid, and whatever the command throws
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<void> {
  const [first, ...rest] = args
  try {
    await program.parseAsync(first === 'help' ? [...rest, '--help'] : args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw usageError(error, program, args)
  }
}

/** An option that would hold a secret; there is none, for whatever stands there is shown to all by the system. */
const SECRET_OPTION = /^--[a-z-]*(?:key|token|password|secret)(?==|$)/i

function usageError(error: CommanderError, program: Command, args: readonly string[]): LeadsheetError {
  const [secretOption] = args.flatMap((arg) => SECRET_OPTION.exec(arg) ?? [])
  if (error.code === 'commander.unknownOption' && secretOption !== undefined) {
    const text = `${secretOption}: no secret is taken from the command line, which every user of this machine can read`
    return new LeadsheetError('usage_invalid', text, {
      hint: 'Name a file that holds it, such as by LEADSHEET_API_KEY_FILE, and take another one: this one has been shown.',
    })
  }
  const [, message = error.message, suggestion] =
    /^(?:error: )?(.*?)(?:\n\((.*)\))?$/s.exec(error.message) ?? []
  const text = error.code === 'commander.help' ? 'a command is missing' : message
  const hint = suggestion ?? `\`${calledCommand(program, args)} --help\` shows what there is.`
  return new LeadsheetError('usage_invalid', text, { hint, cause: error })
}

/** As much of the arguments as names a command: `leadsheet leads list`. */
function calledCommand(program: Command, args: readonly string[]): string {
  let command = program
  const words = [program.name()]
  for (const word of args) {
    const inner = command.commands.find((each) => each.name() === word)
    if (inner === undefined) continue
    command = inner
    words.push(word)
  }
  return words.join(' ')
}

function exitStatusHelp(): string {
  const lines = Object.values(EXIT_STATUS).map(
    ({ status, meaning }) => `  ${String(status).padStart(3)}  ${meaning}`,
  )
  return ['Exit status:', ...lines].join('\n')
}
