/**
 * `leadsheet init`: writes the first settings from the answers to five questions, or from options. All
 * answers are tried once before anything is written, and a test mail may follow.
 */
import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import type { Command } from 'commander'
import { schedulesOf, scheduleWarnings } from '../../app/configured-schedules.ts'
import { proxyOf } from '../../app/configured-upstream.ts'
import type { Config } from '../../config/config.ts'
import { loadConfig, settingsPath } from '../../config/load.ts'
import { CALLED, errorText, faultText, LeadsheetError } from '../../errors.ts'
import { openLog } from '../../log.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import { addExamples } from '../command.ts'
import { checkText } from '../exit-status.ts'
import type { Prompter } from '../terminal/prompter.ts'
import { openPrompter } from '../terminal/prompter.ts'
import { localTime } from '../terminal/table.ts'
import type { Result, Terminal } from '../terminal/terminal.ts'
import type { AnswerOptions, Answers } from './answers.ts'
import { completeAnswers, listIn, readGiven } from './answers.ts'
import { refuseTaken, writeFirstSettings } from './files.ts'
import type { TrialDeps } from './trials.ts'
import { sendTestMail, tryAnswers } from './trials.ts'

type Options = AnswerOptions & {
  readonly testMail?: string
  readonly yes?: boolean
  readonly force?: boolean
  /** The `--config` option of the program. */
  readonly config?: string
}

export function defineInit(command: Command, terminal: Terminal): void {
  command
    .option('--api-url <url>', 'address of the service to read leads from')
    .option('--key-file <file>', 'file with the API key of the service')
    .option('--profile <file>', 'profile of the service (default: the reference service)')
    .option(
      '--smtp-url <url>',
      'mail server (smtp://host:587, no password), or folder for .eml files (file:./outbox)',
    )
    .option('--smtp-url-file <file>', 'file with the address of the mail server and its password')
    .option('--from <sender>', 'sender address of the reports')
    .option('--recipients <addresses>', 'recipients of the report, separated by commas')
    .option('--alert-recipients <addresses>', 'recipients of alerts, or none (default: the first recipient)')
    .option('--time-zone <zone>', "time zone of the report and its schedule (default: this machine's)")
    .option('--schedule <when>', 'when the report is sent (default: every weekday at 07:00)')
    .option('--listen <address>', 'address and port of the dashboard, or none (default: 127.0.0.1:8080)')
    .option('--test-mail <address>', 'send a test mail to this address')
    .option('--yes', 'ask no questions; use the options, and defaults for the others')
    .option('-f, --force', 'rename existing settings to .bak and write new ones')
    .action(async () => terminal.show(await runInit(terminal, command.optsWithGlobals<Options>())))
  addExamples(command, [
    'init',
    'init --config /etc/leadsheet/leadsheet.yaml',
    'init --yes --api-url https://leads.example.com/api/v1 --key-file ./key --smtp-url smtp://mail.example.com:587 --from reports@example.com --recipients ana@example.com',
  ])
}

async function runInit(terminal: Terminal, options: Options): Promise<Result> {
  const file = settingsPath(options.config)
  await refuseUnwritable(file)
  const environment = loadConfig({ file: null })
  const given = readGiven(options, environment)
  if (!options.force) refuseTaken(file, given)
  const log = await openLog({ level: 'silent', pretty: false, color: false, secrets: [] })
  const trial: TrialDeps = { log, signal: terminal.signal, proxy: proxyOf(environment) }
  const prompter = prompterOf(terminal, options)
  const now = new Date()
  const { answers, tried, testMailTo } = await untilWritten(terminal, async () => {
    prompter?.say(
      `Five questions, and ${shownPath(file)} is written; until then Ctrl-C leaves nothing behind.`,
      'Enter takes what stands in [brackets].',
    )
    const answers = await completeAnswers(given, prompter, now)
    const testMailTo = options.testMail ?? (await askTestMail(prompter, answers))
    prompter?.say('', 'Trying the answers …')
    const tried = await tryAnswers(answers, prompter?.say ?? null, trial)
    return { answers: { ...answers, profile: tried.profile }, tried, testMailTo }
  })
  const written = writeFirstSettings(file, answers, tried.probed, now)
  const sent = testMailTo === null ? [] : [await sendTestMail(written.config, testMailTo, trial)]
  const checks = [...tried.checks, ...sent]
  const warnings = [...written.config.warnings, ...scheduleWarnings(written.config, now)]
  if (warnings.length > 0 || checks.some(({ status }) => status !== 'ok')) terminal.end('partly')
  const option = options.config === undefined ? '' : ` --config ${options.config}`
  const again = checks.some(({ status }) => status === 'fail')
    ? [{ command: `${CALLED} doctor${option}`, what: 'what failed above, tried again' }]
    : []
  const next = [...again, ...nextCommands(written.config, option, now)]
  const list = (title: string, rows: readonly (readonly [string, string])[]) =>
    [terminal.style('bold', title), ...columns(rows)].join('\n')
  return {
    data: { files: written.files, checks, warnings, next },
    text: [
      checks.map((check) => checkText(terminal, check)).join('\n'),
      list(
        'Written',
        written.files.map(({ path, what }) => [shownPath(path), what]),
      ),
      list(
        'Next',
        next.map(({ command, what }) => [command, what]),
      ),
    ],
    notes: warnings.map((warning) => `warning: ${warning}`),
  }
}

/** Asks whether to send a test mail, and returns its address; null if none is wanted. */
async function askTestMail(
  prompter: Prompter | null,
  { alertRecipients, recipients }: Answers,
): Promise<string | null> {
  const [to = null] = [...listIn(alertRecipients), ...listIn(recipients)]
  prompter?.say('')
  return to !== null && (await prompter?.confirm(`Send a test mail to ${to}?`)) ? to : null
}

/** Returns the prompter for the questions; null if nobody can be asked, or with `--yes` or `--json`. */
function prompterOf({ json, signal }: Terminal, { yes }: Options): Prompter | null {
  const { stdin: input, stderr: output } = process
  return !yes && !json && input.isTTY && output.isTTY ? openPrompter({ input, output }, signal) : null
}

/** Runs the work, and tells a user who interrupts it that nothing was written. */
async function untilWritten<T>({ signal }: Terminal, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const isStopped = thrown instanceof LeadsheetError && thrown.code === 'run_interrupted'
    if (!signal.aborted && !isStopped) throw thrown
    throw new LeadsheetError('run_interrupted', errorText(signal.aborted ? signal.reason : thrown), {
      hint: 'Nothing was written.',
      cause: thrown,
    })
  }
}

async function refuseUnwritable(file: string): Promise<void> {
  let folder = dirname(file)
  while (!existsSync(folder)) folder = dirname(folder)
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw new LeadsheetError('data_unwritable', `${folder} cannot be written: ${faultText(cause)}`, {
      hint: 'Name a file in a folder that this user may write to with --config.',
      cause,
    })
  })
}

/** Returns the path relative to the working directory. Outside this directory, returns the path unchanged. */
function shownPath(path: string): string {
  const fromHere = relative('', path)
  return fromHere.startsWith('..') ? path : fromHere
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length)) + 2
  return rows.map(([first, second]) => `  ${first.padEnd(width)}${second}`)
}

function nextCommands(config: Config, option: string, now: Date) {
  const [report] = schedulesOf(config).filter((schedule) => schedule.report !== null)
  const due = report && nextScheduledRun(report.timing, now)
  const when = report && due ? `; first report ${localTime(due, report.timing.timeZone)}` : ''
  const [reader = ''] = config.recipients
  return [
    { command: `${CALLED} sync${option}`, what: 'a first copy of the leads' },
    {
      command: `${CALLED} report preview ${report?.report?.name} --to ${reader}${option}`,
      what: 'the report as a mail, to nobody else',
    },
    { command: `${CALLED} run${option}`, what: `the daemon${when}` },
  ]
}
