/**
 * `leadsheet init`: writes the first settings from the answers to some questions, or from options, and then
 * tries them as `doctor` does.
 */
import { dirname, join, relative } from 'node:path'
import type { Command } from 'commander'
import { openKeysOf, proxyOf } from '../../app/configured-login.ts'
import { schedulesOf } from '../../app/configured-schedules.ts'
import { profileOf } from '../../app/configured-upstream.ts'
import type { CheckResult } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'
import { loadConfig, settingsPath } from '../../config/load.ts'
import { Secret } from '../../config/secrets.ts'
import { CALLED } from '../../errors.ts'
import { openLog } from '../../log.ts'
import { pipelineAdvice } from '../../probe/profile-text.ts'
import { BACKOFF } from '../../retry.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import { addExamples } from '../command.ts'
import { examine } from '../commands/operations/doctor.ts'
import { checkText } from '../exit-status.ts'
import { checkMailServer } from '../installation-checks.ts'
import { openPrompter, type Prompter } from '../terminal/prompter.ts'
import { fields, localTime, plainText } from '../terminal/table.ts'
import type { Result, Terminal } from '../terminal/terminal.ts'
import { type AnswerOptions, completeAnswers, QUESTIONS, readGiven, type TryAccess } from './answers.ts'
import { refuseTaken, writeFirstSettings } from './files.ts'
import { findProfile, withoutVariables } from './find-profile.ts'
import { NONE, oauthOf } from './login-answers.ts'
import type { TryMail } from './mail-answers.ts'

type Options = AnswerOptions & {
  readonly testAlert?: boolean
  readonly yes?: boolean
  /** The `--config` option of the program. */
  readonly config?: string
}

export function defineInit(command: Command, terminal: Terminal): void {
  for (const { flag, fileFlag, about } of Object.values(QUESTIONS)) {
    if (flag !== undefined) command.option(`${flag} <value>`, about)
    if (fileFlag !== undefined) command.option(`${fileFlag} <file>`, `file with the ${about}`)
  }
  command
    .option('--test-alert', 'send a test alert at the end')
    .option('--yes', 'ask no questions; use the options, and defaults for the others')
    .action(async () => terminal.show(await runInit(terminal, command.optsWithGlobals<Options>())))
  addExamples(command, [
    'init',
    'init --config /etc/leadsheet/leadsheet.yaml',
    'init --yes --api-url https://leads.example.com/api/v1 --key-file ./key --mail-url smtp://mail.example.com:587 --from reports@example.com --recipients ana@example.com',
  ])
}

async function runInit(terminal: Terminal, options: Options): Promise<Result> {
  const { signal } = terminal
  const file = settingsPath(options.config)
  const environment = loadConfig({ file: null })
  const given = readGiven(options, environment)
  refuseTaken(file, given)
  const log = await openLog({ level: 'silent', pretty: false, color: false, secrets: [] })
  const prompter = prompterOf(terminal, options)
  const now = new Date()
  prompter?.say(
    `About ten questions, and more for a login by OAuth; then ${shownPath(file)} is written, and all of it is tested.`,
    'Enter takes what stands in [brackets]. Until the file is written, Ctrl-C leaves no settings behind.',
  )
  // The tokens are kept where the sync looks for them.
  const dataDir =
    environment.sources.data_dir === undefined ? join(dirname(file), 'data') : environment.dataDir
  const access: TryAccess = ({ apiUrl, key, profile, login }) => {
    const api = { key: new Secret(key.value), keyCommand: null, secret: null, oauth: oauthOf('api', login) }
    const openKeys = () =>
      openKeysOf({ ...environment, dataDir, api }, log, { backoff: BACKOFF.upstreamWhileWaiting })
    return findProfile(
      { url: apiUrl.value, openKeys, isProbed: profile.value === '' },
      { log, signal, proxy: proxyOf(environment), say: (line) => prompter?.say(line) },
    )
  }
  const tryMail: TryMail = async ({ url, login, mailbox }) => {
    const from = environment.mail.from ?? mailbox
    const mail = { ...environment.mail, url: new Secret(url), oauth: oauthOf('mail', login), from }
    const checks = checkMailServer({ ...environment, dataDir, mail }, { log, signal })
    const failed = (await Array.fromAsync(checks)).find(({ status }) => status !== 'ok')
    if (failed) prompter?.say(plainText(`  ${failed.found}\n  ${withoutVariables(failed.remedy ?? '')}`))
    return failed === undefined
  }
  const answers = await completeAnswers(given, prompter, { access, mail: tryMail })
  const testAlert = options.testAlert ?? (await prompter?.confirm('Send a test alert at the end?')) ?? false
  const files = writeFirstSettings(file, answers, now)
  const config = loadConfig({ file })
  const checks: CheckResult[] = []
  const patient = { config: async () => config, log: async () => log, signal }
  for await (const check of examine(patient, { isNew: true, testAlert })) {
    checks.push(check)
    if (!terminal.json) terminal.print(checkText(terminal, check))
  }
  if (checks.some(({ status }) => status !== 'ok')) terminal.end('partly')
  const lost = checks.find(({ what, remedy }) => /^(login|list of leads)$/.test(what) && remedy !== null)
  const option = options.config === undefined ? '' : ` --config ${options.config}`
  // Without a profile, the service may be another one than the reference service.
  const next = nextCommands(config, option, now, lost !== undefined && config.api.profile === null)
  const { value: country, variable } = answers.holidays
  const isProposed = variable === null && country !== NONE
  return {
    data: { files, holidays: config.holidays, checks, next },
    text: [
      terminal.style('bold', 'Written'),
      fields(Object.fromEntries(files.map(({ path, what }) => [shownPath(path), what]))),
      ...(isProposed
        ? [`The days off are the public holidays of ${country}, the country of the time zone.`]
        : []),
      terminal.style('bold', 'Next'),
      ...(lost ? [`No leads were read. Correct this first: ${lost.remedy}`] : []),
      fields(Object.fromEntries(next.map(({ command, what }) => [command, what]))),
      pipelineText(config),
    ],
  }
}

/** Empty if the profile reads a pipeline. */
function pipelineText(config: Config): string {
  const { endpoints, mapping } = profileOf(config)
  const { url, profile } = config.api
  if (mapping.lead.pipeline_id !== undefined || url === null) return ''
  const [sentence, line] = pipelineAdvice(endpoints.leads, url)
  return `${sentence}\n  ${line}   # below mapping.lead in ${shownPath(profile?.origin ?? '')}`
}

/** Returns the prompter for the questions; null if nobody can be asked, or with `--yes` or `--json`. */
function prompterOf({ json, signal }: Terminal, { yes }: Options): Prompter | null {
  const { stdin: input, stderr: output } = process
  return !yes && !json && input.isTTY && output.isTTY ? openPrompter({ input, output }, signal) : null
}

/** Returns the path relative to the working directory. Outside this directory, returns the path unchanged. */
function shownPath(path: string): string {
  const fromHere = relative('', path)
  return fromHere.startsWith('..') ? path : fromHere
}

function nextCommands(config: Config, option: string, now: Date, mayProbe: boolean) {
  const [report] = schedulesOf(config).filter((schedule) => schedule.report !== null)
  const due = report && nextScheduledRun(report.timing, now)
  const when = report && due ? `; first report ${localTime(due, report.timing.timeZone)}` : ''
  const [reader = ''] = config.recipients
  const profile = shownPath(join(dirname(config.file ?? ''), 'profile.yaml'))
  const probing = 'finds out how the service works; then write profile: ./profile.yaml below api:'
  const rows = [
    ...(mayProbe ? [[`probe ${config.api.url} -o ${profile}`, probing] as const] : []),
    ['doctor', 'all of that tried again, once you have changed something'],
    ['sync', 'a first copy of the leads'],
    [`report preview ${report?.report?.name} --to ${reader}`, 'the report as a mail, to nobody else'],
    ['run', `the daemon${when}`],
  ] as const
  return rows.map(([command, what]) => ({ command: `${CALLED} ${command}${option}`, what }))
}
