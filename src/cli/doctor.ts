/** `leadsheet doctor`: whether everything that a sync and a report need is there, and what to do where it is not. */
import { resolveTxt } from 'node:dns/promises'
import { existsSync } from 'node:fs'
import { access, constants, mkdir } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { isWorldReadable } from '../config/settings-file.ts'
import { errorText } from '../errors.ts'
import { openTransport } from '../mail/transport.ts'
import { attempt, type Check, checkUpstream, fail, ok, warn } from '../source/checkup.ts'
import type { Store } from '../store/open.ts'
import { findLastWholeRun } from '../store/sync-run.ts'
import { addExamples } from './command.ts'
import { openData, pathsIn } from './installation.ts'
import { dkimOf } from './mail.ts'
import { checkNotices } from './notice-check.ts'
import { tryReports } from './report-trial.ts'
import { scheduleWarnings } from './schedule-warnings.ts'
import { checkSignature } from './signature-check.ts'
import { checkSnapshot, checkStore } from './store-check.ts'
import { formatInstant } from './table.ts'
import type { Terminal } from './terminal.ts'
import { profileOf, withSource } from './upstream.ts'
import { checkWayOut } from './way-out-check.ts'

/** A copy that is older than this is worth a look. */
const FRESH_HOURS = 26
const HOUR_MS = 3_600_000

const MARKS = { ok: 'green', warn: 'yellow', fail: 'red' } as const

interface Options {
  readonly whole?: boolean
}

export function defineDoctor(command: Command, terminal: Terminal): void {
  command
    .option('--whole', 'read a large database from one end to the other')
    .action((options: Options) => runDoctor(terminal, options))
  addExamples(command, [
    'doctor',
    'doctor --whole',
    'doctor --json | jq \'.checks[] | select(.verdict != "ok")\'',
  ])
}

async function runDoctor(terminal: Terminal, options: Options): Promise<void> {
  const checks: Check[] = []
  for await (const check of checkAll(terminal, options)) {
    checks.push(check)
    if (!terminal.json) printCheck(terminal, check)
  }
  const worst = (['fail', 'warn'] as const).find((verdict) =>
    checks.some((check) => check.verdict === verdict),
  )
  if (terminal.json) terminal.printJson({ verdict: worst ?? 'ok', checks })
  terminal.end(worst === 'fail' ? 'failed' : worst === 'warn' ? 'partly' : 'done')
}

async function* checkAll(terminal: Terminal, options: Options): AsyncGenerator<Check> {
  const settings = await attempt('settings', 'mend the settings', async () => {
    const { file, warnings } = await terminal.config()
    const found = file ?? 'from the environment alone'
    const [first] = warnings
    return first === undefined
      ? ok('settings', found)
      : warn('settings', first, 'see `leadsheet config check`')
  })
  yield settings
  if (settings.verdict === 'fail') return
  const config = await terminal.config()
  yield* checkData(config, options)
  const profile = await attempt('profile', 'mend the profile', async () =>
    ok('profile', `${profileOf(config).name}, ${config.api.profile?.origin ?? 'built in'}`),
  )
  yield profile
  if (profile.verdict === 'ok') yield* checkSource(terminal)
  yield checkSchedules(config)
  yield await attempt('reports', 'mend it; `leadsheet report NAME --watch` shows it', async () => {
    await tryReports(config, terminal.signal)
    const names = config.reports.map(({ name }) => name).join(', ')
    return ok('reports', names === '' ? 'none in the settings' : `${names}: templates and SQL are in order`)
  })
  yield await checkMail(terminal, config)
  const key = dkimOf(config.mail)
  if (key !== null) yield await checkSignature(key, resolveTxt)
  if (config.reports.length > 0) yield checkWayOut(config)
}

async function* checkData(config: Config, options: Options): AsyncGenerator<Check> {
  const folder = await checkFolder(config.dataDir)
  yield folder
  if (folder.verdict === 'fail') return
  const checks: Check[] = []
  const whole = await attempt('database', 'see the README on a damaged database', async () => {
    await using store = await openData(config)
    const age = await checkAge(store)
    const { snapshot } = pathsIn(config.dataDir)
    for await (const check of checkStore(store, { whole: options.whole === true, now: new Date() }))
      checks.push(check)
    for await (const check of checkSnapshot(store, snapshot)) checks.push(check)
    for await (const check of checkNotices(store.db, config)) checks.push(check)
    return age
  })
  yield whole
  yield* checks
}

async function checkAge(store: Store): Promise<Check> {
  const whole = await findLastWholeRun(store.db)
  if (whole === undefined) return warn('database', 'no sync has read all leads yet', 'run `leadsheet sync`')
  const hours = (Date.now() - Date.parse(whole.asOf)) / HOUR_MS
  const found = `data as of ${formatInstant(whole.asOf)}`
  return hours <= FRESH_HOURS
    ? ok('database', found)
    : warn(
        'database',
        `${found}, ${Math.round(hours)} hours ago`,
        'run `leadsheet sync`, or see why the daemon does not',
      )
}

async function checkFolder(dataDir: string): Promise<Check> {
  try {
    await mkdir(dataDir, { recursive: true })
    await access(dataDir, constants.W_OK)
    const { database } = pathsIn(dataDir)
    if (existsSync(database) && isWorldReadable(database)) {
      return warn(
        'data directory',
        `every user of this machine can read ${database}, with recipients and the key of their links`,
        `stop the daemon and run \`chmod 600 ${database}*\``,
      )
    }
    return ok('data directory', `${dataDir} can be written`)
  } catch (thrown) {
    return fail(
      'data directory',
      errorText(thrown),
      'set data_dir (LEADSHEET_DATA_DIR) to a folder that this user may write to',
    )
  }
}

/** As the checks come in, so that they can be seen while the upstream is slow. */
async function* checkSource(terminal: Terminal): AsyncGenerator<Check> {
  const checks: Check[] = []
  const whole = await attempt('upstream', 'set api.url and api.key', () =>
    withSource(terminal, async (source) => {
      for await (const check of checkUpstream(source, terminal.signal)) checks.push(check)
      return ok('upstream', `${source.usage.requests} requests`)
    }),
  )
  yield* checks
  if (whole.verdict !== 'ok') yield whole
}

function checkSchedules(config: Config): Check {
  const [first] = scheduleWarnings(config, new Date())
  return first === undefined
    ? ok('schedules', 'the clocks of their zones show each of their times once')
    : warn('schedules', first, 'see `leadsheet schedule`; another time of the day spares it')
}

/** As far as one can go without a letter. */
async function checkMail(terminal: Terminal, { mail, reports }: Config): Promise<Check> {
  if (mail.url === null) {
    return reports.length === 0
      ? ok('mail', 'no reports, no mail')
      : warn('mail', 'no mail server is set: reports cannot be sent', 'set mail.url (LEADSHEET_SMTP_URL)')
  }
  const url = mail.url.reveal()
  return attempt('mail', 'check mail.url (LEADSHEET_SMTP_URL)', async () => {
    await using transport = openTransport(url, { log: await terminal.log() })
    await transport.verify(terminal.signal)
    return ok('mail', `${transport.name} lets us in`)
  })
}

function printCheck(terminal: Terminal, { what, verdict, found, remedy }: Check): void {
  const mark = terminal.style(MARKS[verdict], verdict.padEnd(4))
  terminal.print(`${mark}  ${what.padEnd(14)}  ${found.replaceAll('\n', ' ')}`)
  if (remedy !== null) terminal.print(`${' '.repeat(22)}${terminal.style('dim', remedy)}`)
}
